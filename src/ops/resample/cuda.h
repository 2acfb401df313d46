// What the CUDA plugin asks of the family.
#pragma once

#include "ops/resample/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::grid_sample) grid_sample;
decltype(ebb::cpu::grid_sample_backward_input) grid_sample_backward_input;
decltype(ebb::cpu::grid_sample_backward_grid) grid_sample_backward_grid;
decltype(ebb::cpu::axis_table) axis_table;
decltype(ebb::cpu::resize_axis) resize_axis;
/// Fills the family's kernel slots.
void register_resample();

}  // namespace ebb::cuda
