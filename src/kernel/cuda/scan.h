// Scans along lines (kernel/lines.h). If lines are contiguous, a block scans each line, tile by tile with a
// carry. If lines are interleaved, a thread scans each line. If there are too few lines to fill the device,
// they are divided into chunks. The chunks' totals are computed and scanned first. Each chunk is then
// scanned, starting with the total of the previous chunks. The order of the merges depends only on the shape
// and the arrays' alignment.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/lines.h"
#include "kernel/scan_steps.h"

namespace ebb::cuda {

/// A scan functor from an array of Element to another array of the same shape, element by element. It has
/// `x`, `out`, `order`, and the conversions Acc of(Element) and Element element(Acc).
template <class Op>
concept VectorScan = requires { typename Op::Element; };

template <class Op>
constexpr int kItemsOf = kScanItems;
template <VectorScan Op>
constexpr int kItemsOf<Op> = sizeof(typename Op::Element) == 8 ? 4 : 8;

/// The adjacent elements of a contiguous line that one thread of a scan holds. They are loaded one by one, or
/// as vectors. fetch() issues the loads and take() returns the values, so that the loads of the next tile are
/// in flight while a tile is scanned.
template <class Op>
class ScanItems {
  using Acc = typename Op::Acc;
  static constexpr int kItems = kItemsOf<Op>;
  std::int64_t start_, begin_, end_, first_ = 0;

 public:
  __device__ ScanItems(const Op&, std::int64_t start, std::int64_t begin, std::int64_t end)
      : start_(start), begin_(begin), end_(end) {}
  /// Returns the number of positions by which the tiles of a line begin before its first element.
  __device__ static int pad(const Op&, std::int64_t) { return 0; }
  __device__ void fetch(const Op&, std::int64_t first) { first_ = first; }
  /// Positions beyond the end repeat the last element. Their results are neither stored nor merged.
  __device__ void take(const Op& op, Acc (&value)[kItems]) const {
#pragma unroll
    for (int k = 0; k < kItems; ++k) value[k] = op.load(start_, first_ + k < end_ ? first_ + k : end_ - 1);
  }
  __device__ void put(const Op& op, std::int64_t first, const Acc (&value)[kItems]) const {
#pragma unroll
    for (int k = 0; k < kItems; ++k)
      if (first + k < end_) op.store(start_, first + k, value[k]);
  }
};

/// This version loads aligned vectors. The first tile may therefore begin before the line. The positions
/// before the line repeat the line's first element and are not merged. Partial vectors are processed element
/// by element. If x and out have different misalignment, all elements are processed one by one.
template <VectorScan Op>
class ScanItems<Op> {
  using Acc = typename Op::Acc;
  using E = typename Op::Element;
  static constexpr int kItems = kItemsOf<Op>;
  static constexpr int W = kVectorWidth<E> < kItems ? kVectorWidth<E> : kItems;
  static constexpr int kUnits = kItems / W;
  Packed<E, W> units_[kUnits];
  std::int64_t start_, begin_, end_;
  bool vectors_;

  __device__ static bool alike(const Op& op) {
    const auto from = reinterpret_cast<std::uintptr_t>(op.x), to = reinterpret_cast<std::uintptr_t>(op.out);
    return (from - to) % sizeof(Packed<E, W>) == 0;
  }
  __device__ bool whole(std::int64_t place) const { return vectors_ && place >= begin_ && place + W <= end_; }
  /// Returns `backward` in a reverse scan, otherwise `forward`. Takes them by value, because a reference to
  /// one of two arrays would keep the arrays out of registers.
  template <class T>
  __device__ static T either(const Op& op, T backward, T forward) {
    return op.order.reverse ? backward : forward;
  }
  /// Returns the offset of the vector that begins at position `place`.
  __device__ std::int64_t at(const Op& op, std::int64_t place) const {
    return op.order.at(start_, op.order.reverse ? place + W - 1 : place);
  }

 public:
  __device__ ScanItems(const Op& op, std::int64_t start, std::int64_t begin, std::int64_t end)
      : start_(start), begin_(begin), end_(end), vectors_(alike(op)) {}
  __device__ static int pad(const Op& op, std::int64_t start) {
    if (!alike(op)) return 0;
    const std::uint64_t at = reinterpret_cast<std::uintptr_t>(op.x) / sizeof(E);
    return scan_pad(at + static_cast<std::uint64_t>(start), op.order.n, W, op.order.reverse);
  }
  __device__ void fetch(const Op& op, std::int64_t first) {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const std::int64_t place = first + u * W;
      if (whole(place)) {
        units_[u] = Packed<E, W>::load(op.x + at(op, place));
        continue;
      }
      Vector<E, W> unit;
#pragma unroll
      for (int k = 0; k < W; ++k) {
        const std::int64_t i = place + (op.order.reverse ? W - 1 - k : k), late = i < end_ ? i : end_ - 1;
        unit.at[k] = op.x[op.order.at(start_, late > begin_ ? late : begin_)];
      }
      units_[u] = unit;
    }
  }
  __device__ void take(const Op& op, Acc (&value)[kItems]) const {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const auto unit = units_[u].vector();
#pragma unroll
      for (int k = 0; k < W; ++k) value[u * W + k] = op.of(either(op, unit.at[W - 1 - k], unit.at[k]));
    }
  }
  __device__ void put(const Op& op, std::int64_t first, const Acc (&value)[kItems]) const {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const std::int64_t place = first + u * W;
      if (whole(place)) {
        Vector<E, W> unit;
#pragma unroll
        for (int k = 0; k < W; ++k)
          unit.at[k] = op.element(either(op, value[u * W + W - 1 - k], value[u * W + k]));
        store_vector(op.out + at(op, place), unit);
        continue;
      }
#pragma unroll
      for (int k = 0; k < W; ++k)
        if (place + k >= begin_ && place + k < end_)
          op.out[op.order.at(start_, place + k)] = op.element(value[u * W + k]);
    }
  }
};

// A functor `Op` has: Acc; Acc load(std::int64_t line_start, std::int64_t i) for the i-th element in scan
// order; Acc merge(Acc before, Acc next); void store(std::int64_t line_start, std::int64_t i, Acc). If Op is
// a VectorScan, contiguous lines are processed as vectors.

template <class Op>
struct ScanArgs {
  Op op;
  Lines lines;
  std::int64_t chunks, chunk;
  typename Op::Acc* totals;  // totals of each line's chunks from the line's start; null for one chunk
  bool only_totals;          // true in the pass that computes the totals
};

/// The functor that scans the totals of the chunks.
template <class A>
struct ScanTotals {
  using Acc = A;
  A* at;
  std::int64_t stride;
  EBB_HD A load(std::int64_t start, std::int64_t i) const { return at[start + i * stride]; }
  EBB_HD void store(std::int64_t start, std::int64_t i, A value) const { at[start + i * stride] = value; }
};
template <class Op>
struct MergeTotals : ScanTotals<typename Op::Acc> {
  using Acc = typename Op::Acc;
  Op op;
  EBB_HD Acc merge(Acc before, Acc next) const { return op.merge(before, next); }
};

/// Scans contiguous lines. blockDim is a power of 2, at least 32. The layout of args.totals is [line, chunk].
template <class Op>
__global__ void __launch_bounds__(kScanThreads) scan_rows_kernel(const __grid_constant__ ScanArgs<Op> args) {
  using Acc = typename Op::Acc;
  constexpr int kItems = kItemsOf<Op>;
  __shared__ Acc totals[kScanThreads / kWarp];
  const Op& op = args.op;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const int threads = static_cast<int>(blockDim.x), warps = threads / kWarp;
  const std::int64_t cut = args.only_totals ? args.chunks - 1 : args.chunks;  // the last total is not needed
  const std::int64_t line = args.chunks == 1 ? blockIdx.x : blockIdx.x / cut, chunk = blockIdx.x - line * cut;
  const std::int64_t start = args.lines.start(line), n = args.lines.n;
  // All tiles are full, except the first and the last of a line. Positions outside the line are not merged
  // into a total.
  std::int64_t tile = chunk * args.chunk - ScanItems<Op>::pad(op, start);
  const std::int64_t begin = tile > 0 ? tile : 0, end = chunk + 1 < args.chunks ? tile + args.chunk : n;
  bool carries = chunk > 0 && !args.only_totals;
  Acc carried = op.load(start, begin);
  if (carries) carried = args.totals[line * (args.chunks - 1) + chunk - 1];
  ScanItems<Op> items(op, start, begin, end);
  const std::int64_t step = static_cast<std::int64_t>(threads) * kItems;
  items.fetch(op, tile + thread * kItems);
  for (; tile < end; tile += step) {
    const std::int64_t first = tile + thread * kItems;
    Acc value[kItems];
    items.take(op, value);
    if (tile + step < end) items.fetch(op, first + step);  // in flight while this tile is merged
    const int missing = first < begin ? static_cast<int>(begin - first) : 0;
#pragma unroll
    for (int k = 1; k < kItems; ++k)
      if (k > missing) value[k] = op.merge(value[k - 1], value[k]);
    Acc total = value[kItems - 1];
    for (int delta = 1; delta < kWarp; delta *= 2) {
      const Acc before = shuffle_up(total, static_cast<unsigned>(delta));
      if (lane >= delta) total = op.merge(before, total);
    }
    if (lane == kWarp - 1) totals[warp] = total;
    __syncthreads();
    // Each warp scans the totals of all warps. This gives the prefix of each warp within the tile, and the
    // total of the tile for the next carry.
    Acc up_to = totals[lane & (warps - 1)];
    for (int delta = 1; delta < warps; delta *= 2) {
      const Acc before = shuffle_up(up_to, static_cast<unsigned>(delta), warps);
      if ((lane & (warps - 1)) >= delta) up_to = op.merge(before, up_to);
    }
    const Acc before_warp = shuffle_from(up_to, warp > 0 ? warp - 1 : 0, warps);
    const Acc tile_total = shuffle_from(up_to, warps - 1, warps);
    Acc before = shuffle_up(total, 1);
    bool any = lane > 0;
    if (warp > 0) {
      before = any ? op.merge(before_warp, before) : before_warp;
      any = true;
    }
    if (carries) {
      before = any ? op.merge(carried, before) : carried;
      any = true;
    }
    if (!args.only_totals) {
#pragma unroll
      for (int k = 0; k < kItems; ++k)
        if (any) value[k] = op.merge(before, value[k]);
      items.put(op, first, value);
    }
    carried = carries ? op.merge(carried, tile_total) : tile_total;
    carries = true;
    __syncthreads();
  }
  if (args.only_totals && thread == 0) args.totals[line * cut + chunk] = carried;
}

/// Scans interleaved lines with one thread per chunk of a line. The layout of args.totals is [chunk, line].
template <class Op>
__global__ void __launch_bounds__(kScanThreads)
    scan_columns_kernel(const __grid_constant__ ScanArgs<Op> args) {
  using Acc = typename Op::Acc;
  const Op& op = args.op;
  const std::int64_t job = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t lines = args.lines.count(), cut = args.only_totals ? args.chunks - 1 : args.chunks;
  if (job >= lines * cut) return;
  const std::int64_t chunk = job / lines, line = job - chunk * lines, start = args.lines.start(line);
  const std::int64_t begin = chunk * args.chunk,
                     end = begin + args.chunk < args.lines.n ? begin + args.chunk : args.lines.n;
  Acc value = op.load(start, begin);
  if (chunk > 0 && !args.only_totals) value = op.merge(args.totals[(chunk - 1) * lines + line], value);
  if (!args.only_totals) op.store(start, begin, value);
  std::int64_t i = begin + 1;
  for (; i + kScanItems <= end; i += kScanItems) {
    Acc next[kScanItems];
#pragma unroll
    for (int k = 0; k < kScanItems; ++k) next[k] = op.load(start, i + k);
#pragma unroll
    for (int k = 0; k < kScanItems; ++k) {
      value = op.merge(value, next[k]);
      if (!args.only_totals) op.store(start, i + k, value);
    }
  }
  for (; i < end; ++i) {
    value = op.merge(value, op.load(start, i));
    if (!args.only_totals) op.store(start, i, value);
  }
  if (args.only_totals) args.totals[chunk * lines + line] = value;
}

namespace detail {

template <class Op>
void launch_scan(Device device, const ScanArgs<Op>& args, int threads) {
  const std::int64_t cut = args.only_totals ? args.chunks - 1 : args.chunks;
  if (args.lines.inner == 1)
    launch(device, {dim3(grid_blocks(args.lines.outer * cut)), dim3(static_cast<unsigned>(threads))},
           &scan_rows_kernel<Op>, args);
  else
    launch_independent(
        device, {dim3(grid_blocks(ceil_div(args.lines.count() * cut, kScanThreads))), dim3(kScanThreads)},
        &scan_columns_kernel<Op>, args);
}

}  // namespace detail

template <class Op>
void scan_lines(Device device, const Op& op, const Lines& lines) {
  using Acc = typename Op::Acc;
  const bool rows = lines.inner == 1;
  const ScanPlan plan = rows ? plan_scan_rows(lines, multiprocessors(device), kItemsOf<Op>)
                             : plan_scan_columns(lines, multiprocessors(device));
  ScanArgs<Op> args{op, lines, plan.chunks, plan.chunk, nullptr, false};
  NdArray scratch;
  if (plan.chunks > 1) {
    const std::int64_t all = lines.count(), totals = plan.chunks - 1;
    scratch = NdArray::empty({all * totals * static_cast<std::int64_t>(sizeof(Acc))}, kByte, device);
    args.totals = scratch.address_as<Acc>();
    args.only_totals = true;
    detail::launch_scan(device, args, plan.threads);
    args.only_totals = false;
    const Lines over = rows ? Lines({all, totals}, 1) : Lines({totals, all}, 0);
    const ScanArgs<MergeTotals<Op>> merge{{{args.totals, over.inner}, op}, over, 1, totals, nullptr, false};
    detail::launch_scan(device, merge, covering_power(ceil_div(totals, kScanItems), 32, kScanThreads));
  }
  detail::launch_scan(device, args, plan.threads);
}

}  // namespace ebb::cuda
