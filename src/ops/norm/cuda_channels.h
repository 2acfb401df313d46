// Two sums over the batch and the places of each channel of a contiguous [batch, channels, places] array.
#pragma once

#include <algorithm>

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/optional_data.h"
#include "ops/norm/kernels.h"

namespace ebb::cuda {

using kernels::NormShape;

template <class C>
struct PairSum {
  C first, second;
  EBB_HD PairSum operator+(const PairSum& other) const {
    return {first + other.first, second + other.second};
  }
};

// A functor `Op` has: C; PairSum<C> load(std::int64_t sample, std::int64_t channel, std::int64_t at) with the
// element's offset; void finish(std::int64_t channel, PairSum<C>). Or, where a thread keeps more than a sum:
// Sum, which has operator+; Own, what a thread adds elements to by void add(Own&, at); Sum sum(const Own&).
template <class Op>
concept KeepsMore = requires {
  typename Op::Own;
};

template <class Op>
struct ChannelTerms {
  using Sum = PairSum<typename Op::C>;
  Sum total{};
  __device__ void add(const Op& op, std::int64_t sample, std::int64_t channel, std::int64_t at) {
    total = total + op.load(sample, channel, at);
  }
  __device__ Sum sum(const Op&) const { return total; }
};
template <KeepsMore Op>
struct ChannelTerms<Op> {
  using Sum = typename Op::Sum;
  typename Op::Own own{};
  __device__ void add(const Op& op, std::int64_t, std::int64_t, std::int64_t at) { op.add(own, at); }
  __device__ Sum sum(const Op& op) const { return op.sum(own); }
};
template <class Op>
using ChannelSum = typename ChannelTerms<Op>::Sum;

constexpr int kChannelThreads = 256;

template <class Op>
struct ChannelArgs {
  Op op;
  NormShape shape;
  ChannelSum<Op>* partial;  // [channels, pieces]; null when there is one piece
  std::int64_t pieces;
};

/// A block a channel and piece of the samples; for arrays with places.
template <class Op>
__global__ void __launch_bounds__(kChannelThreads)
    channel_sums_kernel(const __grid_constant__ ChannelArgs<Op> args) {
  using Sum = ChannelSum<Op>;
  __shared__ Sum scratch[kWarp];
  const NormShape& s = args.shape;
  const std::int64_t channel = blockIdx.x / args.pieces, piece = blockIdx.x % args.pieces;
  const std::int64_t begin = s.batch * piece / args.pieces, end = s.batch * (piece + 1) / args.pieces;
  ChannelTerms<Op> terms;
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t at = (n * s.channels + channel) * s.places;
    for (std::int64_t p = threadIdx.x; p < s.places; p += blockDim.x) terms.add(args.op, n, channel, at + p);
  }
  const Sum total = block_reduce(terms.sum(args.op), scratch, Plus(), static_cast<int>(threadIdx.x),
                                 static_cast<int>(blockDim.x));
  if (threadIdx.x != 0) return;
  if (args.partial)
    args.partial[channel * args.pieces + piece] = total;
  else
    args.op.finish(channel, total);
}

/// A block for 32 neighbouring channels and a piece of the samples; for arrays without places. blockDim =
/// (32, 8).
template <class Op>
__global__ void __launch_bounds__(kChannelThreads)
    channel_columns_kernel(const __grid_constant__ ChannelArgs<Op> args) {
  using Sum = ChannelSum<Op>;
  __shared__ Sum scratch[kChannelThreads / kWarp][kWarp];
  const NormShape& s = args.shape;
  const std::int64_t piece = blockIdx.x % args.pieces,
                     channel = blockIdx.x / args.pieces * kWarp + threadIdx.x;
  const std::int64_t begin = s.batch * piece / args.pieces, end = s.batch * (piece + 1) / args.pieces;
  ChannelTerms<Op> terms;
  if (channel < s.channels)
    for (std::int64_t n = begin + threadIdx.y; n < end; n += blockDim.y)
      terms.add(args.op, n, channel, n * s.channels + channel);
  Sum total = terms.sum(args.op);
  scratch[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (channel >= s.channels || threadIdx.y != 0) return;
  for (unsigned lane = 1; lane < blockDim.y; ++lane) total = total + scratch[lane][threadIdx.x];
  if (args.partial)
    args.partial[channel * args.pieces + piece] = total;
  else
    args.op.finish(channel, total);
}

template <class Op>
__global__ void __launch_bounds__(kChannelThreads)
    channel_pieces_kernel(const __grid_constant__ ChannelArgs<Op> args) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (channel >= args.shape.channels) return;
  ChannelSum<Op> total{};
  for (std::int64_t p = 0; p < args.pieces; ++p) total = total + args.partial[channel * args.pieces + p];
  args.op.finish(channel, total);
}

template <class Op>
void channel_sums(Device device, const Op& op, const NormShape& shape) {
  if (shape.channels == 0) return;
  const bool columns = shape.places == 1;
  const std::int64_t jobs = columns ? (shape.channels + kWarp - 1) / kWarp : shape.channels;
  const std::int64_t samples_each =
      columns ? 64 : std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(shape.places, 1));
  const std::int64_t wanted = (4 * std::int64_t{multiprocessors(device)} + jobs - 1) / jobs;
  const std::int64_t pieces = std::clamp<std::int64_t>(shape.batch / samples_each, 1, wanted);
  ChannelArgs<Op> args{op, shape, nullptr, pieces};
  NdArray scratch;
  if (pieces > 1) {
    using Sum = ChannelSum<Op>;
    scratch =
        NdArray::empty({shape.channels * pieces * static_cast<std::int64_t>(sizeof(Sum))}, kByte, device);
    args.partial = scratch.data_as<Sum>();
  }
  const dim3 blocks(static_cast<unsigned>(jobs * pieces));
  if (columns)
    launch(device, {blocks, dim3(kWarp, kChannelThreads / kWarp)}, &channel_columns_kernel<Op>, args);
  else
    launch(device, {blocks, dim3(kChannelThreads)}, &channel_sums_kernel<Op>, args);
  if (pieces > 1)
    launch_independent(device, grid_for(shape.channels, kChannelThreads), &channel_pieces_kernel<Op>, args);
}

}  // namespace ebb::cuda
