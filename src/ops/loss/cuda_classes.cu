// Losses over classes on the device. Cross-entropy reads a row once for its loss and once for its gradient.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/reduce.h"
#include "kernel/cuda/team.h"
#include "ops/copy/kernels.h"
#include "ops/loss/cuda.h"
#include "ops/reduce/math.h"

namespace ebb::cuda {
namespace {

using kernels::ClassTargets;

template <class T>
struct Targets {
  const std::int64_t* target;
  const T* weight;  // null for ones
  std::int64_t batch, classes, places, ignore_index;
  FaultSink faults;

  Targets(const ClassTargets& to, FaultSink sink)
      : target(to.target.data_as<std::int64_t>()),
        weight(to.weight.defined() ? to.weight.data_as<T>() : nullptr),
        batch(to.batch),
        classes(to.classes),
        places(to.places),
        ignore_index(to.ignore_index),
        faults(sink) {}

  /// The class t, or -1 if it is ignored or none.
  __device__ std::int64_t checked(std::int64_t t) const {
    if (t == ignore_index) return -1;
    if (t >= 0 && t < classes) return t;
    faults.note(t, classes);
    return -1;
  }
  __device__ Compute<T> weight_of(std::int64_t t) const {
    return t < 0 ? Compute<T>(0) : weight ? static_cast<Compute<T>>(weight[t]) : Compute<T>(1);
  }
  /// Where class t of place i stands in x.
  __device__ std::int64_t offset(std::int64_t i, std::int64_t t) const {
    return (i / places * classes + t) * places + i % places;
  }
};

struct LossAndWeight {
  double loss, weight;
};

// Over the places: the loss of each is logsum - x_t (logsum null: -x_t), weighted.
template <class T>
struct ClassLossSum {
  using In = std::int64_t;
  using Acc = LossAndWeight;
  using C = Compute<T>;
  Targets<T> targets;
  const T* x;
  const C* logsum;
  T* out;         // a place each, or the sum alone
  double* total;  // of the weights
  bool reduced, mean;

  __device__ Acc identity() const { return {0, 0}; }
  __device__ Acc load(std::int64_t target, std::int64_t, std::int64_t i) const {
    const std::int64_t t = targets.checked(target);
    const C weight = targets.weight_of(t);
    const C loss =
        t < 0 ? C(0) : ((logsum ? logsum[i] : C(0)) - static_cast<C>(x[targets.offset(i, t)])) * weight;
    if (!reduced) out[i] = static_cast<T>(loss);
    return {static_cast<double>(loss), static_cast<double>(weight)};
  }
  __device__ Acc merge(Acc a, Acc b) const { return {a.loss + b.loss, a.weight + b.weight}; }
  __device__ void store(std::int64_t, Acc sum) const {
    *total = sum.weight;
    if (reduced) *out = static_cast<T>(static_cast<C>(mean ? sum.loss / sum.weight : sum.loss));
  }
};

template <class T>
void class_loss(NdArray& out, NdArray& total, const NdArray& x, const NdArray* logsum, const ClassTargets& to,
                const Targets<T>& targets) {
  const ClassLossSum<T> op{
      targets,          x.data_as<T>(),          logsum ? logsum->data_as<Compute<T>>() : nullptr,
      out.data_as<T>(), total.data_as<double>(), to.reduced,
      to.mean};
  const std::int64_t places = to.batch * to.places;
  reduce(x.device(), op, to.target.as_strided({places}, {1}, to.target.offset()), 1);
}

/// The factor of one place's gradient: grad w_t, over the total of the weights for a mean.
template <class T>
struct Factors {
  const T* grad;
  const double* total;  // null unless it divides
  bool reduced;
  __device__ Compute<T> of(std::int64_t i, Compute<T> weight) const {
    const double g = static_cast<double>(static_cast<Compute<T>>(grad[reduced ? 0 : i]));
    return static_cast<Compute<T>>(total ? g / *total : g) * weight;
  }
};

template <class T>
Factors<T> factors(const NdArray& grad, const NdArray& total, const ClassTargets& to) {
  return {grad.data_as<T>(), to.reduced && to.mean ? total.data_as<double>() : nullptr, to.reduced};
}

template <class T>
__global__ void nll_backward_kernel(T* dx, Factors<T> factor, Targets<T> targets) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= targets.batch * targets.places) return;
  const std::int64_t t = targets.checked(targets.target[i]);
  if (t >= 0) dx[targets.offset(i, t)] = static_cast<T>(-factor.of(i, targets.weight_of(t)));
}

template <class T>
__global__ void logsum_kernel(Compute<T>* logsum, const T* x, Lines lines) {
  using C = Compute<T>;
  const RowTeam team(lines);
  const T* const row = x + (team.active ? team.line : 0) * lines.n;
  const reducing::Extreme<C, true> max;
  C top = max.identity();
  if (team.active)
    for (std::int64_t i = team.rank; i < lines.n; i += team.size)
      top = max.merge(top, static_cast<C>(row[i]));
  top = team.reduce(top, [&](C a, C b) { return max.merge(a, b); });
  C sum = 0;
  if (team.active)
    for (std::int64_t i = team.rank; i < lines.n; i += team.size)
      sum += std::exp(static_cast<C>(row[i]) - top);
  sum = team.reduce(sum, Plus());
  if (team.active && team.rank == 0) logsum[team.line] = top + std::log(sum);
}

template <class T>
__global__ void cross_entropy_backward_kernel(T* dx, const T* x, const Compute<T>* logsum, Lines lines,
                                              Factors<T> factor, Targets<T> targets) {
  using C = Compute<T>;
  const RowTeam team(lines);
  if (!team.active) return;
  const std::int64_t n = team.line, start = n * lines.n, t = targets.checked(targets.target[n]);
  const C f = t < 0 ? C(0) : factor.of(n, targets.weight_of(t)), log_sum = logsum[n];
  for (std::int64_t c = team.rank; c < lines.n; c += team.size)
    dx[start + c] =
        t < 0 ? T(0) : static_cast<T>(f * (std::exp(static_cast<C>(x[start + c]) - log_sum) - C(c == t)));
}

}  // namespace

void nll_loss(NdArray& out, NdArray& total, const NdArray& x, const ClassTargets& to) {
  visit_floating(x.dtype(), "nll_loss", [&]<class T> {
    class_loss<T>(out, total, x, nullptr, to, Targets<T>(to, fault_sink(x.device(), "nll_loss")));
  });
}

void nll_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& total, const ClassTargets& to) {
  kernels::fill(dx.device(), dx, 0);
  visit_floating(dx.dtype(), "nll_loss_backward", [&]<class T> {
    launch_independent(dx.device(), grid_for(to.batch * to.places, 256), &nll_backward_kernel<T>,
                       dx.data_as<T>(), factors<T>(grad, total, to),
                       Targets<T>(to, fault_sink(dx.device(), "nll_loss_backward")));
  });
}

void cross_entropy(NdArray& out, NdArray& total, NdArray& logsum, const NdArray& x, const ClassTargets& to) {
  const Lines lines({to.batch, to.classes}, 1);
  visit_floating(x.dtype(), "cross_entropy_loss", [&]<class T> {
    if (lines.count() > 0)
      launch(x.device(), {RowTeam::blocks(lines), RowTeam::threads(lines)}, &logsum_kernel<T>,
             logsum.data_as<Compute<T>>(), x.data_as<T>(), lines);
    class_loss<T>(out, total, x, &logsum, to, Targets<T>(to, fault_sink(x.device(), "cross_entropy_loss")));
  });
}

void cross_entropy_backward(NdArray& dx, const NdArray& grad, const NdArray& total, const NdArray& logsum,
                            const NdArray& x, const ClassTargets& to) {
  const Lines lines({to.batch, to.classes}, 1);
  if (lines.count() == 0) return;
  visit_floating(x.dtype(), "cross_entropy_loss_backward", [&]<class T> {
    launch(x.device(), {RowTeam::blocks(lines), RowTeam::threads(lines)}, &cross_entropy_backward_kernel<T>,
           dx.data_as<T>(), x.data_as<T>(), logsum.data_as<Compute<T>>(), lines, factors<T>(grad, total, to),
           Targets<T>(to, fault_sink(x.device(), "cross_entropy_loss_backward")));
  });
}

void register_class_losses() {
  kernels::nll_loss.set_cuda(&nll_loss);
  kernels::nll_loss_backward.set_cuda(&nll_loss_backward);
  kernels::cross_entropy.set_cuda(&cross_entropy);
  kernels::cross_entropy_backward.set_cuda(&cross_entropy_backward);
}

}  // namespace ebb::cuda
