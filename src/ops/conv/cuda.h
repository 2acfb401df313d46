// What the CUDA plugin asks of the family.
#pragma once

#include "ops/conv/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::conv_forward) conv_forward;
decltype(ebb::cpu::conv_input) conv_input;
decltype(ebb::cpu::conv_weight) conv_weight;
/// Fills the family's kernel slots.
void register_conv();

}  // namespace ebb::cuda
