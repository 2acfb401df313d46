// What the CUDA plugin asks of the family.
#pragma once

#include "ops/sort/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::sort) sort;
decltype(ebb::cpu::topk) topk;
decltype(ebb::cpu::select_element) select_element;
decltype(ebb::cpu::unique) unique;
decltype(ebb::cpu::searchsorted) searchsorted;
/// Fills the family's kernel slots.
void register_sort();

}  // namespace ebb::cuda
