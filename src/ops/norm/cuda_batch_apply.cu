// Elementwise kernels of batch_norm with factors for each channel. If a vector spans at most two planes, the
// array is processed as one sequence of vectors, and the channel of each vector is computed with two
// divisions. If a vector spans many channels (channels-last), a thread stays in its columns and keeps the
// factors of these columns in registers.
#include <ebb/core/visit.h>

#include "kernel/call/arguments.h"
#include "kernel/convert.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/elementwise_plan.h"
#include "ops/norm/cuda.h"
#include "ops/norm/norm_plan.h"

namespace ebb::cuda {
namespace {

using kernels::NormSaved;
using kernels::NormShape;

template <class Value>
struct Normalise {
  using T = Value;
  using C = Compute<T>;
  struct Factors {
    C mean, scale, shift;
  };
  static constexpr int kInputs = 1;
  const T* in[kInputs];
  const C *mean, *rstd;
  const T *weight, *bias;  // either may be null
  __device__ Factors factors(std::int64_t c) const {
    return {mean[c], rstd[c] * (weight ? static_cast<C>(weight[c]) : C(1)),
            bias ? static_cast<C>(bias[c]) : C(0)};
  }
  __device__ C apply(const Factors& f, const C (&at)[1]) const {
    return (at[0] - f.mean) * f.scale + f.shift;
  }
};

template <class Value>
struct InputGrad {
  using T = Value;
  using C = Compute<T>;
  struct Factors {
    C mean, scale, slope, shift;
  };
  static constexpr int kInputs = 2;
  const T* in[kInputs];  // dy, x
  const C *mean, *scale, *slope, *shift;
  __device__ Factors factors(std::int64_t c) const { return {mean[c], scale[c], slope[c], shift[c]}; }
  __device__ C apply(const Factors& f, const C (&at)[2]) const {
    return f.scale * (at[0] - f.slope * (at[1] - f.mean) - f.shift);
  }
};

template <class Op>
struct ApplyArgs {
  Op op;
  typename Op::T* out;
  std::int64_t batch, channels, places;
  ChannelPlan plan;  // used by channel_columns_kernel
  bool small;        // true if 31 bits are enough for the index of an element
  FastDivisor place_divisor, channel_divisor;

  /// Returns the channel of an element. `left` is the number of elements from this element to the end of its
  /// plane.
  __device__ std::int64_t channel(std::int64_t element, std::int64_t& left) const {
    std::int64_t plane, round;
    if (small) {
      plane = place_divisor.divide(static_cast<std::uint32_t>(element));
      round = channel_divisor.divide(static_cast<std::uint32_t>(plane));
    } else {
      plane = element / places;
      round = plane / channels;
    }
    left = places - (element - plane * places);
    return plane - round * channels;
  }
};

/// The number of vectors of each array that a thread loads together.
template <int kInputs, int W>
constexpr int kApplyLoads = W > 1 && kInputs == 2 ? 2 : 4;
template <int kInputs>
constexpr int kColumnLoads = kInputs == 1 ? 4 : 3;

template <class Op, int W>
__device__ Vector<typename Op::T, W> load_unit(const Op& op, int k, std::int64_t at) {
  return *reinterpret_cast<const Vector<typename Op::T, W>*>(op.in[k] + at);
}

/// Processes the array as one sequence of vectors, and the remaining elements one by one.
template <class Op, int W>
__global__ void __launch_bounds__(kChannelThreads, 3)
    channel_run_kernel(const __grid_constant__ ApplyArgs<Op> args) {
  using T = typename Op::T;
  using C = Compute<T>;
  using Factors = typename Op::Factors;
  constexpr int N = Op::kInputs, U = kApplyLoads<N, W>;
  const Op& op = args.op;
  const std::int64_t count = args.batch * args.channels * args.places, units = count / W;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (kChannelThreads * U) + threadIdx.x;
  Vector<T, W> in[U][N];
  std::int64_t unit[U];
#pragma unroll
  for (int u = 0; u < U; ++u) {
    // Past the end, the last vector is loaded again but not stored, so that loads need no branches.
    unit[u] = first + u * kChannelThreads < units ? first + u * kChannelThreads : units - 1;
#pragma unroll
    for (int k = 0; k < N; ++k) in[u][k] = load_unit<Op, W>(op, k, unit[u] * W);
  }
  std::int64_t channel[U], left[U];
  Factors low[U];
#pragma unroll
  for (int u = 0; u < U; ++u) {
    channel[u] = args.channel(unit[u] * W, left[u]);
    low[u] = op.factors(channel[u]);
  }
#pragma unroll
  for (int u = 0; u < U; ++u) {
    Factors high = low[u];
    if (W > 1 && left[u] < W) high = op.factors(channel[u] + 1 == args.channels ? 0 : channel[u] + 1);
    Vector<T, W> result;
#pragma unroll
    for (int j = 0; j < W; ++j) {
      C at[N];
#pragma unroll
      for (int k = 0; k < N; ++k) at[k] = static_cast<C>(in[u][k].at[j]);
      result.at[j] = static_cast<T>(op.apply(j < left[u] ? low[u] : high, at));
    }
    if (first + u * kChannelThreads < units)
      *reinterpret_cast<Vector<T, W>*>(args.out + unit[u] * W) = result;
  }
  if (W == 1 || blockIdx.x != 0) return;
  const std::int64_t element = units * W + threadIdx.x;
  if (element >= count) return;
  std::int64_t rest;
  const Factors factors = op.factors(args.channel(element, rest));
  C at[N];
#pragma unroll
  for (int k = 0; k < N; ++k) at[k] = static_cast<C>(op.in[k][element]);
  args.out[element] = static_cast<T>(op.apply(factors, at));
}

/// Uses one block for a tile of columns and a chunk of the samples.
template <class Op, int W>
__global__ void __launch_bounds__(kChannelThreads, 2)
    channel_columns_kernel(const __grid_constant__ ApplyArgs<Op> args) {
  using T = typename Op::T;
  using C = Compute<T>;
  constexpr int N = Op::kInputs, L = kColumnLoads<N>;
  const Op& op = args.op;
  const ChannelPlan& plan = args.plan;
  const unsigned tiles = static_cast<unsigned>(plan.jobs), across = static_cast<unsigned>(plan.across);
  const unsigned piece = blockIdx.x / tiles, tile = blockIdx.x - piece * tiles;
  const unsigned down = threadIdx.x / across, unit = threadIdx.x - down * across;
  const std::int64_t columns = args.channels * args.places, step = plan.down;
  const std::int64_t column = (static_cast<std::int64_t>(tile) * across + unit) * W;
  const std::int64_t begin = piece * plan.piece,
                     end = piece + 1 == plan.pieces ? plan.count : begin + plan.piece;
  if (down >= step || column >= columns) return;
  typename Op::Factors factors[W];
  std::int64_t channel = column / args.places, place = column - channel * args.places;
#pragma unroll
  for (int j = 0; j < W; ++j) {
    factors[j] = op.factors(channel);
    if (++place == args.places) {
      place = 0;
      ++channel;
    }
  }
  const auto put = [&](const Vector<T, W>(&in)[N], std::int64_t row) {
    Vector<T, W> result;
#pragma unroll
    for (int j = 0; j < W; ++j) {
      C at[N];
#pragma unroll
      for (int k = 0; k < N; ++k) at[k] = static_cast<C>(in[k].at[j]);
      result.at[j] = static_cast<T>(op.apply(factors[j], at));
    }
    store_vector(args.out + row * columns + column, result);
  };
  std::int64_t row = begin + down;
  for (; row + (L - 1) * step < end; row += L * step) {
    Vector<T, W> in[L][N];
#pragma unroll
    for (int l = 0; l < L; ++l)
#pragma unroll
      for (int k = 0; k < N; ++k) in[l][k] = load_unit<Op, W>(op, k, (row + l * step) * columns + column);
#pragma unroll
    for (int l = 0; l < L; ++l) put(in[l], row + l * step);
  }
  for (; row < end; row += step) {
    Vector<T, W> in[N];
#pragma unroll
    for (int k = 0; k < N; ++k) in[k] = load_unit<Op, W>(op, k, row * columns + column);
    put(in, row);
  }
}

template <class Op>
void apply_channels(Device device, const Op& op, NdArray& out, const NormShape& s) {
  using T = typename Op::T;
  constexpr int V = kVectorWidth<T>, N = Op::kInputs;
  const std::int64_t columns = s.channels * s.places, count = s.batch * columns;
  if (count == 0) return;
  T* const to = out.address_as<T>();
  bool aligned = reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
  for (const T* array : op.in) aligned = aligned && reinterpret_cast<std::uintptr_t>(array) % 16 == 0;
  ApplyArgs<Op> args{op, to, s.batch, s.channels, s.places, {}, count <= INT32_MAX, {}, {}};
  if (aligned && s.places < V && columns % V == 0) {
    args.plan = plan_channel_columns(s.batch, columns, V, kColumnLoads<N>, multiprocessors(device));
    launch_independent(device, {dim3(grid_blocks(args.plan.jobs * args.plan.pieces)), dim3(kChannelThreads)},
                       &channel_columns_kernel<Op, V>, args);
    return;
  }
  if (args.small) {
    args.place_divisor = FastDivisor(static_cast<std::uint32_t>(s.places));
    args.channel_divisor = FastDivisor(static_cast<std::uint32_t>(s.channels));
  }
  const bool vectors = aligned && s.places >= V;
  const std::int64_t each = kChannelThreads * (vectors ? kApplyLoads<N, V> * V : kApplyLoads<N, 1>);
  launch_independent(device, {dim3(grid_blocks(ceil_div(count, each))), dim3(kChannelThreads)},
                     vectors ? &channel_run_kernel<Op, V> : &channel_run_kernel<Op, 1>, args);
}

}  // namespace

void normalise_channels(NdArray& out, const NormSaved& in, const NdArray& bias, const NormShape& s) {
  visit_floating(in.x.dtype(), "batch_norm", [&]<class T> {
    using C = Compute<T>;
    apply_channels(out.device(),
                   Normalise<T>{{in.x.address_as<T>()},
                                in.mean.address_as<C>(),
                                in.rstd.address_as<C>(),
                                data_or_null<T>(in.weight),
                                data_or_null<T>(bias)},
                   out, s);
  });
}

void channel_input_grad(NdArray& dx, const NdArray& dy, const NdArray& x, const NdArray& mean,
                        const NdArray& factors, const NormShape& s) {
  visit_floating(dy.dtype(), "batch_norm_backward", [&]<class T> {
    using C = Compute<T>;
    const C* const scale = factors.address_as<C>();
    apply_channels(dx.device(),
                   InputGrad<T>{{dy.address_as<T>(), x.address_as<T>()},
                                mean.address_as<C>(),
                                scale,
                                scale + s.channels,
                                scale + 2 * s.channels},
                   dx, s);
  });
}

}  // namespace ebb::cuda
