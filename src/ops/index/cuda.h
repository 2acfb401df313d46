// What the CUDA plugin asks of the family.
#pragma once

#include "ops/index/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::index_offsets) index_offsets;
decltype(ebb::cpu::take_rows) take_rows;
decltype(ebb::cpu::put_rows) put_rows;
decltype(ebb::cpu::gather) gather;
decltype(ebb::cpu::scatter) scatter;
decltype(ebb::cpu::masked_fill) masked_fill;
decltype(ebb::cpu::nonzero) nonzero;
/// Fills the family's kernel slots.
void register_index();

}  // namespace ebb::cuda
