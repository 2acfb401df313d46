// What the CUDA plugin asks of the family.
#pragma once

#include "ops/loss/ctc.h"
#include "ops/loss/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::nll_loss) nll_loss;
decltype(ebb::cpu::nll_loss_backward) nll_loss_backward;
decltype(ebb::cpu::cross_entropy) cross_entropy;
decltype(ebb::cpu::cross_entropy_backward) cross_entropy_backward;
decltype(ebb::cpu::ctc_loss) ctc_loss;
decltype(ebb::cpu::ctc_loss_backward) ctc_loss_backward;
void register_class_losses();
void register_ctc_loss();
void register_pointwise_losses();
/// Fills the family's kernel slots.
inline void register_loss() {
  register_class_losses();
  register_ctc_loss();
  register_pointwise_losses();
}

}  // namespace ebb::cuda
