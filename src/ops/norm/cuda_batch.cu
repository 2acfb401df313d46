// batch_norm on the device: channel sums, then one elementwise pass (cuda_batch_apply.cu).
#include <ebb/core/visit.h>

#include "kernel/cuda/walk.h"
#include "ops/norm/cuda.h"
#include "ops/norm/cuda_channels.h"

#include <cmath>

namespace ebb::cuda {
namespace {

using kernels::BatchStatistics;
using kernels::NormGrads;
using kernels::NormSaved;

// The mean, its rounding error, and the sum of squared differences from the mean. The moments of two parts
// can be merged without cancellation, and without accumulating rounding errors of the means.
template <class C>
struct Moments {
  C count, mean, rest, squares;
  /// Returns moments whose mean is near + apart.
  EBB_HD static Moments around(C count, C near, C apart, C squares) {
    const C mean = near + apart, rest = apart - (mean - near);
    // An infinite mean has no rounding error.
    return {count, mean, rest - rest == C(0) ? rest : C(0), squares};
  }
  EBB_HD Moments operator+(const Moments& b) const {
    if (count == C(0)) return b;
    if (b.count == C(0)) return *this;
    const C all = count + b.count, share = b.count / all, gap = (b.mean - mean) + (b.rest - rest);
    return around(all, mean, rest + gap * share, squares + b.squares + gap * gap * count * share);
  }
};

// Computes moments in one pass. A thread sums the differences of its elements from its first element, and the
// squares of these differences.
template <class Value>
struct ChannelMoments {
  using T = Value;
  using C = Compute<T>;
  // Only float is accumulated in double. For the eight channels of a unit of 16-bit floats, doubles would not
  // fit into shared memory.
  using W = std::conditional_t<std::is_same_v<T, float>, double, C>;
  using Sum = Moments<W>;
  struct Own {
    W first, sum, squares;
  };
  static constexpr int kInputs = 1;
  const T* in[kInputs];
  C *mean, *var, *rstd;  // var may be null
  double eps;
  EBB_HD Own own(std::int64_t) const { return {W(0), W(0), W(0)}; }
  EBB_HD void first(Own& own, const C (&x)[1]) const { own.first = x[0]; }
  EBB_HD void add(Own& own, std::int64_t, const C (&x)[1]) const {
    const W apart = static_cast<W>(x[0]) - own.first;
    own.sum += apart;
    own.squares += apart * apart;
  }
  EBB_HD Own part(const Own& own) const { return {own.first, W(0), W(0)}; }
  EBB_HD void join(Own& own, const Own& part) const {
    own.sum += part.sum;
    own.squares += part.squares;
  }
  EBB_HD Sum sum(const Own& own, C number) const {
    const W count = number;
    if (count == W(0)) return {W(0), W(0), W(0), W(0)};
    const W apart = own.sum / count;
    return Sum::around(count, own.first, apart, own.squares - own.sum * apart);
  }
  EBB_HD void finish(std::int64_t c, Sum all) const {
    const double variance = all.squares < W(0) ? 0 : static_cast<double>(all.squares / all.count);
    mean[c] = all.count > W(0) ? static_cast<C>(all.mean) : C(NAN);
    rstd[c] = static_cast<C>(1 / std::sqrt(variance + eps));
    if (var) var[c] = static_cast<C>(variance);
  }
};

// Computes the gradients of weight and bias, and the factors of dx for each channel.
template <class Value>
struct ChannelGrads {
  using T = Value;
  using C = Compute<T>;
  using Sum = PairSum<C>;
  struct Own {
    C mean;
    Sum sum;
  };
  static constexpr int kInputs = 2;
  const T* in[kInputs];  // dy, x
  const T* weight;
  const C *mean, *rstd;
  T *dweight, *dbias;
  C *scale, *slope, *shift;
  C count;
  bool training;
  EBB_HD Own own(std::int64_t c) const { return {mean[c], {C(0), C(0)}}; }
  EBB_HD void first(Own&, const C (&)[2]) const {}
  EBB_HD void add(Own& own, std::int64_t, const C (&at)[2]) const {
    own.sum = own.sum + Sum{(at[1] - own.mean) * at[0], at[0]};
  }
  EBB_HD Own part(const Own& own) const { return {own.mean, {C(0), C(0)}}; }
  EBB_HD void join(Own& own, const Own& part) const { own.sum = own.sum + part.sum; }
  EBB_HD Sum sum(const Own& own, C) const { return own.sum; }
  EBB_HD void finish(std::int64_t c, Sum sum) const {
    const C r = rstd[c];
    if (dweight) dweight[c] = static_cast<T>(sum.first * r);
    if (dbias) dbias[c] = static_cast<T>(sum.second);
    const C s = r * (weight ? static_cast<C>(weight[c]) : C(1));
    scale[c] = s;
    slope[c] = training ? sum.first / count * r * r : C(0);
    shift[c] = training ? sum.second / count : C(0);
  }
};

// Computes the variance from rstd. It is exact up to the rounding of var + eps, which is enough for the
// running variance.
template <class C>
struct VarianceOf {
  C* var;
  const C* rstd;
  double eps;
  __device__ void operator()(std::int64_t c) const {
    const double r = static_cast<double>(rstd[c]), value = 1 / (r * r) - eps;
    var[c] = static_cast<C>(value < 0 ? 0 : value);
  }
};

template <class T>
void find_statistics(BatchStatistics& stats, const NdArray& x, const NormShape& s, double eps) {
  using C = Compute<T>;
  channel_sums(x.device(),
               ChannelMoments<T>{{x.address_as<T>()},
                                 stats.mean.address_as<C>(),
                                 data_or_null<C>(stats.var),
                                 stats.rstd.address_as<C>(),
                                 eps},
               s);
}

template <class T>
void backward_as(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s, bool training) {
  using C = Compute<T>;
  const NdArray factors = NdArray::empty({3, s.channels, 1}, dtype_of<C>(), dy.device());
  C* const scale = factors.address_as<C>();
  channel_sums(dy.device(),
               ChannelGrads<T>{{dy.address_as<T>(), in.x.address_as<T>()},
                               data_or_null<T>(in.weight),
                               in.mean.address_as<C>(),
                               in.rstd.address_as<C>(),
                               data_or_null<T>(out.dweight),
                               data_or_null<T>(out.dbias),
                               scale,
                               scale + s.channels,
                               scale + 2 * s.channels,
                               static_cast<C>(s.batch * s.places),
                               training},
               s);
  if (out.dx.defined()) channel_input_grad(out.dx, dy, in.x, in.mean, factors, s);
}

}  // namespace

void batch_norm_apply(NdArray& out, const NormSaved& in, const NdArray& bias, const NormShape& s) {
  normalise_channels(out, in, bias, s);
}

void batch_norm_train(NdArray& out, BatchStatistics& stats, const NdArray& x, const NdArray& weight,
                      const NdArray& bias, const NormShape& s, double eps) {
  if (batch_norm_train_by_library(out, stats, x, weight, bias, s, eps)) {
    if (stats.var.defined())
      for_each(x.device(), s.channels,
               VarianceOf<float>{stats.var.address_as<float>(), stats.rstd.address_as<float>(), eps});
    return;
  }
  visit_floating(x.dtype(), "batch_norm", [&]<class T> { find_statistics<T>(stats, x, s, eps); });
  batch_norm_apply(out, {x, stats.mean, stats.rstd, weight}, bias, s);
}

void batch_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s,
                         bool training) {
  if (training && batch_norm_backward_by_library(out, dy, in, s)) return;
  visit_floating(dy.dtype(), "batch_norm_backward",
                 [&]<class T> { backward_as<T>(out, dy, in, s, training); });
}

}  // namespace ebb::cuda
