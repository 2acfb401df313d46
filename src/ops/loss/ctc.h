// Kernel slots of ctc_loss.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"
#include "ops/loss/math_ctc.h"

#include <vector>

namespace ebb::kernels {

/// A batch of sequences and targets. Lengths and starts are on the host, because they are arguments of the
/// kernel launches. They need no copy to the device.
struct CtcProblem {
  std::int64_t steps = 0, batch = 0, classes = 0, blank = 0;
  std::int64_t states = 1;  // the number of states of the longest target
  bool zero_infinity = false, mean = false;
  NdArray targets;  // Long, contiguous
  std::vector<std::int64_t> input_lengths, target_lengths;
  std::vector<std::int64_t> starts;  // the offset of each sample's target

  template <class C>
  ctc::Sample<C> sample(const C* x, std::int64_t n) const {
    const auto i = static_cast<std::size_t>(n);
    return {x + n * classes,  targets.address_as<std::int64_t>() + starts[i],
            input_lengths[i], target_lengths[i],
            batch * classes,  blank};
  }
};

}  // namespace ebb::kernels

namespace ebb::cpu {

/// Computes out[n], the loss of sample n, for a mean divided by the length of its target. With zero_infinity,
/// an infinite loss becomes 0. `alpha` (batch, steps, states) and `loss` (batch), of Double, are saved for
/// the gradient. x is (steps, batch, classes), Float or Double; the other arrays have its dtype.
void ctc_loss(NdArray& out, NdArray& alpha, NdArray& loss, const NdArray& x,
              const kernels::CtcProblem& problem);
/// Computes dx = grad[n] (exp(x) - the posterior of each class), and 0 beyond the length of a sample.
void ctc_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& alpha, const NdArray& loss,
                       const NdArray& x, const kernels::CtcProblem& problem);

}  // namespace ebb::cpu

#define EBB_CTC_KERNELS(X) \
  X(ctc_loss, "ctc_loss"); \
  X(ctc_loss_backward, "ctc_loss_backward");
EBB_DECLARE_KERNELS(EBB_CTC_KERNELS)
