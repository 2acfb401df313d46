// What the CUDA plugin asks of the family.
#pragma once

#include "ops/shape/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::join) join;
decltype(ebb::cpu::triangle) triangle;
/// Fills the family's kernel slots.
void register_shape();

}  // namespace ebb::cuda
