// What the CUDA plugin asks of the family.
#pragma once

#include "kernel/transpose_plan.h"
#include "ops/copy/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::copy) copy;
decltype(ebb::cpu::fill) fill;
/// The copy by tiles, if it is a transpose that they suit; conversions among Float, Half and BFloat16
/// included.
bool transpose(NdArray& out, const NdArray& x, const ElementwisePlan<2>& walk);
/// Fills the family's kernel slots.
void register_copy();

}  // namespace ebb::cuda
