// Batch normalisation on the device: channel sums, then one elementwise pass.
#include <ebb/core/visit.h>

#include "kernel/cuda/map.h"
#include "kernel/cuda/walk.h"
#include "ops/norm/cuda.h"
#include "ops/norm/cuda_channels.h"

namespace ebb::cuda {
namespace {

using kernels::BatchStatistics;
using kernels::NormGrads;
using kernels::NormSaved;

// Mean and sum of squared differences from it. Joining those of two parts does not cancel.
template <class C>
struct Moments {
  C count, mean, squares;
  EBB_HD Moments operator+(const Moments& b) const {
    if (count == C(0)) return b;
    if (b.count == C(0)) return *this;
    const C all = count + b.count, share = b.count / all, apart = b.mean - mean;
    return {all, mean + apart * share, squares + b.squares + apart * apart * count * share};
  }
};

// One pass: a thread sums the differences of its elements from its first one, and their squares.
template <class T>
struct ChannelMoments {
  using C = Compute<T>;
  using Sum = Moments<C>;
  struct Own {
    std::int64_t count;
    C first, sum, squares;
  };
  const T* x;
  C *mean, *var;
  EBB_HD void add(Own& own, std::int64_t at) const {
    const C value = static_cast<C>(x[at]);
    if (own.count++ == 0) own.first = value;
    const C apart = value - own.first;
    own.sum += apart;
    own.squares += apart * apart;
  }
  EBB_HD Sum sum(const Own& own) const {
    if (own.count == 0) return {C(0), C(0), C(0)};
    const C count = static_cast<C>(own.count), shift = own.sum / count;
    return {count, own.first + shift, own.squares - own.sum * shift};
  }
  EBB_HD void finish(std::int64_t c, Sum all) const {
    mean[c] = all.count > C(0) ? all.mean : C(NAN);
    var[c] = all.squares < C(0) ? C(0) : all.squares / all.count;
  }
};

/// out = (x - mean) rstd w + b.
struct Normalise {
  template <class C>
  EBB_HD C operator()(C x, C mean, C rstd, C w, C b) const {
    return (x - mean) * (rstd * w) + b;
  }
};

// What dx needs of each channel: dx = scale dy - slope (x - mean) - shift.
template <class T>
struct ChannelGrads {
  using C = Compute<T>;
  const T *x, *dy, *weight;
  const C *mean, *rstd;
  T *dweight, *dbias;
  C *scale, *slope, *shift;
  C count;
  bool training;
  EBB_HD PairSum<C> load(std::int64_t, std::int64_t c, std::int64_t at) const {
    const C g = static_cast<C>(dy[at]);
    return {(static_cast<C>(x[at]) - mean[c]) * g, g};
  }
  EBB_HD void finish(std::int64_t c, PairSum<C> sum) const {
    const C r = rstd[c];
    if (dweight) dweight[c] = static_cast<T>(sum.first * r);
    if (dbias) dbias[c] = static_cast<T>(sum.second);
    const C s = r * (weight ? static_cast<C>(weight[c]) : C(1));
    scale[c] = s;
    slope[c] = training ? sum.first / count * r * r * s : C(0);
    shift[c] = training ? sum.second / count * s : C(0);
  }
};

struct InputGrad {
  template <class C>
  EBB_HD C operator()(C dy, C x, C mean, C scale, C slope, C shift) const {
    return scale * dy - slope * (x - mean) - shift;
  }
};

template <class T>
constexpr MapKernels<6> kNormalise = map_kernels<Normalise, T, T, Compute<T>, Compute<T>, T, T>();
template <class T>
constexpr MapKernels<7> kInputGrad =
    map_kernels<InputGrad, T, T, T, Compute<T>, Compute<T>, Compute<T>, Compute<T>>();

// Arrays in their common shape.
NdArray as_values(const NdArray& x, const NormShape& s) {
  return x.as_strided({s.batch, s.channels, s.places}, {s.channels * s.places, s.places, 1}, x.offset());
}
NdArray as_channels(const NdArray& x, const NormShape& s) {
  return x.as_strided({s.channels, 1}, {1, 1}, x.offset());
}

template <class T>
MapInput number(T value) {
  MapInput input;
  __builtin_memcpy(&input.bits, &value, sizeof(T));
  return input;
}

}  // namespace

namespace {

// rstd = 1 / sqrt(var + eps) of each channel.
template <class C>
struct ReciprocalDeviation {
  C* rstd;
  const C* var;
  double eps;
  __device__ void operator()(std::int64_t c) const {
    rstd[c] = static_cast<C>(1 / std::sqrt(static_cast<double>(var[c]) + eps));
  }
};

// And back: to within the rounding of var + eps, which is all that a running variance is read for.
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
  const NdArray var =
      stats.var.defined() ? stats.var : NdArray::empty({s.channels}, dtype_of<C>(), x.device());
  channel_sums(x.device(), ChannelMoments<T>{x.data_as<T>(), stats.mean.data_as<C>(), var.data_as<C>()}, s);
  for_each(x.device(), s.channels, ReciprocalDeviation<C>{stats.rstd.data_as<C>(), var.data_as<C>(), eps});
}

template <class T>
void apply_as(NdArray& out, const NormSaved& in, const NdArray& bias, const NormShape& s) {
  NdArray to = as_values(out, s);
  const NdArray x = as_values(in.x, s), mean = as_channels(in.mean, s), rstd = as_channels(in.rstd, s);
  const NdArray w = in.weight.defined() ? as_channels(in.weight, s) : NdArray();
  const NdArray b = bias.defined() ? as_channels(bias, s) : NdArray();
  const MapInput scale = w.defined() ? MapInput{&w} : number(T(1)),
                 shift = b.defined() ? MapInput{&b} : number(T(0));
  const Normalise op;
  launch_map<6>("batch_norm", kNormalise<T>, to,
                {MapInput{&x}, MapInput{&mean}, MapInput{&rstd}, scale, shift}, &op, sizeof(op));
}

template <class T>
void backward_as(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s, bool training) {
  using C = Compute<T>;
  const NdArray factors = NdArray::empty({3, s.channels, 1}, dtype_of<C>(), dy.device());
  C* const scale = factors.data_as<C>();
  channel_sums(dy.device(),
               ChannelGrads<T>{in.x.data_as<T>(), dy.data_as<T>(), data_or_null<T>(in.weight),
                               in.mean.data_as<C>(), in.rstd.data_as<C>(), data_or_null<T>(out.dweight),
                               data_or_null<T>(out.dbias), scale, scale + s.channels, scale + 2 * s.channels,
                               static_cast<C>(s.batch * s.places), training},
               s);
  if (!out.dx.defined()) return;
  NdArray to = as_values(out.dx, s);
  const NdArray grad = as_values(dy, s), x = as_values(in.x, s), mean = as_channels(in.mean, s);
  const NdArray scales = factors.as_strided({s.channels, 1}, {1, 1}, 0);
  const NdArray slopes = factors.as_strided({s.channels, 1}, {1, 1}, s.channels);
  const NdArray shifts = factors.as_strided({s.channels, 1}, {1, 1}, 2 * s.channels);
  const InputGrad op;
  launch_map<7>("batch_norm_backward", kInputGrad<T>, to,
                {MapInput{&grad}, MapInput{&x}, MapInput{&mean}, MapInput{&scales}, MapInput{&slopes},
                 MapInput{&shifts}},
                &op, sizeof(op));
}

}  // namespace

void batch_norm_apply(NdArray& out, const NormSaved& in, const NdArray& bias, const NormShape& s) {
  visit_floating(in.x.dtype(), "batch_norm", [&]<class T> { apply_as<T>(out, in, bias, s); });
}

void batch_norm_train(NdArray& out, BatchStatistics& stats, const NdArray& x, const NdArray& weight,
                      const NdArray& bias, const NormShape& s, double eps) {
  if (batch_norm_train_by_library(out, stats, x, weight, bias, s, eps)) {
    if (stats.var.defined())
      for_each(x.device(), s.channels,
               VarianceOf<float>{stats.var.data_as<float>(), stats.rstd.data_as<float>(), eps});
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
