// Kernel slots of the losses.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"
#include "ops/loss/math.h"

namespace ebb::kernels {

/// What a pointwise loss reads: contiguous, of one shape and floating dtype. weight and pos_weight may be
/// undefined.
struct LossInputs {
  NdArray x, y, weight, pos_weight;
};

/// How the values are put together: `scale` is 1 / numel for a mean, else 1.
struct LossReduction {
  bool reduced = true;
  double scale = 1;
};

/// Sizes of class scores: (batch, classes, places). Targets are (batch, places), Long; weight is (classes) or
/// undefined.
struct ClassTargets {
  const char* op = "nll_loss";  // for messages
  NdArray target, weight;
  std::int64_t batch = 0, classes = 0, places = 1, ignore_index = -100;
  bool reduced = true, mean = true;
  // For cross_entropy on devices (the CPU composes these): probabilities laid out as the scores in place of
  // target, and the part of the loss that all classes share.
  NdArray probabilities;
  double smoothing = 0;
};

}  // namespace ebb::kernels

namespace ebb::cpu {

/// out = w f(x, y), or its scaled sum, in the dtype of x.
template <class F>
void pointwise_loss(NdArray& out, const F& f, const kernels::LossInputs& in, kernels::LossReduction how);
/// dx = scale grad w f'(x, y); grad is of x's shape and contiguous, or one element when reduced.
template <class F>
void pointwise_loss_backward(NdArray& dx, const F& f, const NdArray& grad, const kernels::LossInputs& in,
                             kernels::LossReduction how);

/// out = -w_t x_t (or sum, or mean), total = the sum of the weights used. Throws for a class that is not
/// there.
void nll_loss(NdArray& out, NdArray& total, const NdArray& x, const kernels::ClassTargets& to);
/// dx_t = -w_t grad (/ total), 0 elsewhere.
void nll_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& total,
                       const kernels::ClassTargets& to);
/// nll_loss(log_softmax(x)) in one pass. `kept` has log sum exp of each row, then, on devices, the sum of its
/// classes' weights. The CPU has places = 1.
void cross_entropy(NdArray& out, NdArray& total, NdArray& logsum, const NdArray& x,
                   const kernels::ClassTargets& to);
void cross_entropy_backward(NdArray& dx, const NdArray& grad, const NdArray& total, const NdArray& logsum,
                            const NdArray& x, const kernels::ClassTargets& to);

}  // namespace ebb::cpu

namespace ebb::kernels {

template <class F>
struct PointwiseLoss {
  static EBB_API SlotOf<decltype(cpu::pointwise_loss<F>)> forward;
  static EBB_API SlotOf<decltype(cpu::pointwise_loss_backward<F>)> backward;
};

}  // namespace ebb::kernels

#define EBB_LOSS_KERNELS(X)                  \
  X(nll_loss, "nll_loss");                   \
  X(nll_loss_backward, "nll_loss_backward"); \
  X(cross_entropy, "cross_entropy_loss");    \
  X(cross_entropy_backward, "cross_entropy_loss_backward");
EBB_DECLARE_KERNELS(EBB_LOSS_KERNELS)
