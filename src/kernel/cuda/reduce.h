// Reductions on the device. If the reduced elements are contiguous, a group of threads computes each output.
// If the outputs are contiguous, each thread reduces some adjacent columns. Long reductions with few outputs
// are divided into chunks, and a second pass merges the results of the chunks. There are no atomics, so the
// order of the merges depends only on the shape and the array's alignment.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/reduce_launch.h"

namespace ebb::cuda {

// A functor `Op` (by value) has: In, Acc; Acc identity(); Acc load(In x, std::int64_t output, std::int64_t
// place), where `place` is the index among the reduced elements; Acc merge(Acc a, Acc b); void
// store(std::int64_t output, Acc). Optional: void take(Acc&, In x, std::int64_t output, std::int64_t place),
// which merges an element faster than load and merge.

template <class Op>
struct ReduceArgs {
  Op op;
  const typename Op::In* x;
  typename Op::Acc* partial;  // null if one pass is enough
  DeviceDims kept, reduced;   // in units along the vectorised dimension
  std::int64_t outputs, count;
  std::int64_t pieces, piece;  // number of chunks of the reduced elements, and elements per chunk
  bool run;
};

namespace detail {

/// Vector widths of the row kernel and of the column kernel. Large accumulators reduce the width of the
/// column kernel, which stores an accumulator for every column in shared memory.
template <class Op>
constexpr int kRowWidth = kVectorWidth<typename Op::In>;
template <class Op>
constexpr int kColumnWidth = [] {
  int width = kVectorWidth<typename Op::In>;
  while (width > 1 && width * static_cast<int>(sizeof(typename Op::Acc)) > 64) width /= 2;
  return width;
}();
/// Accumulators per thread for one output. Several accumulators avoid a dependency chain.
template <class Op, int V>
constexpr int kLanes = [] {
  int lanes = V;
  while (lanes > 1 && lanes * static_cast<int>(sizeof(typename Op::Acc)) > 32) lanes /= 2;
  return lanes;
}();

/// The number of blocks per multiprocessor. Three kinds of ops need more registers and therefore have fewer
/// blocks: large accumulators that are merged element by element, 1-byte accumulators (a thread has 16 of
/// them for a 16-byte vector), and ops that read further arrays (ReadsMore).
template <class Op>
constexpr int kBlocks = [] {
  if (requires { typename Op::ReadsMore; } || sizeof(typename Op::Acc) == 1) return kWideReduceBlocks;
  constexpr bool kTakes = requires(const Op& op, typename Op::Acc& total, typename Op::In x) {
    op.take(total, x, std::int64_t(), std::int64_t());
  };
  return kTakes || sizeof(typename Op::Acc) <= 8 ? kReduceBlocks : kWideReduceBlocks;
}();

template <class Op>
__device__ void take(const Op& op, typename Op::Acc& total, typename Op::In x, std::int64_t output,
                     std::int64_t place) {
  if constexpr (requires { op.take(total, x, output, place); })
    op.take(total, x, output, place);
  else
    total = op.merge(total, op.load(x, output, place));
}

/// Merges the `units` units i = from, from + step, from + 2 * step, ... vector_at(i) is the address of unit
/// i, and first + i * V the index of its first element. kReduceLoads memory loads are in flight (fewer in the
/// last round).
template <int V, class Op, class At>
__device__ void take_units(const Op& op, typename Op::Acc (&total)[kLanes<Op, V>], const At& vector_at,
                           std::int64_t from, int units, std::int64_t step, std::int64_t output,
                           std::int64_t first) {
  using Unit = Packed<typename Op::In, V>;
  constexpr int kSums = kLanes<Op, V>;
#pragma unroll 1
  for (std::int64_t i = from; units > 0; units -= kReduceLoads, i += kReduceLoads * step) {
    Unit unit[kReduceLoads];
#pragma unroll
    for (int u = 0; u < kReduceLoads; ++u)
      if (u < units) unit[u] = Unit::load(vector_at(i + u * step));
#pragma unroll
    for (int u = 0; u < kReduceLoads; ++u) {
      if (u >= units) break;
      const auto values = unit[u].vector();
#pragma unroll
      for (int j = 0; j < V; ++j)
        take(op, total[j % kSums], values.at[j], output, first + (i + u * step) * V + j);
    }
  }
}

/// Returns how many of the values rank, rank + step, rank + 2 * step, ... are in [0, n). A thread has fewer
/// than 2^31 of them.
__device__ inline int strided(std::int64_t n, std::int64_t rank, std::int64_t step) {
  return rank < n ? static_cast<int>((n - rank + step - 1) / step) : 0;
}

/// Merges the totals of the threads along x, in blocks with blockDim = (threads, others).
template <class Op>
__device__ typename Op::Acc merge_team(const Op& op, typename Op::Acc total, typename Op::Acc* scratch) {
  using Acc = typename Op::Acc;
  const auto merge = [&](Acc a, Acc b) { return op.merge(a, b); };
  const int threads = static_cast<int>(blockDim.x);
  return threads <= kWarp ? warp_reduce(total, merge, threads)
                          : block_reduce(total, scratch, merge, static_cast<int>(threadIdx.x), threads);
}

}  // namespace detail

/// Reduces rows; blockDim = (threads per output, outputs per block). The grid covers the chunks of all
/// outputs.
template <class Op, int V>
__global__ void __launch_bounds__(kReduceTeam, (detail::kBlocks<Op>))
    reduce_rows_kernel(const __grid_constant__ ReduceArgs<Op> args) {
  using Acc = typename Op::Acc;
  using In = typename Op::In;
  __shared__ Acc scratch[kWarp];
  constexpr int kSums = detail::kLanes<Op, V>;
  const Op& op = args.op;
  const std::int64_t job = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const std::int64_t number = args.pieces == 1 ? job : job / args.pieces, piece = job - number * args.pieces;
  const bool active = number < args.outputs;
  std::int64_t in = 0, out = 0;
  Acc sums[kSums];
#pragma unroll
  for (int l = 0; l < kSums; ++l) sums[l] = op.identity();
  if (active) {
    args.kept.offsets(number, in, out);
    const In* const x = args.x + in;
    const std::int64_t begin = piece * args.piece,
                       end = piece + 1 == args.pieces ? args.count : begin + args.piece;
    const std::int64_t rank = threadIdx.x, step = blockDim.x;
    if (V > 1 && args.run) {
      // The run may have any alignment. The elements before its first aligned vector and after its last one
      // are processed one by one.
      const In* const from = x + begin;
      const std::int64_t n = end - begin;
      std::int64_t head =
          (V - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from) / sizeof(In) % V)) % V;
      if (head > n) head = n;
      const std::int64_t units = (n - head) / V, tail = head + units * V;
      for (std::int64_t i = rank; i < head; i += step) detail::take(op, sums[0], from[i], out, begin + i);
      detail::take_units<V>(
          op, sums, [&](std::int64_t i) { return from + head + i * V; }, rank,
          detail::strided(units, rank, step), step, out, begin + head);
      for (std::int64_t i = tail + rank; i < n; i += step) detail::take(op, sums[0], from[i], out, begin + i);
    } else {
      detail::take_units<V>(
          op, sums, [&](std::int64_t i) { return x + args.reduced.in_offset(i); }, begin / V + rank,
          detail::strided(end / V - begin / V, rank, step), step, out, 0);
    }
  }
#pragma unroll
  for (int l = 1; l < kSums; ++l) sums[0] = op.merge(sums[0], sums[l]);
  const Acc total = detail::merge_team(op, sums[0], scratch);
  if (!active || threadIdx.x != 0) return;
  if (args.partial)
    args.partial[number * args.pieces + piece] = total;
  else
    op.store(out, total);
}

/// blockDim = (units of V columns, rows in parallel). A block reduces adjacent outputs over one chunk of the
/// rows.
template <class Op, int V>
__global__ void __launch_bounds__(kReduceThreads, (detail::kBlocks<Op>))
    reduce_columns_kernel(const __grid_constant__ ReduceArgs<Op> args) {
  using Acc = typename Op::Acc;
  using Unit = Packed<typename Op::In, V>;
  __shared__ Acc scratch[kReduceThreads * V];
  const Op& op = args.op;
  const unsigned pieces = static_cast<unsigned>(args.pieces);
  const unsigned tile = pieces == 1 ? blockIdx.x : blockIdx.x / pieces, piece = blockIdx.x - tile * pieces;
  const std::int64_t unit = static_cast<std::int64_t>(tile) * blockDim.x + threadIdx.x;
  const bool active = unit * V < args.outputs;
  const std::int64_t out_step = args.kept.out_strides[args.kept.dims - 1] / V;
  std::int64_t in = 0, out = 0;
  Acc total[V];
#pragma unroll
  for (int j = 0; j < V; ++j) total[j] = op.identity();
  if (active) {
    args.kept.offsets(unit, in, out);
    const typename Op::In* const x = args.x + in;
    const std::int64_t end = piece + 1 == pieces ? args.count : (piece + 1) * args.piece, step = blockDim.y;
    std::int64_t i = piece * args.piece;
    int units = detail::strided(end - i, threadIdx.y, step);
#pragma unroll 1
    for (i += threadIdx.y; units > 0; units -= kReduceLoads, i += kReduceLoads * step) {
      Unit rows[kReduceLoads];
#pragma unroll
      for (int u = 0; u < kReduceLoads; ++u)
        if (u < units) rows[u] = Unit::load(x + args.reduced.in_offset(i + u * step));
#pragma unroll
      for (int u = 0; u < kReduceLoads; ++u) {
        if (u >= units) break;
        const auto values = rows[u].vector();
#pragma unroll
        for (int j = 0; j < V; ++j)
          detail::take(op, total[j], values.at[j], out + j * out_step, i + u * step);
      }
    }
  }
  // Merges the rows in shared memory. Each step halves the number of rows.
  Acc* const mine = scratch + (threadIdx.y * blockDim.x + threadIdx.x) * V;
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    if (threadIdx.y >= half && threadIdx.y < 2 * half)
      for (int j = 0; j < V; ++j) mine[j] = total[j];
    __syncthreads();
    if (threadIdx.y < half)
      for (int j = 0; j < V; ++j) total[j] = op.merge(total[j], mine[half * blockDim.x * V + j]);
    __syncthreads();
  }
  if (!active || threadIdx.y != 0) return;
#pragma unroll
  for (int j = 0; j < V; ++j) {
    if (args.partial)
      args.partial[(unit * V + j) * args.pieces + piece] = total[j];
    else
      op.store(out + j * out_step, total[j]);
  }
}

/// Merges the chunks of each output in order; blockDim = (threads per output, outputs per block).
template <class Op>
__global__ void __launch_bounds__(kReduceThreads, 1)
    reduce_pieces_kernel(const __grid_constant__ ReduceArgs<Op> args) {
  using Acc = typename Op::Acc;
  __shared__ Acc scratch[kWarp];
  const Op& op = args.op;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const bool active = number < args.outputs;
  Acc total = op.identity();
  if (active)
    for (std::int64_t p = threadIdx.x; p < args.pieces; p += blockDim.x)
      total = op.merge(total, args.partial[number * args.pieces + p]);
  total = detail::merge_team(op, total, scratch);
  if (!active || threadIdx.x != 0) return;
  std::int64_t in, out;
  args.kept.offsets(number, in, out);
  op.store(out, total);
}

/// Reduces x over the dimensions in `mask` on `device`; op.store receives the results.
template <class Op>
void reduce(Device device, const Op& op, const NdArray& x, DimMask mask) {
  using In = typename Op::In;
  using Acc = typename Op::Acc;
  constexpr int kRow = detail::kRowWidth<Op>, kColumn = detail::kColumnWidth<Op>;
  const ReducePlan plan = plan_reduce(x.sizes(), x.strides(), mask);
  if (plan.outputs == 0) return;
  const In* const from = x.address_as<const In>();
  const ReduceLaunch how = plan_reduce_launch(plan, reinterpret_cast<std::uintptr_t>(from), sizeof(In), kRow,
                                              kColumn, multiprocessors(device), detail::kBlocks<Op>);
  const int across = how.columns ? how.width : 1, along = how.columns || how.run ? 1 : how.width;
  ReduceArgs<Op> args{op,
                      from,
                      nullptr,
                      DeviceDims(plan.kept, plan.outputs, across),
                      DeviceDims(plan.reduced, plan.count, along),
                      plan.outputs,
                      plan.count,
                      how.pieces,
                      how.piece,
                      how.run};
  NdArray scratch;
  if (how.pieces > 1) {
    scratch =
        NdArray::empty({plan.outputs * how.pieces * static_cast<std::int64_t>(sizeof(Acc))}, kByte, device);
    args.partial = scratch.address_as<Acc>();
  }
  const Grid grid{dim3(grid_blocks(how.blocks)),
                  dim3(static_cast<unsigned>(how.threads), static_cast<unsigned>(how.others))};
  if (how.columns)
    launch(device, grid, how.width > 1 ? &reduce_columns_kernel<Op, kColumn> : &reduce_columns_kernel<Op, 1>,
           args);
  else
    launch(device, grid, how.width > 1 ? &reduce_rows_kernel<Op, kRow> : &reduce_rows_kernel<Op, 1>, args);
  if (how.pieces == 1) return;
  args.kept = DeviceDims(plan.kept, plan.outputs);
  launch(device,
         {dim3(grid_blocks(how.piece_blocks)),
          dim3(static_cast<unsigned>(how.piece_threads), static_cast<unsigned>(how.piece_outputs))},
         &reduce_pieces_kernel<Op>, args);
}

}  // namespace ebb::cuda
