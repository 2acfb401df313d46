// What the CUDA plugin asks of the family.
#pragma once

#include "ops/decomposition/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::lu) lu;
decltype(ebb::cpu::lu_permutation) lu_permutation;
decltype(ebb::cpu::cholesky) cholesky;
decltype(ebb::cpu::qr) qr;
decltype(ebb::cpu::householder_q) householder_q;
decltype(ebb::cpu::triangular_solve) triangular_solve;
decltype(ebb::cpu::eigh) eigh;
decltype(ebb::cpu::svd) svd;
decltype(ebb::cpu::ldl) ldl;
decltype(ebb::cpu::ldl_solve) ldl_solve;
/// Fills the family's kernel slots.
void register_decomposition();

}  // namespace ebb::cuda
