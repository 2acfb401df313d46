// What the CUDA plugin asks of the family.
#pragma once

#include "ops/pool/fractional.h"
#include "ops/pool/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::max_pool) max_pool;
decltype(ebb::cpu::mean_pool) mean_pool;
decltype(ebb::cpu::mean_pool_backward) mean_pool_backward;
decltype(ebb::cpu::max_pool_backward) max_pool_backward;
decltype(ebb::cpu::pool_gather) pool_gather;
decltype(ebb::cpu::pool_scatter) pool_scatter;
decltype(ebb::cpu::fractional_max_indices) fractional_max_indices;

/// Fills the family's kernel slots.
void register_pool();

}  // namespace ebb::cuda
