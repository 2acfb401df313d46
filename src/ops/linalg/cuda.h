// What the CUDA plugin asks of the family.
#pragma once

#include "ops/linalg/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::product) product;
decltype(ebb::cpu::dot) dot;
decltype(ebb::cpu::linear_activation) linear_activation;
decltype(ebb::cpu::cdist) cdist;
decltype(ebb::cpu::cdist_backward) cdist_backward;
/// Fills the family's kernel slots.
void register_linalg();

}  // namespace ebb::cuda
