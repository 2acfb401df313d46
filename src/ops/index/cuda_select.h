// Sort items and radix select.
//
// Sort items are the keys and indices of the elements of lines. A 32-bit key is packed with its index into
// one word; wider keys store the index in a separate array.
//
// Radix select finds elements of given ranks without sorting the lines. The order is that of the keys; equal
// keys are ordered by index. The functions here are the steps of one block of kSelectThreads threads on a
// part of a line.
#pragma once

#include "kernel/convert.h"
#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/sort.h"
#include "kernel/cuda/walk.h"
#include "kernel/lines.h"
#include "ops/index/select_plan.h"
#include "ops/index/sort_kernels.h"

namespace ebb::cuda {

/// Items of several lines, n for each line.
struct Items {
  std::uint64_t* keys;
  std::int64_t* places;  // null if packed into the keys
  std::int64_t n;
  __device__ std::int64_t place(std::int64_t i) const {
    return places ? places[i] : static_cast<std::int64_t>(keys[i] & 0xffffffffu);
  }
  __device__ std::uint64_t key(std::int64_t i) const { return places ? keys[i] : keys[i] >> 32; }
  template <class K>
  __device__ void put(std::int64_t i, K key, std::int64_t place) const {
    if (places) {
      keys[i] = key;
      places[i] = place;
    } else {
      keys[i] = sort_keys::Packed::make(key, place).bits;
    }
  }
};

/// Calls body(items) with memory for n items of T for each of `lines` lines. `length` is the length of the
/// original lines and therefore bounds the indices.
template <class T, class Body>
void with_items(Device device, std::int64_t lines, std::int64_t n, std::int64_t length, const Body& body) {
  const bool packed = sizeof(sort_keys::Key<T>) == 4 && length <= std::int64_t{UINT32_MAX};
  const NdArray scratch = NdArray::empty({packed ? 1 : 2, lines * n}, kLong, device);
  body(Items{scratch.address_as<std::uint64_t>(),
             packed ? nullptr : scratch.address_as<std::int64_t>() + lines * n, n});
}

/// Sorts the items of each line. The sort is stable if the items are ordered by index.
template <class T>
void sort_items(Device device, const Items& items, std::int64_t lines) {
  constexpr KeyBits bits = sort_keys::key_bits<T>();
  if (items.places)
    sort_pairs(device, items.keys, items.places, lines, items.n);
  else
    sort_keys(device, items.keys, lines, items.n, {32 + bits.from, 32 + bits.to});
}

/// Writes the values and indices of the first `to.n` items of each line.
template <class T>
struct WriteItems {
  Items items;
  T* values;
  std::int64_t* indices;
  const T* x;
  Lines from, to;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t line = i / to.n, rank = i - line * to.n;
    const std::int64_t place = items.place(line * items.n + rank), at = to.start(line) + rank * to.inner;
    values[at] = x[from.start(line) + place * from.inner];
    indices[at] = place;
  }
};

using sort_keys::kSelectThreads;
constexpr int kSelectItems = 4;  // elements that a thread loads in one step
constexpr int kSelectBins = 1 << sort_keys::kDigitBits;
static_assert(kSelectBins == kSelectThreads);

/// The selection from each line: the element of one rank, or the first k elements.
struct Wanted {
  Selection what = Selection::kth;
  std::int64_t k = 0;  // the rank, or the number of elements
  bool first_k = false;

  EBB_HD bool wants_nans() const { return what == Selection::median || what == Selection::nanmedian; }
  /// Returns the last selected rank in a line of n elements, of which `nans` are NaN. NaNs have the last
  /// ranks.
  EBB_HD std::int64_t rank(std::int64_t n, std::int64_t nans) const {
    if (!wants_nans()) return first_k ? k - 1 : k;
    const std::int64_t numbers = n - nans;
    if (nans > 0 && (what == Selection::median || numbers == 0)) return numbers;
    return (numbers - 1) / 2;
  }
};

template <class T>
__device__ bool element_is_nan(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return static_cast<Compute<T>>(x) != static_cast<Compute<T>>(x);
}

/// The state of a radix select after some digits: these digits of the selected element, and the rank of this
/// element among the elements with the same digits.
struct DigitPrefix {
  std::uint64_t digits;
  std::int64_t rank;
};

/// The contiguous lines, and the destinations of the results.
template <class T>
struct SelectArgs {
  using Key = sort_keys::Key<T>;
  const T* x;
  std::int64_t n;  // elements of a line
  Wanted wanted;
  Key turn;               // sort_keys::key_flip
  T* values;              // one element for each line, unless first_k
  std::int64_t* indices;  // one element for each line, unless first_k
  Items items;            // if first_k: elements before the last selected key, then elements equal to it

  __device__ Key key(T x) const { return sort_keys::key_of(x) ^ turn; }
  __device__ void put(std::int64_t line, std::int64_t slot, Key key, std::int64_t place) const {
    if (wanted.first_k) return items.put(line * wanted.k + slot, key, place);
    values[line] = x[line * n + place];
    indices[line] = place;
  }
};

/// The shared memory of a block.
struct SelectShared {
  std::uint32_t bins[kSelectBins];
  std::uint32_t nans;
  std::uint32_t warps[kWarp];
  std::uint32_t tile;
  std::int64_t sums[kSelectThreads / kWarp];
  DigitPrefix found;
};

/// For the elements of line[begin, end) whose previous digits are `before`, counts how often each value of
/// digit number `digit` occurs. For digit 0 it also counts NaNs if the selection needs their number. The
/// counts are valid after a barrier.
template <class T>
__device__ void count_digits(SelectShared& shared, const SelectArgs<T>& args, const T* line,
                             std::int64_t begin, std::int64_t end, int digit, std::uint64_t before) {
  using Key = sort_keys::Key<T>;
  const int thread = static_cast<int>(threadIdx.x), shift = sort_keys::digit_shift<T>(digit);
  shared.bins[thread] = 0;
  if (thread == 0) shared.nans = 0;
  __syncthreads();
  std::uint32_t nans = 0;
  const bool looks_for_nans = digit == 0 && args.wanted.wants_nans();
  constexpr std::int64_t kTile = kSelectThreads * kSelectItems;
  for (std::int64_t tile = begin; tile < end; tile += kTile) {
    T value[kSelectItems];
#pragma unroll
    for (int k = 0; k < kSelectItems; ++k) {
      const std::int64_t i = tile + k * kSelectThreads + thread;
      value[k] = line[i < end ? i : end - 1];
    }
#pragma unroll
    for (int k = 0; k < kSelectItems; ++k) {
      const Key key = static_cast<Key>(args.key(value[k]) >> shift);
      if (tile + k * kSelectThreads + thread >= end) continue;
      if (key >> sort_keys::kDigitBits == static_cast<Key>(before))
        atomicAdd(&shared.bins[key % kSelectBins], 1u);
      if (looks_for_nans && element_is_nan(value[k])) ++nans;
    }
  }
  if (nans > 0) atomicAdd(&shared.nans, nans);
  __syncthreads();
}

/// Returns `digits` followed by the next digit of the selected element, whose rank among the elements with
/// these digits is `rank`. Each thread t of the block passes in `count` the number of these elements whose
/// next digit is t.
__device__ inline DigitPrefix narrow(SelectShared& shared, std::int64_t count, std::uint64_t digits,
                                     std::int64_t rank) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  std::int64_t upto = count;
  for (int delta = 1; delta < kWarp; delta *= 2) {
    const std::int64_t left = shuffle_up(upto, static_cast<unsigned>(delta));
    if (lane >= delta) upto += left;
  }
  if (lane == kWarp - 1) shared.sums[warp] = upto;
  __syncthreads();
  std::int64_t below = upto - count;
  for (int w = 0; w < warp; ++w) below += shared.sums[w];
  if (rank >= below && rank < below + count)
    shared.found = {digits << sort_keys::kDigitBits | static_cast<std::uint64_t>(thread), rank - below};
  __syncthreads();
  return shared.found;
}

/// The numbers of elements whose digits are less than, and equal to, the digits of the selected element.
struct RankCounts {
  std::int64_t before, equal;
};

/// Writes the selected elements of [begin, end). `passed` contains the counts of the elements before `begin`.
template <class T>
__device__ void take_selected(SelectShared& shared, const SelectArgs<T>& args, std::int64_t number,
                              std::int64_t begin, std::int64_t end, const DigitPrefix& found,
                              RankCounts passed) {
  using Key = sort_keys::Key<T>;
  constexpr int kWarps = kSelectThreads / kWarp;
  static_assert(kWarps * kSelectItems == kWarp);
  constexpr int shift = sort_keys::digit_shift<T>(sort_keys::digit_count<T>() - 1);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const std::uint32_t lanes_left = (1u << lane) - 1;
  const T* const line = args.x + number * args.n;
  const bool first_k = args.wanted.first_k;
  // With first_k, takes all elements whose digits are smaller than found.digits, and the first found.rank + 1
  // elements with equal digits. Otherwise takes only element number found.rank (from 0) of those with equal
  // digits.
  const std::int64_t all_before = first_k ? args.wanted.k - 1 - found.rank : 0;
  for (std::int64_t tile = begin; tile < end; tile += kSelectThreads * kSelectItems) {
    if (passed.before >= all_before && passed.equal > found.rank) return;
    T value[kSelectItems];
    std::uint32_t before[kSelectItems], equal[kSelectItems];
#pragma unroll
    for (int k = 0; k < kSelectItems; ++k) {
      const std::int64_t i = tile + k * kSelectThreads + thread;
      value[k] = line[i < end ? i : end - 1];
    }
#pragma unroll
    for (int k = 0; k < kSelectItems; ++k) {
      const Key key = static_cast<Key>(args.key(value[k]) >> shift), wanted = static_cast<Key>(found.digits);
      const bool inside = tile + k * kSelectThreads + thread < end;
      before[k] = __ballot_sync(kFullWarp, inside && first_k && key < wanted);
      equal[k] = __ballot_sync(kFullWarp, inside && key == wanted);
      if (lane == 0)
        shared.warps[k * kWarps + warp] = static_cast<std::uint32_t>(__popc(before[k])) << 16 |
                                          static_cast<std::uint32_t>(__popc(equal[k]));
    }
    __syncthreads();
    if (warp == 0) {  // both counts, at most 1024 each, in one word
      const std::uint32_t own = shared.warps[lane];
      std::uint32_t upto = own;
      for (int delta = 1; delta < kWarp; delta *= 2) {
        const std::uint32_t left = shuffle_up(upto, static_cast<unsigned>(delta));
        if (lane >= delta) upto += left;
      }
      shared.warps[lane] = upto - own;
      if (lane == kWarp - 1) shared.tile = upto;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSelectItems; ++k) {
      const std::uint32_t left = shared.warps[k * kWarps + warp], bit = 1u << lane;
      const std::int64_t place = tile + k * kSelectThreads + thread;
      if (before[k] & bit)
        args.put(number, passed.before + (left >> 16) + __popc(before[k] & lanes_left), args.key(value[k]),
                 place);
      if (equal[k] & bit) {
        const std::int64_t rank = passed.equal + (left & 0xffffu) + __popc(equal[k] & lanes_left);
        if (first_k ? rank <= found.rank : rank == found.rank)
          args.put(number, all_before + rank, args.key(value[k]), place);
      }
    }
    passed.before += shared.tile >> 16;
    passed.equal += shared.tile & 0xffffu;
    __syncthreads();
  }
}

/// Writes the selected elements of x's lines along `dim` to values and indices, the first k in order. Returns
/// false and does nothing if sorting the lines is faster, which is never the case for a single rank.
bool select_ranks(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, const Wanted& wanted,
                  bool descending);

}  // namespace ebb::cuda
