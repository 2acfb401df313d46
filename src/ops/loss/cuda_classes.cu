// nll_loss on the device.
#include <ebb/core/visit.h>

#include "kernel/cuda/reduce.h"
#include "ops/common/kernels.h"
#include "ops/loss/cuda_targets.h"
#include "ops/loss/kernels.h"

namespace ebb::cuda {
namespace {

using kernels::ClassTargets;

// A reduction over positions. The loss of a position is -x_t w_t.
template <class T>
struct ClassLossSum {
  using In = std::int64_t;
  using Acc = LossAndWeight;
  using C = Compute<T>;
  ClassTarget<T> targets;
  const T* x;
  T* out;         // one element for each position, or only the sum
  double* total;  // the sum of the used weights
  bool reduced, mean;

  __device__ Acc identity() const { return {0, 0}; }
  __device__ Acc load(std::int64_t target, std::int64_t, std::int64_t i) const {
    const std::int64_t t = targets.checked(target);
    const C weight = targets.weight_of(t);
    const C loss = t < 0 ? C(0) : -static_cast<C>(x[targets.offset(i, t)]) * weight;
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
__global__ void nll_backward_kernel(T* dx, ClassGradFactor<T> factor, ClassTarget<T> targets) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= targets.batch * targets.places) return;
  const std::int64_t t = targets.checked(targets.target[i]);
  if (t >= 0) dx[targets.offset(i, t)] = static_cast<T>(-(factor.of(i) * targets.weight_of(t)));
}

}  // namespace

void nll_loss(NdArray& out, NdArray& total, const NdArray& x, const ClassTargets& to) {
  visit_floating(x.dtype(), "nll_loss", [&]<class T> {
    const ClassLossSum<T> op{ClassTarget<T>(to, fault_sink(x.device(), "nll_loss")),
                             x.address_as<T>(),
                             out.address_as<T>(),
                             total.address_as<double>(),
                             to.reduced,
                             to.mean};
    const std::int64_t places = to.batch * to.places;
    reduce(x.device(), op, to.target.as_strided({places}, {1}, to.target.offset()), 1);
  });
}

void nll_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& total, const ClassTargets& to) {
  kernels::fill(dx.device(), dx, 0);
  visit_floating(dx.dtype(), "nll_loss_backward", [&]<class T> {
    launch_independent(dx.device(), grid_for(to.batch * to.places, 256), &nll_backward_kernel<T>,
                       dx.address_as<T>(), ClassGradFactor<T>(grad, total, to),
                       ClassTarget<T>(to, fault_sink(dx.device(), "nll_loss_backward")));
  });
}

}  // namespace ebb::cuda
