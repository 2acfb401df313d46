// What the CUDA plugin asks of the family.
#pragma once

#include "ops/foreach/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::list_norm) list_norm;
decltype(ebb::cpu::list_scale_to_norm) list_scale_to_norm;
decltype(ebb::cpu::list_clamp) list_clamp;
decltype(ebb::cpu::list_zero) list_zero;
decltype(ebb::cpu::list_lerp) list_lerp;
decltype(ebb::cpu::list_unscale) list_unscale;
decltype(ebb::cpu::update_scale) update_scale;
/// Fills the family's kernel slots.
void register_foreach();

}  // namespace ebb::cuda
