// What the CUDA plugin asks of the family.
#pragma once

#include "ops/scan/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::linear_recurrence) linear_recurrence;
decltype(ebb::cpu::running_extreme) running_extreme;
/// Fills the family's kernel slots.
void register_scan();

}  // namespace ebb::cuda
