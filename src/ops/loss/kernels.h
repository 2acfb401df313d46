// Kernel slots of the losses.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"
#include "ops/loss/math.h"

namespace ebb::kernels {

/// Inputs of a pointwise loss: contiguous arrays of the same shape and floating-point dtype. weight and
/// pos_weight may be undefined.
struct LossInputs {
  NdArray x, y, weight, pos_weight;
};

/// The reduction of the values. `scale` is 1 / numel for a mean, otherwise 1.
struct LossReduction {
  bool reduced = true;
  double scale = 1;
};

/// Class targets and their sizes. Scores are (batch, classes, places), where places are the spatial
/// positions. Targets are (batch, places), Long; weight is (classes) or undefined.
struct ClassTargets {
  const char* op = "nll_loss";  // the name of the op in messages
  NdArray target, weight;
  std::int64_t batch = 0, classes = 0, places = 1, ignore_index = -100;
  bool reduced = true, mean = true;
  // Only for cross_entropy on devices (the CPU composes these cases): the target probabilities, which replace
  // `target` and have the layout of the scores, and the label smoothing.
  NdArray probabilities;
  double smoothing = 0;
};

}  // namespace ebb::kernels

namespace ebb::cpu {

/// Computes out = w f(x, y), or its scaled sum, in the dtype of x.
template <class F>
void pointwise_loss(NdArray& out, const F& f, const kernels::LossInputs& in, kernels::LossReduction how);
/// Computes dx = scale grad w f'(x, y). grad is contiguous with the shape of x, or one element if reduced.
template <class F>
void pointwise_loss_backward(NdArray& dx, const F& f, const NdArray& grad, const kernels::LossInputs& in,
                             kernels::LossReduction how);

/// Computes out = -w_t x_t (or its sum or mean), and total = the sum of the used weights. Throws if a class
/// is out of range.
void nll_loss(NdArray& out, NdArray& total, const NdArray& x, const kernels::ClassTargets& to);
/// Computes dx_t = -w_t grad, divided by `total` for a mean. The other elements of dx are 0.
void nll_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& total,
                       const kernels::ClassTargets& to);
/// Computes nll_loss(log_softmax(x)) in one pass. `logsum` receives log sum exp of each row. On devices,
/// `logsum` also receives, after these values, the sum of the class weights of each row. On the CPU,
/// `to.places` must be 1.
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

namespace ebb::cuda {

/// Fills the slots of kernels::PointwiseLoss on CUDA.
void register_pointwise_losses();

}  // namespace ebb::cuda

#define EBB_LOSS_KERNELS(X)                  \
  X(nll_loss, "nll_loss");                   \
  X(nll_loss_backward, "nll_loss_backward"); \
  X(cross_entropy, "cross_entropy_loss");    \
  X(cross_entropy_backward, "cross_entropy_loss_backward");
EBB_DECLARE_KERNELS(EBB_LOSS_KERNELS)
