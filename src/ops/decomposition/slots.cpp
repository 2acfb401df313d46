// The kernel slots of matrix decompositions.
#include "ops/decomposition/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::lu)> lu{"linalg_lu_factor", levels_of<cpu::lu>};
constinit KernelSlot<decltype(cpu::lu_permutation)> lu_permutation{"lu_unpack",
                                                                   levels_of<cpu::lu_permutation>};
constinit KernelSlot<decltype(cpu::cholesky)> cholesky{"linalg_cholesky", levels_of<cpu::cholesky>};
constinit KernelSlot<decltype(cpu::qr)> qr{"geqrf", levels_of<cpu::qr>};
constinit KernelSlot<decltype(cpu::householder_q)> householder_q{"linalg_qr", levels_of<cpu::householder_q>};
constinit KernelSlot<decltype(cpu::triangular_solve)> triangular_solve{"linalg_solve_triangular",
                                                                       levels_of<cpu::triangular_solve>};
constinit KernelSlot<decltype(cpu::eigh)> eigh{"linalg_eigh", levels_of<cpu::eigh>};
constinit KernelSlot<decltype(cpu::svd)> svd{"linalg_svd", levels_of<cpu::svd>};
constinit KernelSlot<decltype(cpu::ldl)> ldl{"linalg_ldl_factor", levels_of<cpu::ldl>};
constinit KernelSlot<decltype(cpu::ldl_solve)> ldl_solve{"linalg_ldl_solve", levels_of<cpu::ldl_solve>};

}  // namespace ebb::kernels
