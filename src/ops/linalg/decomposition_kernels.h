// Kernel slots of matrix decompositions. Arrays are contiguous batches of row-major matrices, [..., m, n], of
// float or double. `info` is int32, one for each matrix, and 0 for success. The struct Batch describes such a
// batch to kernels.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

namespace ebb {

/// Options of op(a) x = b, where op(a) is a or its transpose: the triangle of `a` to read, and its form.
struct TriangularArgs {
  bool upper = false;
  bool transposed = false;
  bool unit_diagonal = false;
};

namespace decomposition {

/// The matrices of an array. If only the last dimension belongs to an element (matrix_dims = 1), its vectors.
template <class T>
struct Batch {
  T* data;
  std::int64_t count, rows, cols;

  explicit Batch(const NdArray& x, std::int64_t matrix_dims = 2) : data(x.address_as<T>()), count(1) {
    const std::size_t n = x.sizes().size(), lead = n - static_cast<std::size_t>(matrix_dims);
    for (std::size_t i = 0; i < lead; ++i) count *= x.sizes()[i];
    rows = matrix_dims == 2 ? x.sizes()[n - 2] : 1;
    cols = matrix_dims == 0 ? 1 : x.sizes()[n - 1];
  }
};

}  // namespace decomposition

namespace cpu {
/// Overwrites a with its LU factors, without L's unit diagonal. Step i swapped rows i and pivots[i] - 1
/// (int32, LAPACK's convention). Without `pivot` no rows are swapped. info: the first zero on U's diagonal,
/// counted from 1.
void lu(NdArray& a, NdArray& pivots, NdArray& info, bool pivot);
/// Sets permutation[i] (int64) to the row of A that the swaps move to row i.
void lu_permutation(NdArray& permutation, const NdArray& pivots);
/// Overwrites a's lower triangle with its Cholesky factor, and the upper one with zeros. info: the order of
/// the first leading minor that is not positive definite.
void cholesky(NdArray& a, NdArray& info);
/// Overwrites a with R and, below it, the Householder vectors, whose first element is 1. tau receives their
/// factors (LAPACK's geqrf).
void qr(NdArray& a, NdArray& tau);
/// Computes the first columns of Q = H_1 ... H_k: q is [m, c] with k <= c <= m, or c <= k = m.
void householder_q(NdArray& q, const NdArray& a, const NdArray& tau);
/// Overwrites x, which contains the right sides, with the solution.
void triangular_solve(NdArray& x, const NdArray& a, const TriangularArgs& args);
/// Computes the eigenvalues in ascending order, and overwrites the symmetric a with its eigenvectors as
/// columns. info: not 0 if it failed.
void eigh(NdArray& a, NdArray& values, NdArray& info);
/// Computes a = u diag(s) vh, with descending s. u and vh are reduced or square.
void svd(NdArray& u, NdArray& s, NdArray& vh, NdArray& info, const NdArray& a);
/// Overwrites a's lower triangle with L and D of A = L D L^T, with pivots as in LAPACK's sytrf. info: the
/// first zero block of D, counted from 1.
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
