// Reduces each channel of a contiguous [batch, channels, places] array over the batch and the positions
// (places). It loads several vectors before it uses the first.
#pragma once

#include "kernel/call/arguments.h"
#include "kernel/convert.h"
#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "ops/norm/cuda_pieces.h"
#include "ops/norm/kernels.h"
#include "ops/norm/norm_plan.h"

namespace ebb::cuda {

using kernels::NormShape;

// A functor `Op` has:
// - T, the type of the elements; kInputs and const T* in[kInputs], arrays of the same layout;
// - Sum as in cuda_pieces.h, and void finish(std::int64_t channel, Sum);
// - Own, the state of a thread for one channel, created by Own own(std::int64_t channel);
// - void first(Own&, values), called with the first elements, and void add(Own&, std::int64_t sample,
//   values), called with all elements; values is Compute<T>[kInputs];
// - Own part(const Own&), a copy with sums of 0, and void join(Own&, const Own& part), which adds the sums of
//   such a copy;
// - Sum sum(const Own&, C count), the sums of `count` elements.
template <class Op>
struct ChannelArgs {
  Op op;
  std::int64_t channels, places;
  ChannelPlan plan;
  typename Op::Sum* partial;  // [pieces, channels]; null if there is one piece
};

/// The number of vectors of each array that a thread loads together.
template <int kInputs, int W>
constexpr int kChannelLoads = W > 1 ? 4 : 8 / kInputs;

// L vectors of each input, and their sample numbers.
template <class Op, int W, int L>
struct ChannelVectors {
  using T = typename Op::T;
  using C = Compute<T>;
  Vector<T, W> unit[Op::kInputs][L];
  std::int64_t sample[L];

  __device__ void load(const Op& op, int l, std::int64_t of_sample, std::int64_t at) {
    sample[l] = of_sample;
#pragma unroll
    for (int k = 0; k < Op::kInputs; ++k) unit[k][l] = *reinterpret_cast<const Vector<T, W>*>(op.in[k] + at);
  }
  __device__ void values(C (&to)[Op::kInputs], int l, int j) const {
#pragma unroll
    for (int k = 0; k < Op::kInputs; ++k) to[k] = static_cast<C>(unit[k][l].at[j]);
  }
  __device__ void add(const Op& op, typename Op::Own& own, int l, int j) const {
    C at[Op::kInputs];
    values(at, l, j);
    op.add(own, sample[l], at);
  }
  __device__ void first(const Op& op, typename Op::Own& own, int j) const {
    C at[Op::kInputs];
    values(at, 0, j);
    op.first(own, at);
  }
  /// Adds all elements to one channel. It first sums them separately and then adds the sum to `own`, which
  /// reduces rounding errors.
  __device__ void take(const Op& op, typename Op::Own& own, bool at_first) const {
    if (at_first) first(op, own, 0);
    typename Op::Own part = op.part(own);
#pragma unroll
    for (int l = 0; l < L; ++l)
#pragma unroll
      for (int j = 0; j < W; ++j) add(op, part, l, j);
    op.join(own, part);
  }
  /// Adds each element of a vector to a separate channel.
  __device__ void take(const Op& op, typename Op::Own (&own)[W], bool at_first) const {
    if (at_first)
#pragma unroll
      for (int j = 0; j < W; ++j) first(op, own[j], j);
#pragma unroll
    for (int l = 0; l < L; ++l)
#pragma unroll
      for (int j = 0; j < W; ++j) add(op, own[j], l, j);
  }
};

template <class Op>
__device__ void put_channel(const ChannelArgs<Op>& args, std::int64_t piece, std::int64_t channel,
                            const typename Op::Sum& total) {
  if (args.partial)
    args.partial[piece * args.channels + channel] = total;
  else
    args.op.finish(channel, total);
}

/// The position of a vector in a channel, or the distance between two positions.
struct ChannelPlace {
  std::int64_t sample, unit;  // `unit` is the number of the vector in its plane
  __device__ ChannelPlace(std::int64_t i, std::int64_t units) : sample(i / units), unit(i - sample * units) {}
  __device__ void advance(const ChannelPlace& by, std::int64_t units) {
    sample += by.sample;
    unit += by.unit;
    if (unit >= units) {
      unit -= units;
      ++sample;
    }
  }
};

/// Uses one block for a channel and a chunk of its vectors. Blocks that run at the same time process
/// neighbouring channels.
template <class Op, int W>
__global__ void __launch_bounds__(kChannelThreads, 2)
    channel_planes_kernel(const __grid_constant__ ChannelArgs<Op> args) {
  using Sum = typename Op::Sum;
  using C = Compute<typename Op::T>;
  constexpr int L = kChannelLoads<Op::kInputs, W>;
  __shared__ Sum scratch[kWarp];
  const Op& op = args.op;
  const unsigned channels = static_cast<unsigned>(args.channels);
  const unsigned piece = blockIdx.x / channels, channel = blockIdx.x - piece * channels;
  const std::int64_t begin = piece * args.plan.piece,
                     end = piece + 1 == args.plan.pieces ? args.plan.count : begin + args.plan.piece;
  typename Op::Own own = op.own(channel);
  std::int64_t count = 0;
  const std::int64_t units = args.places / W;
  ChannelPlace place(begin + threadIdx.x / kWarp * (kWarp * L) + threadIdx.x % kWarp, units);
  const ChannelPlace near(kWarp, units), far(L * kChannelThreads, units);
  std::int64_t done = begin;
  // The vectors of a warp are contiguous, so its loads are coalesced.
  for (; done + L * kChannelThreads <= end; done += L * kChannelThreads) {
    ChannelVectors<Op, W, L> vectors;
    ChannelPlace at = place;
#pragma unroll
    for (int l = 0; l < L; ++l) {
      vectors.load(op, l, at.sample, (at.sample * args.channels + channel) * args.places + at.unit * W);
      at.advance(near, units);
    }
    vectors.take(op, own, count == 0);
    count += L * W;
    place.advance(far, units);
  }
  for (std::int64_t i = done + threadIdx.x; i < end; i += kChannelThreads) {
    ChannelVectors<Op, W, 1> vectors;
    const ChannelPlace at(i, units);
    vectors.load(op, 0, at.sample, (at.sample * args.channels + channel) * args.places + at.unit * W);
    vectors.take(op, own, count == 0);
    count += W;
  }
  const Sum total = block_reduce(op.sum(own, static_cast<C>(count)), scratch, Plus(),
                                 static_cast<int>(threadIdx.x), kChannelThreads);
  if (threadIdx.x == 0) put_channel(args, piece, channel, total);
}

/// Uses one block for a tile of whole channels and a chunk of the samples.
template <class Op, int W>
__global__ void __launch_bounds__(kChannelThreads, 2)
    channel_tiles_kernel(const __grid_constant__ ChannelArgs<Op> args) {
  using Sum = typename Op::Sum;
  using C = Compute<typename Op::T>;
  constexpr int L = kChannelLoads<Op::kInputs, W>;
  __shared__ Sum scratch[W][kChannelThreads + 1];
  const Op& op = args.op;
  const ChannelPlan& plan = args.plan;
  const unsigned tiles = static_cast<unsigned>(plan.jobs), across = static_cast<unsigned>(plan.across);
  const unsigned piece = blockIdx.x / tiles, tile = blockIdx.x - piece * tiles;
  const unsigned down = threadIdx.x / across, unit = threadIdx.x - down * across;
  const std::int64_t columns = args.channels * args.places, step = plan.down;
  const std::int64_t column = (static_cast<std::int64_t>(tile) * across + unit) * W;
  const std::int64_t begin = piece * plan.piece,
                     end = piece + 1 == plan.pieces ? plan.count : begin + plan.piece;
  if (down < step) {
    typename Op::Own own[W];
    std::int64_t channel = column / args.places, place = column - channel * args.places;
#pragma unroll
    for (int j = 0; j < W; ++j) {
      own[j] = op.own(channel < args.channels ? channel : 0);
      if (++place == args.places) {
        place = 0;
        ++channel;
      }
    }
    std::int64_t count = 0, row = begin + down;
    if (column < columns) {
      for (; row + (L - 1) * step < end; row += L * step) {
        ChannelVectors<Op, W, L> vectors;
#pragma unroll
        for (int l = 0; l < L; ++l) vectors.load(op, l, row + l * step, (row + l * step) * columns + column);
        vectors.take(op, own, count == 0);
        count += L;
      }
      for (; row < end; row += step) {
        ChannelVectors<Op, W, 1> vectors;
        vectors.load(op, 0, row, row * columns + column);
        vectors.take(op, own, count == 0);
        ++count;
      }
    }
#pragma unroll
    for (int j = 0; j < W; ++j) scratch[j][threadIdx.x] = op.sum(own[j], static_cast<C>(count));
  }
  __syncthreads();
  // A group of lanes sums the columns of a channel.
  const unsigned places = static_cast<unsigned>(args.places), own_channels = across * W / places;
  const unsigned team = static_cast<unsigned>(tile_team(own_channels)), rank = threadIdx.x % team;
  const unsigned terms = places * static_cast<unsigned>(step);
  for (unsigned base = 0; base < own_channels; base += kChannelThreads / team) {
    const unsigned local = base + threadIdx.x / team;
    Sum total{};
    if (local < own_channels)
      for (unsigned i = rank; i < terms; i += team) {
        const unsigned row = i / places, at = local * places + (i - row * places);
        total = total + scratch[at % W][row * across + at / W];
      }
    total = warp_reduce(total, Plus(), static_cast<int>(team));
    const std::int64_t channel = static_cast<std::int64_t>(tile) * own_channels + local;
    if (rank == 0 && local < own_channels && channel < args.channels)
      put_channel(args, piece, channel, total);
  }
}

template <class Op>
void channel_sums(Device device, const Op& op, const NormShape& shape) {
  constexpr int V = kVectorWidth<typename Op::T>;
  if (shape.channels == 0) return;
  bool aligned = true;
  for (const auto* array : op.in) aligned = aligned && reinterpret_cast<std::uintptr_t>(array) % 16 == 0;
  const bool empty = shape.places == 0;
  ChannelArgs<Op> args{op, shape.channels, empty ? 1 : shape.places, {}, nullptr};
  args.plan = plan_channel_sums(empty ? 0 : shape.batch, args.channels, args.places, V, aligned,
                                kChannelLoads<Op::kInputs, V>, multiprocessors(device));
  NdArray scratch;
  if (args.plan.pieces > 1) {
    using Sum = typename Op::Sum;
    scratch = NdArray::empty({args.plan.pieces * args.channels * static_cast<std::int64_t>(sizeof(Sum))},
                             kByte, device);
    args.partial = scratch.address_as<Sum>();
  }
  const Grid grid{dim3(grid_blocks(args.plan.jobs * args.plan.pieces)), dim3(kChannelThreads)};
  if (args.plan.tiles)
    launch(device, grid, args.plan.width > 1 ? &channel_tiles_kernel<Op, V> : &channel_tiles_kernel<Op, 1>,
           args);
  else
    launch(device, grid, args.plan.width > 1 ? &channel_planes_kernel<Op, V> : &channel_planes_kernel<Op, 1>,
           args);
  if (args.plan.pieces > 1)
    merge_pieces(device, PiecesArgs<Op>{op, args.partial, args.plan.pieces, args.channels});
}

}  // namespace ebb::cuda
