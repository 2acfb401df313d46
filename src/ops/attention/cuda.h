// What the CUDA plugin asks of the family.
#pragma once

#include "ops/attention/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::attention) attention;
decltype(ebb::cpu::attention_backward) attention_backward;
decltype(ebb::cpu::attention_mask_backward) attention_mask_backward;
decltype(ebb::cpu::attention_dropout) attention_dropout;
/// Fills the family's kernel slots.
void register_attention();

}  // namespace ebb::cuda
