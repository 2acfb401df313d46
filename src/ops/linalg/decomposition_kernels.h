// Kernel slots of matrix decompositions. Arrays are contiguous batches of row-major matrices [..., m, n] of
// Float or Double. `info` is Int with one element for each matrix, which is 0 for success. Kernels use the
// struct Batch to describe a batch.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

namespace ebb {

/// Options of the solution of op(a) x = b, where op(a) is `a` or, if `transposed`, its transpose. If `upper`,
/// only the upper triangle of `a` is read, otherwise only the lower one. If `unit_diagonal`, the diagonal is
/// taken as 1 and not read.
struct TriangularArgs {
  bool upper = false;
  bool transposed = false;
  bool unit_diagonal = false;
};

namespace decomposition {

/// The batch of matrices in an array. If matrix_dims is 1, each vector along the last dimension is a matrix
/// of one row. If matrix_dims is 0, each element is a matrix.
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
/// Overwrites a with its LU factors, except L's unit diagonal. `pivots` is Int in LAPACK's convention: in
/// step i, rows i and pivots[i] - 1 are swapped. If `pivot` is false, no rows are swapped. `info` becomes the
/// index of the first zero on U's diagonal, counted from 1.
void lu(NdArray& a, NdArray& pivots, NdArray& info, bool pivot);
/// Sets permutation[i] (Long) to the row of A that the swaps move to row i.
void lu_permutation(NdArray& permutation, const NdArray& pivots);
/// Overwrites a's lower triangle with its Cholesky factor, and the upper triangle with zeros. `info` becomes
/// the order of the first leading minor that is not positive definite.
void cholesky(NdArray& a, NdArray& info);
/// Overwrites the upper triangle of a with R. Below the diagonal, it stores the Householder vectors without
/// their first element, which is 1. tau receives the factors of the reflections (LAPACK's geqrf).
void qr(NdArray& a, NdArray& tau);
/// Computes the first c columns of Q = H_1 ... H_k. q is [m, c], where k <= c <= m or c <= k = m.
void householder_q(NdArray& q, const NdArray& a, const NdArray& tau);
/// Overwrites x, which contains the right sides, with the solution.
void triangular_solve(NdArray& x, const NdArray& a, const TriangularArgs& args);
/// Computes the eigenvalues of the symmetric a in ascending order, and overwrites a with the eigenvectors as
/// columns. `info` becomes nonzero if the computation fails.
void eigh(NdArray& a, NdArray& values, NdArray& info);
/// Computes a = u diag(s) vh, with s in descending order. The shapes of u and vh select the reduced or the
/// full decomposition.
void svd(NdArray& u, NdArray& s, NdArray& vh, NdArray& info, const NdArray& a);
/// Overwrites a's lower triangle with L and D of A = L D L^T, with pivots as in LAPACK's sytrf. `info`
/// becomes k + 1 if the first zero block of D is at row k.
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
