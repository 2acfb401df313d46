// Pointwise losses on the device: elementwise, or reduced in the same kernel.
#include <ebb/core/visit.h>

#include "kernel/call/arguments.h"
#include "kernel/cuda/map.h"
#include "kernel/cuda/reduce.h"
#include "ops/loss/kernels.h"

namespace ebb::cuda {
namespace {

using kernels::LossInputs;
using kernels::LossReduction;

template <class F>
struct LossValue {
  F f;
  template <class C>
  EBB_HD C operator()(C x, C y, C weight, C pos_weight) const {
    return f.template value<C>(x, y, pos_weight) * weight;
  }
};

template <class F>
struct LossSlope {
  F f;
  double scale;
  template <class C>
  EBB_HD C operator()(C grad, C x, C y, C weight, C pos_weight) const {
    return grad * static_cast<C>(scale) * f.template derivative<C>(x, y, pos_weight) * weight;
  }
};

template <class T, class F>
struct LossSum {
  using In = T;
  using Acc = Compute<T>;
  using ReadsMore = void;
  F f;
  const T *y, *weight, *pos_weight;
  T* out;
  Acc scale;

  EBB_HD Acc identity() const { return 0; }
  EBB_HD Acc load(T x, std::int64_t, std::int64_t i) const {
    const Acc p = pos_weight ? static_cast<Acc>(pos_weight[i]) : Acc(1),
              w = weight ? static_cast<Acc>(weight[i]) : Acc(1);
    return f.template value<Acc>(static_cast<Acc>(x), static_cast<Acc>(y[i]), p) * w;
  }
  EBB_HD Acc merge(Acc a, Acc b) const { return a + b; }
  EBB_HD void store(std::int64_t, Acc total) const { *out = static_cast<T>(total * scale); }
};

// Returns an operand for the array, or the scalar 1 if it is undefined.
Operand or_one(const NdArray& x) { return x.defined() ? Operand(x) : Operand(Scalar(1)); }

template <class F>
void pointwise_loss(NdArray& out, const F& f, const LossInputs& in, LossReduction how) {
  visit_floating(in.x.dtype(), "loss", [&]<class T> {
    if (how.reduced) {
      const LossSum<T, F> op{f,
                             in.y.address_as<T>(),
                             data_or_null<T>(in.weight),
                             data_or_null<T>(in.pos_weight),
                             out.address_as<T>(),
                             static_cast<Compute<T>>(how.scale)};
      return reduce(out.device(), op, in.x, ~DimMask{0});
    }
    static constexpr auto kKernels = map_kernels<LossValue<F>, T, T, T, T, T>();
    const LossValue<F> op{f};
    launch_map<5>("loss", kKernels, out, {in.x, in.y, or_one(in.weight), or_one(in.pos_weight)}, &op,
                  sizeof(op));
  });
}

template <class F>
void pointwise_loss_backward(NdArray& dx, const F& f, const NdArray& grad, const LossInputs& in,
                             LossReduction how) {
  visit_floating(in.x.dtype(), "loss_backward", [&]<class T> {
    static constexpr auto kKernels = map_kernels<LossSlope<F>, T, T, T, T, T, T>();
    const LossSlope<F> op{f, how.reduced ? how.scale : 1.0};
    const NdArray g = how.reduced ? grad.as_strided({}, {}, grad.offset()) : grad;
    launch_map<6>("loss_backward", kKernels, dx, {g, in.x, in.y, or_one(in.weight), or_one(in.pos_weight)},
                  &op, sizeof(op));
  });
}

template <class... F>
void register_all(ops::List<F...>) {
  (kernels::PointwiseLoss<F>::forward.set_cuda(&pointwise_loss<F>), ...);
  (kernels::PointwiseLoss<F>::backward.set_cuda(&pointwise_loss_backward<F>), ...);
}

}  // namespace

void register_pointwise_losses() {
  register_all(math::PlainLosses{});
  register_all(math::LogarithmicLosses{});
}

}  // namespace ebb::cuda
