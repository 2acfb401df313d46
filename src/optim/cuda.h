// What the CUDA plugin asks of the optimizers.
#pragma once

#include "optim/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::optimizer_step) optimizer_step;
decltype(ebb::cpu::store_rule) store_rule;
/// Fills the optimizers' kernel slots.
void register_optim();

}  // namespace ebb::cuda
