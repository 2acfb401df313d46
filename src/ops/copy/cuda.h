// What the CUDA plugin asks of the family.
#pragma once

#include "ops/copy/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::copy) copy;
decltype(ebb::cpu::fill) fill;
/// Fills the family's kernel slots.
void register_copy();

}  // namespace ebb::cuda
