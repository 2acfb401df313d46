// Layer and group normalisation on the device: a team a row, which is read once where it fits into shared
// memory. Layer norm is group norm with one group and one place.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/team.h"
#include "ops/norm/cuda.h"
#include "ops/norm/cuda_channels.h"

namespace ebb::cuda {
namespace {

using kernels::NormGrads;
using kernels::NormSaved;

constexpr std::int64_t kCachedBytes = 96 << 10;

// Which channel the i-th value of a row belongs to.
template <bool kLayer>
struct Channels {
  std::int64_t groups, each, places;
  __device__ std::int64_t of(std::int64_t row, std::int64_t i) const {
    return kLayer ? i : row % groups * each + i / places;
  }
};

template <class T, bool kLayer>
__global__ void norm_rows_kernel(T* out, Compute<T>* means, Compute<T>* rstds, const T* x, const T* weight,
                                 const T* bias, Lines lines, Channels<kLayer> channels, double eps,
                                 bool cached) {
  using C = Compute<T>;
  const RowTeam team(lines);
  C* const cache = cached ? dynamic_shared<C>() + threadIdx.y * lines.n : nullptr;
  const T* const from = x + (team.active ? team.line : 0) * lines.n;
  const auto value = [&](std::int64_t i) { return cache ? cache[i] : static_cast<C>(from[i]); };
  const C n = static_cast<C>(lines.n);
  C sum = 0;
  if (team.active)
    for (std::int64_t i = team.rank; i < lines.n; i += team.size) {
      const C v = static_cast<C>(from[i]);
      if (cache) cache[i] = v;
      sum += v;
    }
  const C mean = team.reduce(sum, Plus()) / n;
  sum = 0;
  if (team.active)
    for (std::int64_t i = team.rank; i < lines.n; i += team.size) {
      const C d = value(i) - mean;
      sum += d * d;
    }
  const C rstd = static_cast<C>(1 / std::sqrt(static_cast<double>(team.reduce(sum, Plus()) / n) + eps));
  if (!team.active) return;
  if (team.rank == 0) {
    means[team.line] = mean;
    rstds[team.line] = rstd;
  }
  T* const to = out + team.line * lines.n;
  for (std::int64_t i = team.rank; i < lines.n; i += team.size) {
    const std::int64_t c = channels.of(team.line, i);
    const C w = weight ? static_cast<C>(weight[c]) : C(1), b = bias ? static_cast<C>(bias[c]) : C(0);
    to[i] = static_cast<T>((value(i) - mean) * rstd * w + b);
  }
}

template <class T, bool kLayer>
__global__ void norm_rows_backward_kernel(T* dx, const T* dy, const T* x, const Compute<T>* means,
                                          const Compute<T>* rstds, const T* weight, Lines lines,
                                          Channels<kLayer> channels) {
  using C = Compute<T>;
  const RowTeam team(lines);
  const std::int64_t row = team.active ? team.line : 0, start = row * lines.n;
  const C mean = means[row], rstd = rstds[row], n = static_cast<C>(lines.n);
  const auto grad = [&](std::int64_t i) {
    return static_cast<C>(dy[start + i]) * (weight ? static_cast<C>(weight[channels.of(row, i)]) : C(1));
  };
  PairSum<C> sum{};
  if (team.active)
    for (std::int64_t i = team.rank; i < lines.n; i += team.size) {
      const C g = grad(i);
      sum = sum + PairSum<C>{g, g * (static_cast<C>(x[start + i]) - mean)};
    }
  sum = team.reduce(sum, Plus());
  if (!team.active) return;
  const C average = sum.first / n, slope = sum.second * rstd * rstd / n;
  for (std::int64_t i = team.rank; i < lines.n; i += team.size)
    dx[start + i] =
        static_cast<T>((grad(i) - average - (static_cast<C>(x[start + i]) - mean) * slope) * rstd);
}

/// dweight and dbias: sums over the samples and places of a channel.
template <class T>
struct AffineGrads {
  using C = Compute<T>;
  const T *x, *dy;
  const C *mean, *rstd;
  T *dweight, *dbias;
  std::int64_t groups, each;
  EBB_HD PairSum<C> load(std::int64_t n, std::int64_t c, std::int64_t at) const {
    const std::int64_t row = n * groups + c / each;
    const C g = static_cast<C>(dy[at]);
    return {g * (static_cast<C>(x[at]) - mean[row]) * rstd[row], g};
  }
  EBB_HD void finish(std::int64_t c, PairSum<C> sum) const {
    if (dweight) dweight[c] = static_cast<T>(sum.first);
    if (dbias) dbias[c] = static_cast<T>(sum.second);
  }
};

template <bool kLayer>
void forward(NdArray& out, NdArray& mean, NdArray& rstd, const NdArray& x, const NdArray& weight,
             const NdArray& bias, const NormShape& s, double eps) {
  const std::int64_t each = s.channels / s.groups;
  const Lines lines({s.batch * s.groups, each * s.places}, 1);
  if (lines.count() == 0) return;
  visit_floating(x.dtype(), "normalisation", [&]<class T> {
    using C = Compute<T>;
    Grid grid{RowTeam::blocks(lines), RowTeam::threads(lines)};
    const std::int64_t bytes = lines.n * static_cast<std::int64_t>(grid.threads.y * sizeof(C));
    const bool cached = bytes <= kCachedBytes;
    if (cached) grid.shared_bytes = static_cast<std::size_t>(bytes);
    launch(x.device(), grid, &norm_rows_kernel<T, kLayer>, out.data_as<T>(), mean.data_as<C>(),
           rstd.data_as<C>(), x.data_as<T>(), data_or_null<T>(weight), data_or_null<T>(bias), lines,
           Channels<kLayer>{s.groups, each, s.places}, eps, cached);
  });
}

template <bool kLayer>
void backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s) {
  const std::int64_t each = s.channels / s.groups;
  const Lines lines({s.batch * s.groups, each * s.places}, 1);
  visit_floating(dy.dtype(), "normalisation_backward", [&]<class T> {
    using C = Compute<T>;
    const T *const x = in.x.data_as<T>(), *const g = dy.data_as<T>();
    const C *const mean = in.mean.data_as<C>(), *const rstd = in.rstd.data_as<C>();
    if (out.dweight.defined() || out.dbias.defined())
      channel_sums(dy.device(),
                   AffineGrads<T>{x, g, mean, rstd, data_or_null<T>(out.dweight), data_or_null<T>(out.dbias),
                                  s.groups, each},
                   s);
    if (out.dx.defined() && lines.count() > 0)
      launch(dy.device(), {RowTeam::blocks(lines), RowTeam::threads(lines)},
             &norm_rows_backward_kernel<T, kLayer>, out.dx.data_as<T>(), g, x, mean, rstd,
             data_or_null<T>(in.weight), lines, Channels<kLayer>{s.groups, each, s.places});
  });
}

// Layer norm's rows as group norm sees them.
NormShape as_groups(NormShape s) {
  s.groups = 1;
  s.places = 1;
  return s;
}

}  // namespace

void group_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NdArray& x, const NdArray& weight,
                const NdArray& bias, const NormShape& s, double eps) {
  forward<false>(out, mean, rstd, x, weight, bias, s, eps);
}
void group_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s) {
  backward<false>(out, dy, in, s);
}
void layer_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NdArray& x, const NdArray& weight,
                const NdArray& bias, const NormShape& s, double eps) {
  forward<true>(out, mean, rstd, x, weight, bias, as_groups(s), eps);
}
void layer_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s) {
  backward<true>(out, dy, in, as_groups(s));
}

void register_norm() {
  kernels::batch_norm_stats.set_cuda(&batch_norm_stats);
  kernels::batch_norm_apply.set_cuda(&batch_norm_apply);
  kernels::batch_norm_backward.set_cuda(&batch_norm_backward);
  kernels::group_norm.set_cuda(&group_norm);
  kernels::group_norm_backward.set_cuda(&group_norm_backward);
  kernels::layer_norm.set_cuda(&layer_norm);
  kernels::layer_norm_backward.set_cuda(&layer_norm_backward);
}

}  // namespace ebb::cuda
