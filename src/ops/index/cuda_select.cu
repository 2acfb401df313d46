// topk, kthvalue, median, nanmedian on the device without sorting. A line is the vector of elements along the
// dimension. In short lines all pairs of elements are compared. Longer lines use a radix select, digit by
// digit from the top of the keys. The host never waits for the device.
#include <ebb/core/visit.h>

#include "kernel/reduce_plan.h"
#include "ops/common/kernels.h"
#include "ops/index/cuda_select.h"
#include "ops/index/sort_kernels.h"

namespace ebb::cuda {
namespace {

using sort_keys::SelectMethod;
using sort_keys::SelectPlan;

/// Uses `team` threads for each line, where `team` is a power of 2. The rank of a thread's element is the
/// number of elements that precede it.
template <class T>
__global__ void __launch_bounds__(kSelectThreads)
    compare_lines_kernel(const __grid_constant__ SelectArgs<T> args, std::int64_t lines, int team,
                         std::int64_t* indices, T* values, const __grid_constant__ Lines to) {
  using Key = sort_keys::Key<T>;
  __shared__ Key keys[kSelectThreads];
  const int thread = static_cast<int>(threadIdx.x), place = thread % team, first = thread - place;
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * (kSelectThreads / team) + thread / team;
  const int n = static_cast<int>(args.n);
  const bool inside = line < lines && place < n;
  T value{};
  if (inside) value = args.x[line * n + place];
  const Key key = args.key(value);
  keys[thread] = key;
  __syncthreads();
  if (!inside) return;
  constexpr Key kNan = static_cast<Key>(~Key{0});
  int rank = 0, nans = 0;
  for (int i = 0; i < n; ++i) {
    const Key other = keys[first + i];
    rank += other < key || (other == key && i < place);
    if constexpr (!std::is_integral_v<T>) nans += other == kNan;
  }
  const std::int64_t last = args.wanted.rank(n, nans);
  if (args.wanted.first_k ? rank > last : rank != last) return;
  const std::int64_t at = args.wanted.first_k ? to.start(line) + rank * to.inner : line;
  values[at] = value;
  indices[at] = place;
}

/// Selects with one block for each line.
template <class T>
__global__ void __launch_bounds__(kSelectThreads)
    select_lines_kernel(const __grid_constant__ SelectArgs<T> args) {
  __shared__ SelectShared shared;
  const std::int64_t number = blockIdx.x;
  const T* const line = args.x + number * args.n;
  DigitPrefix found{};
  for (int digit = 0; digit < sort_keys::digit_count<T>(); ++digit) {
    count_digits(shared, args, line, 0, args.n, digit, found.digits);
    if (digit == 0) found.rank = args.wanted.rank(args.n, shared.nans);
    found = narrow(shared, shared.bins[threadIdx.x], found.digits, found.rank);
  }
  take_selected(shared, args, number, 0, args.n, found, RankCounts{});
}

// Scratch memory of the radix selection.
struct SelectScratch {
  using Count = unsigned long long;  // the type that atomicAdd takes
  static constexpr int kCounts = kSelectBins + 1;
  Count* counts;       // [line, digit, kCounts]: the bins, then the NaNs
  DigitPrefix* found;  // [line, digit]: the prefix after each digit
  RankCounts* parted;  // [line, piece]: elements before and equal to the selected one
};

/// Uses one block for each piece of a line. Step s < kDigitCount counts the bins of digit s. Step kDigitCount
/// counts, in each piece, the elements before and equal to the selected one. The last step writes the
/// results. Each block derives the selected digit from the counts of the previous step.
template <class T>
__global__ void __launch_bounds__(kSelectThreads)
    select_pieces_kernel(const __grid_constant__ SelectArgs<T> args,
                         const __grid_constant__ SelectScratch scratch,
                         const __grid_constant__ SelectPlan plan, int step) {
  constexpr int kDigitCount = sort_keys::digit_count<T>();
  __shared__ SelectShared shared;
  __shared__ RankCounts sums[kWarp];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t number = blockIdx.x / plan.pieces, piece = blockIdx.x - number * plan.pieces;
  const std::int64_t begin = piece * plan.piece,
                     end = begin + plan.piece < args.n ? begin + plan.piece : args.n;
  const T* const line = args.x + number * args.n;
  DigitPrefix* const known = scratch.found + number * kDigitCount;
  const auto counts_of = [&](int digit) {
    return scratch.counts + (number * kDigitCount + digit) * SelectScratch::kCounts;
  };
  DigitPrefix found{};
  if (step > kDigitCount) {
    found = known[kDigitCount - 1];
  } else if (step > 0) {
    const SelectScratch::Count* const counts = counts_of(step - 1);
    if (step == 1)
      found.rank = args.wanted.rank(args.n, static_cast<std::int64_t>(counts[kSelectBins]));
    else
      found = known[step - 2];
    found = narrow(shared, static_cast<std::int64_t>(counts[thread]), found.digits, found.rank);
    if (piece == 0 && thread == 0) known[step - 1] = found;
  }
  const auto sum_of = [](RankCounts a, RankCounts b) {
    return RankCounts{a.before + b.before, a.equal + b.equal};
  };
  if (step < kDigitCount) {
    count_digits(shared, args, line, begin, end, step, found.digits);
    SelectScratch::Count* const counts = counts_of(step);
    if (shared.bins[thread] > 0) atomicAdd(counts + thread, SelectScratch::Count{shared.bins[thread]});
    if (thread == 0 && shared.nans > 0) atomicAdd(counts + kSelectBins, SelectScratch::Count{shared.nans});
  } else if (step == kDigitCount) {
    constexpr int shift = sort_keys::digit_shift<T>(kDigitCount - 1);
    RankCounts own{};
    for (std::int64_t i = begin + thread; i < end; i += kSelectThreads) {
      const auto key = static_cast<sort_keys::Key<T>>(args.key(line[i]) >> shift);
      own.before += key < static_cast<sort_keys::Key<T>>(found.digits);
      own.equal += key == static_cast<sort_keys::Key<T>>(found.digits);
    }
    own = block_reduce(own, sums, sum_of, thread, kSelectThreads);
    if (thread == 0) scratch.parted[number * plan.pieces + piece] = own;
  } else {
    RankCounts passed{};
    for (std::int64_t p = thread; p < piece; p += kSelectThreads)
      passed = sum_of(passed, scratch.parted[number * plan.pieces + p]);
    passed = block_reduce(passed, sums, sum_of, thread, kSelectThreads);
    take_selected(shared, args, number, begin, end, found, passed);
  }
}

template <class T>
void select_by_pieces(Device device, const SelectArgs<T>& args, std::int64_t lines, const SelectPlan& plan) {
  constexpr int kDigitCount = sort_keys::digit_count<T>();
  const auto words = [](std::int64_t count, std::size_t bytes) {
    return count * static_cast<std::int64_t>(bytes / sizeof(std::int64_t));
  };
  NdArray counts = NdArray::empty({lines * kDigitCount * SelectScratch::kCounts}, kLong, device);
  const NdArray found = NdArray::empty({words(lines * kDigitCount, sizeof(DigitPrefix))}, kLong, device);
  const NdArray parted = NdArray::empty({words(lines * plan.pieces, sizeof(RankCounts))}, kLong, device);
  fill(counts, 0);
  const SelectScratch scratch{reinterpret_cast<SelectScratch::Count*>(counts.address_as<std::int64_t>()),
                              reinterpret_cast<DigitPrefix*>(found.address_as<std::int64_t>()),
                              reinterpret_cast<RankCounts*>(parted.address_as<std::int64_t>())};
  for (int step = 0; step <= kDigitCount + 1; ++step)
    launch(device, {dim3(grid_blocks(lines * plan.pieces)), dim3(kSelectThreads)}, &select_pieces_kernel<T>,
           args, scratch, plan, step);
}

// Returns the elements of x with each line contiguous. It copies only if the lines interleave in memory
// (inner > 1).
NdArray contiguous_lines(const NdArray& x, const Lines& lines) {
  const std::int64_t outer = lines.outer, inner = lines.inner, n = lines.n;
  const NdArray view = x.as_strided({outer, inner, n}, {n * inner, 1, inner}, x.offset());
  if (inner == 1) return view;
  NdArray dense = NdArray::empty({outer, inner, n}, x.dtype(), x.device());
  copy(dense, view);
  return dense;
}

template <class T>
void run(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, const Wanted& wanted,
         bool descending, const SelectPlan& plan) {
  const Device device = x.device();
  const Lines lines(x.sizes(), dim);
  const std::int64_t count = lines.count();
  const NdArray from = contiguous_lines(x, lines);
  SelectArgs<T> args{from.address_as<T>(),
                     lines.n,
                     wanted,
                     sort_keys::key_flip<T>(descending),
                     values.address_as<T>(),
                     indices.address_as<std::int64_t>(),
                     Items{}};
  const Lines to = wanted.first_k ? Lines(values.sizes(), dim) : Lines({count}, 0);
  if (plan.way == SelectMethod::compare) {
    const int team = covering_power(lines.n, 1, kSelectThreads);
    return launch(device, {dim3(grid_blocks(ceil_div(count, kSelectThreads / team))), dim3(kSelectThreads)},
                  &compare_lines_kernel<T>, args, count, team, args.indices, args.values, to);
  }
  const auto select = [&] {
    if (plan.way == SelectMethod::pieces) return select_by_pieces(device, args, count, plan);
    launch(device, {dim3(grid_blocks(count)), dim3(kSelectThreads)}, &select_lines_kernel<T>, args);
  };
  if (!wanted.first_k) return select();
  with_items<T>(device, count, wanted.k, lines.n, [&](const Items& items) {
    args.items = items;
    select();
    sort_items<T>(device, items, count);
    for_each(device, values.numel(),
             WriteItems<T>{items, args.values, args.indices, args.x, Lines({count, lines.n}, 1), to});
  });
}

}  // namespace

bool select_ranks(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, const Wanted& wanted,
                  bool descending) {
  const Lines lines(x.sizes(), dim);
  const SelectPlan plan = sort_keys::plan_selection(lines.count(), lines.n, wanted.first_k ? wanted.k : 1,
                                                    multiprocessors(x.device()));
  if (plan.way == SelectMethod::sort) return false;
  visit_numeric(stored(x.dtype()), "select",
                [&]<class T> { run<T>(values, indices, x, dim, wanted, descending, plan); });
  return true;
}

}  // namespace ebb::cuda
