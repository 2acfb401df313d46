// What the CUDA plugin asks of the family.
#pragma once

#include "ops/norm/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::batch_norm_stats) batch_norm_stats;
decltype(ebb::cpu::batch_norm_apply) batch_norm_apply;
decltype(ebb::cpu::batch_norm_backward) batch_norm_backward;
decltype(ebb::cpu::group_norm) group_norm;
decltype(ebb::cpu::group_norm_backward) group_norm_backward;
decltype(ebb::cpu::layer_norm) layer_norm;
decltype(ebb::cpu::layer_norm_backward) layer_norm_backward;
/// Fills the family's kernel slots.
void register_norm();

}  // namespace ebb::cuda
