// The kernel slots of matrix decompositions.
#include "ops/decomposition/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::lu)> lu{"linalg_lu_factor", &cpu::lu};
constinit KernelSlot<decltype(cpu::lu_permutation)> lu_permutation{"lu_unpack", &cpu::lu_permutation};
constinit KernelSlot<decltype(cpu::cholesky)> cholesky{"linalg_cholesky", &cpu::cholesky};
constinit KernelSlot<decltype(cpu::qr)> qr{"geqrf", &cpu::qr};
constinit KernelSlot<decltype(cpu::householder_q)> householder_q{"linalg_qr", &cpu::householder_q};
constinit KernelSlot<decltype(cpu::triangular_solve)> triangular_solve{"linalg_solve_triangular",
                                                                       &cpu::triangular_solve};
constinit KernelSlot<decltype(cpu::eigh)> eigh{"linalg_eigh", &cpu::eigh};
constinit KernelSlot<decltype(cpu::svd)> svd{"linalg_svd", &cpu::svd};
constinit KernelSlot<decltype(cpu::ldl)> ldl{"linalg_ldl_factor", &cpu::ldl};
constinit KernelSlot<decltype(cpu::ldl_solve)> ldl_solve{"linalg_ldl_solve", &cpu::ldl_solve};

}  // namespace ebb::kernels
