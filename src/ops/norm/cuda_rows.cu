// layer_norm and group_norm on the device, with one thread group for each row. A row that fits into the
// registers of its group is read once. A longer row is read twice: once for its mean and variance, and once
// for the result. Layer norm is computed as group norm with one group and one place.
#include <ebb/core/visit.h>

#include "kernel/cuda/row.h"
#include "kernel/elementwise_plan.h"
#include "kernel/reducers.h"
#include "ops/norm/cuda.h"
#include "ops/norm/cuda_affine.h"
#include "ops/norm/cuda_channels.h"

#include <cmath>

namespace ebb::cuda {
namespace {

using kernels::NormGrads;
using kernels::NormInput;
using kernels::NormSaved;

// The type for squares of T. Squares of bfloat16 and float may overflow a float.
template <class T>
using SquaresOf = std::conditional_t<std::is_same_v<T, Half>, float, double>;

// The number of elements of an array that a thread keeps in registers (the backward pass has two arrays).
constexpr int kKept = 16;
// The largest number of threads for a row in registers. Doubles, and elements that are loaded one by one,
// need more than the 64 registers that are available to each of 1024 threads.
template <class T, bool kVectors>
constexpr int kThreads = sizeof(T) == 8 || !kVectors ? kKeptThreads : kTeamThreads;
template <class T>
constexpr int kKeptBackward = sizeof(T) == 8 ? 10 : 16;

// The weights and biases of the values of a row: one of each for each value (kLayer) or for each channel.
// Both may be null.
template <class T, bool kLayer>
struct Affine {
  using C = Compute<T>;
  const T *weight, *bias;
  std::int64_t groups, each;
  FastDivisor places;

  __device__ std::int64_t channel(std::int64_t row, std::int64_t i) const {
    return kLayer ? i : row % groups * each + places.divide(static_cast<std::uint32_t>(i));
  }
  __device__ C scale(std::int64_t row, std::int64_t i) const {
    return weight ? static_cast<C>(weight[channel(row, i)]) : C(1);
  }
  __device__ C apply(std::int64_t row, std::int64_t i, C value) const {
    if (!weight && !bias) return value;
    const std::int64_t c = channel(row, i);
    return value * (weight ? static_cast<C>(weight[c]) : C(1)) + (bias ? static_cast<C>(bias[c]) : C(0));
  }
};

template <class T, bool kLayer>
struct NormArgs {
  using C = Compute<T>;
  T* out;
  C *mean, *rstd;
  const T *x, *residual;  // residual may be null; otherwise `sum` receives x + residual
  T* sum;
  Affine<T, kLayer> affine;
  Lines lines;
  double eps;
  bool centred, vectors;

  // Returns 1 / sqrt(variance + eps). Takes the square root in C, after scaling the argument into the range
  // of C by a power of 4.
  __device__ C rstd_of(SquaresOf<T> variance) const {
    using W = SquaresOf<T>;
    const W sum = variance + static_cast<W>(eps);
    if constexpr (std::is_same_v<W, C>) {
      return 1 / std::sqrt(sum);
    } else {
      const bool large = sum > W(0x1p100), small = sum < W(0x1p-100);
      const W power = large ? W(0x1p-160) : small ? W(0x1p160) : W(1);
      const C root = large ? C(0x1p-80) : small ? C(0x1p80) : C(1);
      return root / std::sqrt(static_cast<C>(sum * power));
    }
  }
};

/// Returns the sum of two values, rounded to the dtype.
template <class T>
__device__ T sum_of(T a, T b) {
  return static_cast<T>(static_cast<Compute<T>>(a) + static_cast<Compute<T>>(b));
}

template <class T, bool kLayer, int kElements, bool kVectors>
__global__ void __launch_bounds__(kElements == kFewElements ? kTeamBlock : kThreads<T, kVectors>, 1)
    norm_kept_kernel(const __grid_constant__ NormArgs<T, kLayer> args) {
  using C = Compute<T>;
  using Part = RowPart<T, kElements>;
  const RowTeam team(args.lines);
  const Part part(team, args.lines.n, kVectors);
  const std::int64_t row = team.active ? team.line : 0;
  const T* const x = args.x + row * args.lines.n;
  const C n = static_cast<C>(args.lines.n);
  C at[Part::kUnits][Part::kWidth];
  C sum = 0;
  const auto take = [&]<bool kAdds> {
    Packed<T, Part::kWidth> loaded[Part::kUnits], more[Part::kUnits];
    const auto load = [&](int u) {
      loaded[u] = part.load(x, u);
      if constexpr (kAdds) more[u] = part.load(args.residual + row * args.lines.n, u);
    };
    if constexpr (kVectors) {  // all loads are issued before the first use
#pragma unroll
      for (int u = 0; u < Part::kUnits; ++u) load(u);
    }
#pragma unroll
    for (int u = 0; u < Part::kUnits; ++u) {
      if constexpr (!kVectors) load(u);
      auto unit = loaded[u].vector();
      if constexpr (kAdds) {
        const auto addend = more[u].vector();
#pragma unroll
        for (int j = 0; j < Part::kWidth; ++j) unit.at[j] = sum_of(unit.at[j], addend.at[j]);
        if (team.active) part.store(args.sum + row * args.lines.n, u, unit);
      }
#pragma unroll
      for (int j = 0; j < Part::kWidth; ++j) {
        at[u][j] = static_cast<C>(unit.at[j]);  // 0 past the end
        sum += at[u][j];
      }
    }
  };
  if (kLayer && args.residual)
    take.template operator()<true>();
  else
    take.template operator()<false>();
  const C mean = args.centred ? team.reduce(sum, Plus()) / n : C(0);
  SquaresOf<T> squares = 0;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u)
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j) {
      at[u][j] -= mean;
      const auto apart = static_cast<SquaresOf<T>>(at[u][j]);
      if (part.has(u, j)) squares += apart * apart;
    }
  const C rstd = args.rstd_of(team.reduce(squares, Plus()) / static_cast<SquaresOf<T>>(args.lines.n));
  if (!team.active) return;
  if (team.rank == 0) {
    args.mean[row] = mean;
    args.rstd[row] = rstd;
  }
  T* const out = args.out + row * args.lines.n;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    typename Part::Unit unit;
    if constexpr (kLayer) {
      const auto weight = part.load(args.affine.weight, u, args.affine.weight != nullptr).vector();
      const auto bias = part.load(args.affine.bias, u, args.affine.bias != nullptr).vector();
#pragma unroll
      for (int j = 0; j < Part::kWidth; ++j) {
        const C value = at[u][j] * rstd, w = args.affine.weight ? static_cast<C>(weight.at[j]) : C(1);
        unit.at[j] = static_cast<T>(value * w + static_cast<C>(bias.at[j]));
      }
    } else {
#pragma unroll
      for (int j = 0; j < Part::kWidth; ++j)
        if (part.has(u, j))
          unit.at[j] = static_cast<T>(args.affine.apply(row, part.index(u, j), at[u][j] * rstd));
    }
    part.store(out, u, unit);
  }
}

template <class T, bool kLayer>
__global__ void __launch_bounds__(kTeamThreads, 1)
    norm_rows_kernel(const __grid_constant__ NormArgs<T, kLayer> args) {
  using C = Compute<T>;
  constexpr int V = kVectorWidth<T>;
  using Unit = Vector<T, V>;
  using W = SquaresOf<T>;
  using Moments = reducers::Moments<W>;
  const RowTeam team(args.lines);  // one team for each block, because rows are long
  const std::int64_t row = team.line, n = args.lines.n;
  const bool adds = kLayer && args.residual;
  const T *const first = args.x + row * n, *const more = adds ? args.residual + row * n : nullptr;
  T *const out = args.out + row * n, *const sum = adds ? args.sum + row * n : nullptr;
  const T* const x = adds ? sum : first;  // `sum` is read only after it is written
  Moments moments = Moments::none();
  stream_row(
      team, first, args.vectors, n,
      [&](std::int64_t i) {
        const T value = adds ? sum_of(first[i], more[i]) : first[i];
        if (adds) sum[i] = value;
        moments.take(static_cast<W>(static_cast<C>(value)));
      },
      [&](std::int64_t i) {
        Unit unit = *reinterpret_cast<const Unit*>(first + i);
        if (adds) {
          const Unit addend = *reinterpret_cast<const Unit*>(more + i);
          for (int j = 0; j < V; ++j) unit.at[j] = sum_of(unit.at[j], addend.at[j]);
          store_vector(sum + i, unit);
        }
        for (int j = 0; j < V; ++j) moments.take(static_cast<W>(static_cast<C>(unit.at[j])));
      });
  moments = team.reduce(moments, [](const Moments& a, const Moments& b) { return Moments::merge(a, b); });
  const W variance = moments.deviations() / static_cast<W>(n), average = moments.mean();
  const C mean = args.centred ? static_cast<C>(average) : C(0);
  const C rstd = args.rstd_of(args.centred ? variance : variance + average * average);
  if (team.rank == 0) {
    args.mean[row] = mean;
    args.rstd[row] = rstd;
  }
  const auto result = [&](std::int64_t i, T value) {
    return static_cast<T>(args.affine.apply(row, i, (static_cast<C>(value) - mean) * rstd));
  };
  stream_row(
      team, x, args.vectors, n, [&](std::int64_t i) { out[i] = result(i, x[i]); },
      [&](std::int64_t i) {
        Unit unit = *reinterpret_cast<const Unit*>(x + i);
        for (int j = 0; j < V; ++j) unit.at[j] = result(i + j, unit.at[j]);
        store_vector(out + i, unit);
      });
}

template <class T, bool kLayer>
struct NormGradArgs {
  using C = Compute<T>;
  T* dx;
  const T *dy, *x, *more;  // `more` may be null; otherwise it is added to dx
  const C *mean, *rstd;
  Affine<T, kLayer> affine;
  Lines lines;
  bool centred, vectors;
};

/// Computes dx = (g - average(g) - (x - mean) slope) rstd with g = dy weight. If `centred` is false,
/// average(g) is omitted.
template <class C>
struct InputGrad {
  C mean, rstd, average, slope;
  __device__ InputGrad(C mean_, C rstd_, PairSum<C> sum, C n, bool centred = true)
      : mean(mean_),
        rstd(rstd_),
        average(centred ? sum.first / n : C(0)),
        slope(sum.second * rstd_ * rstd_ / n) {}
  __device__ C operator()(C grad, C x) const { return (grad - average - (x - mean) * slope) * rstd; }
};

/// The backward pass of group norm. The backward pass of layer norm is in cuda_layer.cu.
template <class T, int kElements>
__global__ void __launch_bounds__(kept_block(kElements), 1)
    norm_backward_kept_kernel(const __grid_constant__ NormGradArgs<T, false> args) {
  using C = Compute<T>;
  using Part = RowPart<T, kElements>;
  const RowTeam team(args.lines);
  const Part part(team, args.lines.n, args.vectors);
  const std::int64_t row = team.active ? team.line : 0, start = row * args.lines.n;
  const C mean = args.mean[row], rstd = args.rstd[row];
  Packed<T, Part::kWidth> g[Part::kUnits], x[Part::kUnits];
  part.load(args.dy + start, g);
  part.load(args.x + start, x);
  // Computes dy weight again. The values are in the registers and the cache.
  const auto scaled = [&](int u, C(&to)[Part::kWidth]) {
    const auto unit = g[u].vector();
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j) {
      to[j] = static_cast<C>(unit.at[j]);
      if (args.affine.weight && part.has(u, j)) to[j] *= args.affine.scale(row, part.index(u, j));
    }
  };
  PairSum<C> sum{};
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    C grad[Part::kWidth];
    scaled(u, grad);
    const auto unit = x[u].vector();
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j)
      sum = sum + PairSum<C>{grad[j], grad[j] * (static_cast<C>(unit.at[j]) - mean)};
  }
  sum = team.reduce(sum, Plus());
  if (!team.active) return;
  const InputGrad<C> result(mean, rstd, sum, static_cast<C>(args.lines.n));
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    C grad[Part::kWidth];
    scaled(u, grad);
    auto unit = x[u].vector();
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j)
      unit.at[j] = static_cast<T>(result(grad[j], static_cast<C>(unit.at[j])));
    part.store(args.dx + start, u, unit);
  }
}

template <class T, bool kLayer>
__global__ void __launch_bounds__(kTeamThreads, 1)
    norm_backward_rows_kernel(const __grid_constant__ NormGradArgs<T, kLayer> args) {
  using C = Compute<T>;
  constexpr int V = kVectorWidth<T>;
  using Unit = Vector<T, V>;
  const RowTeam team(args.lines);
  const std::int64_t row = team.line, n = args.lines.n;
  const T *const dy = args.dy + row * n, *const x = args.x + row * n;
  T* const dx = args.dx + row * n;
  const C mean = args.mean[row], rstd = args.rstd[row];
  const auto grad = [&](std::int64_t i, T value) {
    return static_cast<C>(value) * args.affine.scale(row, i);
  };
  PairSum<C> sum{};
  const auto take = [&](std::int64_t i, T value, T at) {
    const C g = grad(i, value);
    sum = sum + PairSum<C>{g, g * (static_cast<C>(at) - mean)};
  };
  stream_row(
      team, x, args.vectors, n, [&](std::int64_t i) { take(i, dy[i], x[i]); },
      [&](std::int64_t i) {
        const Unit g = *reinterpret_cast<const Unit*>(dy + i), at = *reinterpret_cast<const Unit*>(x + i);
        for (int j = 0; j < V; ++j) take(i + j, g.at[j], at.at[j]);
      });
  sum = team.reduce(sum, Plus());
  const InputGrad<C> result(mean, rstd, sum, static_cast<C>(n), args.centred);
  const T* const more = args.more ? args.more + row * n : nullptr;
  const auto gradient = [&](std::int64_t i, T value, T at) {
    const C own = result(grad(i, value), static_cast<C>(at));
    return static_cast<T>(more ? own + static_cast<C>(more[i]) : own);
  };
  stream_row(
      team, x, args.vectors, n, [&](std::int64_t i) { dx[i] = gradient(i, dy[i], x[i]); },
      [&](std::int64_t i) {
        const Unit g = *reinterpret_cast<const Unit*>(dy + i);
        Unit at = *reinterpret_cast<const Unit*>(x + i);
        for (int j = 0; j < V; ++j) at.at[j] = gradient(i + j, g.at[j], at.at[j]);
        store_vector(dx + i, at);
      });
}

/// Computes dweight and dbias of group norm: sums over the samples and positions of a channel.
template <class Value>
struct ChannelGrads {
  using T = Value;
  using C = Compute<T>;
  using Sum = PairSum<C>;
  struct Own {
    std::int64_t group;
    Sum sum;
  };
  static constexpr int kInputs = 2;
  const T* in[kInputs];  // dy, x
  const C *mean, *rstd;
  T *dweight, *dbias;
  std::int64_t groups, each;
  EBB_HD Own own(std::int64_t c) const { return {c / each, {C(0), C(0)}}; }
  EBB_HD void first(Own&, const C (&)[2]) const {}
  EBB_HD void add(Own& own, std::int64_t sample, const C (&at)[2]) const {
    const std::int64_t row = sample * groups + own.group;
    own.sum = own.sum + Sum{at[0] * (at[1] - mean[row]) * rstd[row], at[0]};
  }
  EBB_HD Own part(const Own& own) const { return {own.group, {C(0), C(0)}}; }
  EBB_HD void join(Own& own, const Own& part) const { own.sum = own.sum + part.sum; }
  EBB_HD Sum sum(const Own& own, C) const { return own.sum; }
  EBB_HD void finish(std::int64_t c, Sum sum) const {
    if (dweight) dweight[c] = static_cast<T>(sum.first);
    if (dbias) dbias[c] = static_cast<T>(sum.second);
  }
};

template <class T, bool kLayer>
Affine<T, kLayer> affine_of(const NdArray& weight, const NdArray& bias, const NormShape& s) {
  EBB_CHECK(s.channels / s.groups * s.places <= INT32_MAX,
            kLayer ? "layer_norm: a row has " : "group_norm: a group has ", s.channels / s.groups * s.places,
            " values, but Device::CUDA supports at most 2147483647.");
  return {data_or_null<T>(weight), data_or_null<T>(bias), s.groups, s.channels / s.groups,
          FastDivisor(static_cast<std::uint32_t>(s.places))};
}

template <bool kLayer>
void forward(NdArray& out, NdArray& mean, NdArray& rstd, const NormInput& in, const NdArray& weight,
             const NdArray& bias, const NormShape& s, double eps) {
  const NdArray& x = in.x;
  const Lines lines({s.batch * s.groups, s.channels / s.groups * s.places}, 1);
  if (lines.count() == 0) return;
  visit_floating(x.dtype(), "normalisation", [&]<class T> {
    using C = Compute<T>;
    NormArgs<T, kLayer> args{out.address_as<T>(),
                             mean.address_as<C>(),
                             rstd.address_as<C>(),
                             x.address_as<T>(),
                             data_or_null<T>(in.residual),
                             data_or_null<T>(in.sum),
                             affine_of<T, kLayer>(weight, bias, s),
                             lines,
                             eps,
                             s.centred,
                             false};
    const bool vectors = rows_are_vectors<T>(lines.n, args.out, args.x, args.residual, args.sum) &&
                         (!kLayer || rows_are_vectors<T>(lines.n, args.affine.weight, args.affine.bias));
    const auto by_vectors = [&]<int kElements>(const Grid& grid) {
      launch(x.device(), grid, &norm_kept_kernel<T, kLayer, kElements, true>, args);
    };
    const auto singly = [&]<int kElements>(const Grid& grid) {
      launch(x.device(), grid, &norm_kept_kernel<T, kLayer, kElements, false>, args);
    };
    const bool kept = vectors ? with_kept_rows<kKept, kThreads<T, true>>(lines, by_vectors)
                              : with_kept_rows<kKept, kThreads<T, false>>(lines, singly);
    if (kept) return;
    args.vectors =
        streams_with(args.out, args.x) &&
        (!args.residual || (streams_with(args.residual, args.x) && streams_with(args.sum, args.x)));
    launch(x.device(), row_grid(lines, kKept), &norm_rows_kernel<T, kLayer>, args);
  });
}

template <bool kLayer>
void backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s) {
  const Lines lines({s.batch * s.groups, s.channels / s.groups * s.places}, 1);
  const Device device = dy.device();
  if (kLayer && out.dx.defined() && lines.count() > 0 &&
      layer_norm_backward_one_pass(out, dy, in, lines, s.centred))
    return;
  visit_floating(dy.dtype(), "normalisation_backward", [&]<class T> {
    using C = Compute<T>;
    NormGradArgs<T, kLayer> args{nullptr,
                                 dy.address_as<T>(),
                                 in.x.address_as<T>(),
                                 data_or_null<T>(in.more),
                                 in.mean.address_as<C>(),
                                 in.rstd.address_as<C>(),
                                 affine_of<T, kLayer>(in.weight, NdArray(), s),
                                 lines,
                                 s.centred,
                                 false};
    if (out.dweight.defined() || out.dbias.defined()) {
      T *const dweight = data_or_null<T>(out.dweight), *const dbias = data_or_null<T>(out.dbias);
      if constexpr (kLayer)
        affine_grads<T>(
            device,
            {args.dy, args.x, args.mean, args.rstd, {dweight, dbias}, nullptr, lines.count(), lines.n, 1, 0});
      else
        channel_sums(
            device,
            ChannelGrads<T>{
                {args.dy, args.x}, args.mean, args.rstd, dweight, dbias, s.groups, s.channels / s.groups},
            s);
    }
    if (!out.dx.defined() || lines.count() == 0) return;
    args.dx = out.dx.address_as<T>();
    if constexpr (!kLayer) {
      const bool kept = with_kept_rows<kKeptBackward<T>>(lines, [&]<int kElements>(const Grid& grid) {
        args.vectors = rows_are_vectors<T>(lines.n, args.dx, args.dy, args.x);
        launch(device, grid, &norm_backward_kept_kernel<T, kElements>, args);
      });
      if (kept) return;
    }
    args.vectors = streams_with(args.dx, args.x) && streams_with(args.dy, args.x);
    launch(device, row_grid(lines, kKeptBackward<T>), &norm_backward_rows_kernel<T, kLayer>, args);
  });
}

// Returns the shape of layer norm's rows as a shape of group norm.
NormShape as_groups(NormShape s) {
  s.groups = 1;
  s.places = 1;
  return s;
}

}  // namespace

void group_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NdArray& x, const NdArray& weight,
                const NdArray& bias, const NormShape& s, double eps) {
  forward<false>(out, mean, rstd, {x, {}, {}}, weight, bias, s, eps);
}
void group_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s) {
  backward<false>(out, dy, in, s);
}
void layer_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NormInput& in, const NdArray& weight,
                const NdArray& bias, const NormShape& s, double eps) {
  forward<true>(out, mean, rstd, in, weight, bias, as_groups(s), eps);
}
void layer_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s) {
  backward<true>(out, dy, in, as_groups(s));
}

}  // namespace ebb::cuda
