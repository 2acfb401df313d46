// What the CUDA plugin asks of the family.
#pragma once

#include "ops/creation/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::arange) arange;
decltype(ebb::cpu::linspace) linspace;
decltype(ebb::cpu::eye) eye;
/// Fills the family's kernel slots.
void register_creation();

}  // namespace ebb::cuda
