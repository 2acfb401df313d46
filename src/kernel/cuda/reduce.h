// Reductions on the device: a group of threads for every output where the reduced elements lie together, a
// thread a column where the outputs do. Long reductions of few outputs are cut in pieces that a second pass
// merges. No atomics: the order is fixed by the shape.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/index_plan.h"
#include "kernel/reduce_plan.h"

namespace ebb::cuda {

// A functor `Op` (by value) has: In, Acc; Acc identity(); Acc load(In x, std::int64_t output, std::int64_t
// place) with the place among the reduced elements; Acc merge(Acc a, Acc b); void store(std::int64_t output,
// Acc).

constexpr int kReduceDims = 16;
constexpr int kReduceThreads = 256;
constexpr int kColumnLanes = 8;  // threads that share a column

/// Merged dimensions, last one fastest, ready for a device.
struct DeviceDims {
  int dims = 0;
  bool small = true;  // every place fits 31 bits
  std::int64_t sizes[kReduceDims];
  FastDivisor divisors[kReduceDims];
  std::int64_t in_strides[kReduceDims];
  std::int64_t out_strides[kReduceDims];

  DeviceDims() = default;
  DeviceDims(const SmallVector<ReduceDim, 6>& from, std::int64_t count) {
    EBB_CHECK(from.size() <= kReduceDims, "reduction: the input's strides are too irregular: more than ",
              kReduceDims, " dimensions remain. Call .contiguous() on it.");
    dims = static_cast<int>(from.size());
    small = count <= INT32_MAX;
    for (int d = 0; d < dims; ++d) {
      sizes[d] = from[d].size;
      if (small) divisors[d] = FastDivisor(static_cast<std::uint32_t>(from[d].size));
      in_strides[d] = from[d].in_stride;
      out_strides[d] = from[d].out_stride;
    }
  }

  /// Element offsets of the place in the input and in the output.
  EBB_HD void offsets(std::int64_t place, std::int64_t& in, std::int64_t& out) const {
    in = out = 0;
    for (int d = dims - 1; d >= 0; --d) {
      std::int64_t next = 0;
      if (d > 0) next = small ? divisors[d].divide(static_cast<std::uint32_t>(place)) : place / sizes[d];
      const std::int64_t at = place - next * sizes[d];
      place = next;
      in += at * in_strides[d];
      out += at * out_strides[d];
    }
  }
  EBB_HD std::int64_t in_offset(std::int64_t place) const {
    if (dims <= 1) return dims == 0 ? 0 : place * in_strides[0];
    std::int64_t in, out;
    offsets(place, in, out);
    return in;
  }
};

template <class Op>
struct ReduceArgs {
  Op op;
  const typename Op::In* x;
  typename Op::Acc* partial;  // null when one pass is enough
  DeviceDims kept, reduced;
  std::int64_t outputs, count;
  std::int64_t pieces, piece;  // of the reduced elements
};

/// blockDim = (threads of one output, outputs of a block); blocks run over outputs and pieces.
template <class Op>
__global__ void __launch_bounds__(512) reduce_rows_kernel(const __grid_constant__ ReduceArgs<Op> args) {
  using Acc = typename Op::Acc;
  __shared__ Acc scratch[kWarp];
  const Op& op = args.op;
  const auto merge = [&](Acc a, Acc b) { return op.merge(a, b); };
  const std::int64_t job = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const std::int64_t number = job / args.pieces, piece = job % args.pieces;
  const bool active = number < args.outputs;
  std::int64_t in = 0, out = 0;
  Acc total = op.identity();
  if (active) {
    args.kept.offsets(number, in, out);
    const typename Op::In* const x = args.x + in;
    const std::int64_t end = piece + 1 == args.pieces ? args.count : (piece + 1) * args.piece;
    const std::int64_t step = blockDim.x;
    std::int64_t i = piece * args.piece + threadIdx.x;
    // Four loads under way at a time.
    if (i + 3 * step < end) {
      Acc part[4] = {total, total, total, total};
      for (; i + 3 * step < end; i += 4 * step) {
        typename Op::In value[4];
#pragma unroll
        for (int u = 0; u < 4; ++u) value[u] = x[args.reduced.in_offset(i + u * step)];
#pragma unroll
        for (int u = 0; u < 4; ++u) part[u] = op.merge(part[u], op.load(value[u], out, i + u * step));
      }
      total = op.merge(op.merge(part[0], part[1]), op.merge(part[2], part[3]));
    }
    for (; i < end; i += step) total = op.merge(total, op.load(x[args.reduced.in_offset(i)], out, i));
  }
  if (blockDim.x <= kWarp)
    total = warp_reduce(total, merge, static_cast<int>(blockDim.x));
  else
    total = block_reduce(total, scratch, merge, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
  if (!active || threadIdx.x != 0) return;
  if (args.partial)
    args.partial[number * args.pieces + piece] = total;
  else
    op.store(out, total);
}

/// blockDim = (32 columns, kColumnLanes); a block takes 32 neighbouring outputs, and one piece of the rows.
template <class Op>
__global__ void __launch_bounds__(kWarp* kColumnLanes)
    reduce_columns_kernel(const __grid_constant__ ReduceArgs<Op> args) {
  using Acc = typename Op::Acc;
  __shared__ Acc scratch[kColumnLanes][kWarp];
  const Op& op = args.op;
  const std::int64_t piece = blockIdx.x % args.pieces, tile = blockIdx.x / args.pieces;
  const std::int64_t number = tile * kWarp + threadIdx.x;
  const bool active = number < args.outputs;
  std::int64_t in = 0, out = 0;
  Acc total = op.identity();
  if (active) {
    args.kept.offsets(number, in, out);
    const typename Op::In* const x = args.x + in;
    const std::int64_t end = piece + 1 == args.pieces ? args.count : (piece + 1) * args.piece;
    std::int64_t i = piece * args.piece + threadIdx.y;
    for (; i + 3 * kColumnLanes < end; i += 4 * kColumnLanes) {
      typename Op::In value[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) value[u] = x[args.reduced.in_offset(i + u * kColumnLanes)];
#pragma unroll
      for (int u = 0; u < 4; ++u) total = op.merge(total, op.load(value[u], out, i + u * kColumnLanes));
    }
    for (; i < end; i += kColumnLanes) total = op.merge(total, op.load(x[args.reduced.in_offset(i)], out, i));
  }
  scratch[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (!active || threadIdx.y != 0) return;
  for (int lane = 1; lane < kColumnLanes; ++lane) total = op.merge(total, scratch[lane][threadIdx.x]);
  if (args.partial)
    args.partial[number * args.pieces + piece] = total;
  else
    op.store(out, total);
}

/// Merges the pieces of each output in order.
template <class Op>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_pieces_kernel(const __grid_constant__ ReduceArgs<Op> args) {
  using Acc = typename Op::Acc;
  __shared__ Acc scratch[kWarp];
  const Op& op = args.op;
  const std::int64_t number = blockIdx.x;
  Acc total = op.identity();
  for (std::int64_t p = threadIdx.x; p < args.pieces; p += blockDim.x)
    total = op.merge(total, args.partial[number * args.pieces + p]);
  total = block_reduce(
      total, scratch, [&](Acc a, Acc b) { return op.merge(a, b); }, static_cast<int>(threadIdx.x),
      static_cast<int>(blockDim.x));
  if (threadIdx.x != 0) return;
  std::int64_t in, out;
  args.kept.offsets(number, in, out);
  op.store(out, total);
}

/// How a reduction is launched; a pure function of the shape and the device's size.
struct ReduceLaunch {
  bool columns = false;
  int threads = kWarp;  // of one output, when by rows
  int outputs_per_block = 1;
  std::int64_t pieces = 1, piece = 0;
  std::int64_t blocks = 0;
};

inline ReduceLaunch plan_reduce_launch(const ReducePlan& plan, int multiprocessors) {
  ReduceLaunch launch;
  const bool inner = !plan.reduced.empty() && plan.reduced.back().in_stride == 1;
  launch.columns =
      !inner && !plan.kept.empty() && plan.kept.back().in_stride == 1 && plan.kept.back().size >= 8;
  std::int64_t jobs;
  if (launch.columns) {
    jobs = (plan.outputs + kWarp - 1) / kWarp;
  } else {
    // Four elements a thread, up to 512 threads; small outputs share a block.
    launch.threads = covering_power((plan.count + 3) / 4, 1, 512);
    launch.outputs_per_block = launch.threads >= kReduceThreads ? 1
                               : launch.threads <= kWarp        ? kReduceThreads / launch.threads
                                                                : 1;
    jobs = (plan.outputs + launch.outputs_per_block - 1) / launch.outputs_per_block;
  }
  // Enough blocks to fill the device, but pieces long enough to be worth a second pass.
  const std::int64_t wanted = 8 * std::int64_t{multiprocessors};
  const std::int64_t least = launch.columns ? 256 : 8192;
  if (jobs < wanted && plan.count >= 2 * least) {
    launch.pieces = std::min((wanted + jobs - 1) / jobs, plan.count / least);
    launch.piece = (plan.count + launch.pieces - 1) / launch.pieces;
    launch.pieces = (plan.count + launch.piece - 1) / launch.piece;
  } else {
    launch.piece = plan.count;
  }
  if (launch.columns)
    launch.blocks = jobs * launch.pieces;
  else
    launch.blocks = (plan.outputs * launch.pieces + launch.outputs_per_block - 1) / launch.outputs_per_block;
  return launch;
}

/// Runs the reduction of x over the dimensions in `mask` on `device`; op.store receives the results.
template <class Op>
void reduce(Device device, const Op& op, const NdArray& x, DimMask mask) {
  const ReducePlan plan = plan_reduce(x.sizes(), x.strides(), mask);
  if (plan.outputs == 0) return;
  const ReduceLaunch how = plan_reduce_launch(plan, multiprocessors(device));
  NdArray scratch;
  ReduceArgs<Op> args{op,
                      x.data_as<const typename Op::In>(),
                      nullptr,
                      DeviceDims(plan.kept, plan.outputs),
                      DeviceDims(plan.reduced, plan.count),
                      plan.outputs,
                      plan.count,
                      how.pieces,
                      how.piece};
  if (how.pieces > 1) {
    scratch = NdArray::empty(
        {plan.outputs * how.pieces * static_cast<std::int64_t>(sizeof(typename Op::Acc))}, kByte, device);
    args.partial = scratch.data_as<typename Op::Acc>();
  }
  const dim3 blocks(static_cast<unsigned>(how.blocks));
  if (how.columns)
    launch(device, {blocks, dim3(kWarp, kColumnLanes)}, &reduce_columns_kernel<Op>, args);
  else
    launch(device,
           {blocks, dim3(static_cast<unsigned>(how.threads), static_cast<unsigned>(how.outputs_per_block))},
           &reduce_rows_kernel<Op>, args);
  if (how.pieces > 1)
    launch(device, {dim3(static_cast<unsigned>(plan.outputs)), dim3(kReduceThreads)},
           &reduce_pieces_kernel<Op>, args);
}

}  // namespace ebb::cuda
