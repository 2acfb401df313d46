// The kernels of matrix decompositions. Arrays are contiguous batches of row-major matrices, [..., m, n], of
// float or double; `info` is int32, one a matrix, and 0 where all went well.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

namespace ebb {

/// Which triangle of `a` is meant, and how: op(a) x = b with op(a) = a or its transpose.
struct TriangularArgs {
  bool upper = false;
  bool transposed = false;
  bool unit_diagonal = false;
};

namespace cpu {
/// a becomes its LU factors, L's unit diagonal left out; step i swapped rows i and pivots[i] - 1 (int32, as
/// LAPACK counts). Without `pivot` no rows are swapped. info: the first zero on U's diagonal, from 1.
void lu(NdArray& a, NdArray& pivots, NdArray& info, bool pivot);
/// permutation[i] (int64) = the row of A that the swaps bring to row i.
void lu_permutation(NdArray& permutation, const NdArray& pivots);
/// a's lower triangle becomes its Cholesky factor, the upper one zeros. info: the order of the first leading
/// minor that is not positive definite.
void cholesky(NdArray& a, NdArray& info);
/// a becomes R and, below it, the Householder vectors whose first element is 1; tau their factors (LAPACK's
/// geqrf).
void qr(NdArray& a, NdArray& tau);
/// The first columns of Q = H_1 ... H_k: q is [m, c] with k <= c <= m, or c <= k = m.
void householder_q(NdArray& q, const NdArray& a, const NdArray& tau);
/// x, the right sides, becomes the solution.
void triangular_solve(NdArray& x, const NdArray& a, const TriangularArgs& args);
/// The eigenvalues in ascending order; a, symmetric, becomes its eigenvectors, in columns. info: not 0 where
/// there are none.
void eigh(NdArray& a, NdArray& values, NdArray& info);
/// a = u diag(s) vh, s descending; u and vh are reduced or square.
void svd(NdArray& u, NdArray& s, NdArray& vh, NdArray& info, const NdArray& a);
/// a's lower triangle becomes L and D of A = L D L^T with pivots as LAPACK's sytrf leaves them.
/// info: the first zero block of D, from 1.
void ldl(NdArray& a, NdArray& pivots, NdArray& info);
void ldl_solve(NdArray& x, const NdArray& a, const NdArray& pivots);
}  // namespace cpu

}  // namespace ebb

#define EBB_DECOMPOSITION_KERNELS(X)              \
  X(lu, "linalg_lu_factor");                      \
  X(lu_permutation, "lu_unpack");                 \
  X(cholesky, "linalg_cholesky");                 \
  X(qr, "geqrf");                                 \
  X(householder_q, "linalg_qr");                  \
  X(triangular_solve, "linalg_solve_triangular"); \
  X(eigh, "linalg_eigh");                         \
  X(svd, "linalg_svd");                           \
  X(ldl, "linalg_ldl_factor");                    \
  X(ldl_solve, "linalg_ldl_solve");
EBB_DECLARE_KERNELS(EBB_DECOMPOSITION_KERNELS)
