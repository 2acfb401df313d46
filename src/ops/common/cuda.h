// What CUDA kernels of other families and the plugin ask of these.
#pragma once

#include "kernel/transpose_plan.h"
#include "ops/common/draw_philox.h"
#include "ops/common/kernels.h"
#include "ops/common/scan.h"

namespace ebb::cuda {

decltype(ebb::cpu::copy) copy;
decltype(ebb::cpu::fill) fill;
decltype(ebb::cpu::accumulate) accumulate;
decltype(ebb::cpu::scan) scan;
decltype(ebb::cpu::draw_philox) draw_philox;
/// The copy by tiles, if it is a transpose that they suit; conversions among Float, Half and BFloat16
/// included.
bool transpose(NdArray& out, const NdArray& x, const ElementwisePlan<2>& walk);
/// Fills their kernel slots.
void register_common();

}  // namespace ebb::cuda
