// What the CUDA plugin asks of the family.
#pragma once

#include "ops/softmax/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::softmax) softmax;
decltype(ebb::cpu::softmax_backward) softmax_backward;
/// Fills the family's kernel slots.
void register_softmax();

}  // namespace ebb::cuda
