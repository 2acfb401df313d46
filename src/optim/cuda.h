// What the CUDA plugin asks of the optimizers.
#pragma once

#include "optim/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::sgd_step) sgd_step;
decltype(ebb::cpu::adam_step) adam_step;
decltype(ebb::cpu::rmsprop_step) rmsprop_step;
decltype(ebb::cpu::adagrad_step) adagrad_step;
decltype(ebb::cpu::store_rule) store_rule;
/// Fills the optimizers' kernel slots.
void register_optim();

}  // namespace ebb::cuda
