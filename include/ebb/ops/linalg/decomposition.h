// Factorisations of matrices.
//
// All functions take batches, [..., m, n], of Float or Double on either device; 16-bit floats are refused, as
// by torch. They are differentiable to any order unless said otherwise. Bad shapes and dtypes throw
// ebb::Error that names them, and so does a factorisation that cannot be completed: on CUDA that check waits
// for the device. The `_ex` forms check only when asked to: they give `info` (Int, one a matrix, 0 for
// success) instead, and never wait. Each function of linalg has a twin of libtorch's name, linalg_qr for
// linalg::qr.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <tuple>

namespace ebb {

namespace linalg {

/// A = P L U by elimination with row interchanges: P [m, m], L [m, k] with unit diagonal, U [k, n], k =
/// min(m, n) (torch.linalg.lu). Singular matrices have factors too. Without `pivot` P is the identity (in
/// torch on CUDA only).
EBB_API std::tuple<Variable, Variable, Variable> lu(const Variable& A, bool pivot = true);
/// L and U in one matrix, L's unit diagonal left out, and the interchanges: step i swapped rows i and
/// pivots[i] - 1 (Int) (torch.linalg.lu_factor). Throws where U has a zero on its diagonal.
EBB_API std::tuple<Variable, Variable> lu_factor(const Variable& A, bool pivot = true);
/// (LU, pivots, info); info is the place of the first zero on U's diagonal, from 1
/// (torch.linalg.lu_factor_ex).
EBB_API std::tuple<Variable, Variable, Variable> lu_factor_ex(const Variable& A, bool pivot = true,
                                                              bool check_errors = false);

/// The lower triangular L of A = L L^T, or the upper U of A = U^T U; only that triangle of A is read
/// (torch.linalg.cholesky). The gradient is symmetric (Murray 2016). Throws where A is not positive definite.
EBB_API Variable cholesky(const Variable& A, bool upper = false);
/// (L, info); info is the order of the first leading minor that is not positive definite
/// (torch.linalg.cholesky_ex).
EBB_API std::tuple<Variable, Variable> cholesky_ex(const Variable& A, bool upper = false,
                                                   bool check_errors = false);

/// A = Q R, Q with orthonormal columns, R upper triangular, of signs as LAPACK's (torch.linalg.qr). mode
/// "reduced": Q [m, k], R [k, n]; "complete": Q [m, m], R [m, n], whose gradient needs m <= n; "r": Q is
/// empty and there is no gradient. The first k columns of A must be independent for a gradient.
EBB_API std::tuple<Variable, Variable> qr(const Variable& A, std::string_view mode = "reduced");
/// The first n columns of the product of reflections I - tau_i v_i v_i^T, v_i the columns of A [m, n] below
/// the diagonal with ones on it (torch.linalg.householder_product).
EBB_API Variable householder_product(const Variable& A, const Variable& tau);

/// Eigenvalues in ascending order and eigenvectors, in columns, of symmetric matrices, of which the triangle
/// UPLO, "L" or "U", is read (torch.linalg.eigh). Eigenvectors are defined up to signs (bases, where
/// eigenvalues are equal); the gradient is right for functions that do not depend on that, and infinite where
/// eigenvalues are equal and eigenvectors are used.
EBB_API std::tuple<Variable, Variable> eigh(const Variable& A, std::string_view UPLO = "L");
/// The eigenvalues alone (torch.linalg.eigvalsh).
EBB_API Variable eigvalsh(const Variable& A, std::string_view UPLO = "L");
/// Always throws NotImplementedError: eigenvalues of general matrices are complex, and ebb has no complex
/// dtypes (torch.linalg.eig, torch.linalg.eigvals).
EBB_API std::tuple<Variable, Variable> eig(const Variable& A);
EBB_API Variable eigvals(const Variable& A);

/// A = U diag(S) Vh, S descending; U [m, m] and Vh [n, n], or with full_matrices = false U [m, k] and Vh [k,
/// n] (torch.linalg.svd). Vectors are defined up to signs, and gradients as for eigh: they need the singular
/// values that belong to used vectors to differ, and to be no zeros in rectangular matrices. Columns beyond k
/// have no gradient. `driver` must be empty on the CPU; on CUDA "gesvd", "gesvdj" and "gesvda" are accepted
/// and all mean ebb's own Jacobi rotations.
EBB_API std::tuple<Variable, Variable, Variable> svd(const Variable& A, bool full_matrices = true,
                                                     optional<std::string_view> driver = nullopt);
/// The singular values alone (torch.linalg.svdvals).
EBB_API Variable svdvals(const Variable& A, optional<std::string_view> driver = nullopt);

/// The square root of symmetric matrices that have no negative eigenvalues, itself such a matrix; the lower
/// triangle is read, and what eigenvalues fall below 0 counts as 0 (torch.linalg.matrix_sqrth). The gradient
/// needs A to be positive definite.
EBB_API Variable matrix_sqrth(const Variable& A);
/// A = U H for A [m, n] with m >= n: U [m, n] with orthonormal columns, the nearest such matrix to A, and H
/// symmetric without negative eigenvalues (torch.linalg.polar; its complex namesake torch.polar is another).
/// The gradient needs A to be of full rank.
EBB_API std::tuple<Variable, Variable> polar(const Variable& A);

/// A = L D L^T of symmetric matrices, D with blocks of 1 and 2 rows (Bunch and Kaufman): L and D in one lower
/// triangle, and the interchanges as LAPACK's sytrf counts them (torch.linalg.ldl_factor). `hermitian` means
/// the same for real numbers. Not differentiable, as in torch.
EBB_API std::tuple<Variable, Variable> ldl_factor(const Variable& A, bool hermitian = false);
/// (LD, pivots, info) (torch.linalg.ldl_factor_ex).
EBB_API std::tuple<Variable, Variable, Variable> ldl_factor_ex(const Variable& A, bool hermitian = false,
                                                               bool check_errors = false);
/// Solves A X = B from the factors (torch.linalg.ldl_solve). Not differentiable, as in torch.
EBB_API Variable ldl_solve(const Variable& LD, const Variable& pivots, const Variable& B,
                           bool hermitian = false);

}  // namespace linalg

/// P, L and U from what lu_factor gives; what is not asked for is empty (torch.lu_unpack).
EBB_API std::tuple<Variable, Variable, Variable> lu_unpack(const Variable& LU_data, const Variable& LU_pivots,
                                                           bool unpack_data = true,
                                                           bool unpack_pivots = true);
/// As linalg::cholesky (torch.cholesky).
EBB_API Variable cholesky(const Variable& self, bool upper = false);
/// The inverse of L L^T, or with `upper` of U^T U, from the factor
/// (torch.cholesky_inverse).
EBB_API Variable cholesky_inverse(const Variable& self, bool upper = false);
/// linalg::qr, reduced or, with some = false, complete (torch.qr).
EBB_API std::tuple<Variable, Variable> qr(const Variable& self, bool some = true);
/// R and Householder vectors in one matrix, and tau; LAPACK's geqrf (torch.geqrf). Not differentiable, as in
/// torch.
EBB_API std::tuple<Variable, Variable> geqrf(const Variable& self);
/// As linalg::householder_product (torch.orgqr).
EBB_API Variable orgqr(const Variable& self, const Variable& input2);
/// Q C, Q^T C, C Q or C Q^T for C = input3 and the product Q of reflections that (self, tau = input2) hold
/// (torch.ormqr).
EBB_API Variable ormqr(const Variable& self, const Variable& input2, const Variable& input3, bool left = true,
                       bool transpose = false);
/// (U, S, V) of A = U diag(S) V^T, reduced where `some`; zeros for U and V without compute_uv (torch.svd).
EBB_API std::tuple<Variable, Variable, Variable> svd(const Variable& self, bool some = true,
                                                     bool compute_uv = true);

/// (U, S, V) of the best q directions of A, or of A - M with an M that broadcasts to A: A is about U diag(S)
/// V^T, U [m, q], V [n, q]. A basis is found from a random start by niter power iterations (Halko, Martinsson
/// and Tropp 2009, algorithms 4.4 and 5.1; torch.svd_lowrank). Take q a little above the rank sought.
EBB_API std::tuple<Variable, Variable, Variable> svd_lowrank(const Variable& A, std::int64_t q = 6,
                                                             std::int64_t niter = 2, const Variable& M = {});
/// The same of A without the mean of its rows, unless `center` is false: principal components in the columns
/// of V, q = min(6, m, n) of them by default (torch.pca_lowrank).
EBB_API std::tuple<Variable, Variable, Variable> pca_lowrank(const Variable& A,
                                                             optional<std::int64_t> q = nullopt,
                                                             bool center = true, std::int64_t niter = 2);

inline std::tuple<Variable, Variable, Variable> linalg_lu(const Variable& A, bool pivot = true) {
  return linalg::lu(A, pivot);
}
inline std::tuple<Variable, Variable> linalg_lu_factor(const Variable& A, bool pivot = true) {
  return linalg::lu_factor(A, pivot);
}
inline std::tuple<Variable, Variable, Variable> linalg_lu_factor_ex(const Variable& A, bool pivot = true,
                                                                    bool check_errors = false) {
  return linalg::lu_factor_ex(A, pivot, check_errors);
}
inline Variable linalg_cholesky(const Variable& A, bool upper = false) { return linalg::cholesky(A, upper); }
inline std::tuple<Variable, Variable> linalg_cholesky_ex(const Variable& A, bool upper = false,
                                                         bool check_errors = false) {
  return linalg::cholesky_ex(A, upper, check_errors);
}
inline std::tuple<Variable, Variable> linalg_qr(const Variable& A, std::string_view mode = "reduced") {
  return linalg::qr(A, mode);
}
inline Variable linalg_householder_product(const Variable& A, const Variable& tau) {
  return linalg::householder_product(A, tau);
}
inline std::tuple<Variable, Variable> linalg_eigh(const Variable& A, std::string_view UPLO = "L") {
  return linalg::eigh(A, UPLO);
}
inline Variable linalg_eigvalsh(const Variable& A, std::string_view UPLO = "L") {
  return linalg::eigvalsh(A, UPLO);
}
inline std::tuple<Variable, Variable> linalg_eig(const Variable& A) { return linalg::eig(A); }
inline Variable linalg_eigvals(const Variable& A) { return linalg::eigvals(A); }
inline std::tuple<Variable, Variable, Variable> linalg_svd(const Variable& A, bool full_matrices = true,
                                                           optional<std::string_view> driver = nullopt) {
  return linalg::svd(A, full_matrices, driver);
}
inline Variable linalg_svdvals(const Variable& A, optional<std::string_view> driver = nullopt) {
  return linalg::svdvals(A, driver);
}
inline Variable linalg_matrix_sqrth(const Variable& A) { return linalg::matrix_sqrth(A); }
inline std::tuple<Variable, Variable> linalg_polar(const Variable& A) { return linalg::polar(A); }
inline std::tuple<Variable, Variable> linalg_ldl_factor(const Variable& A, bool hermitian = false) {
  return linalg::ldl_factor(A, hermitian);
}
inline std::tuple<Variable, Variable, Variable> linalg_ldl_factor_ex(const Variable& A,
                                                                     bool hermitian = false,
                                                                     bool check_errors = false) {
  return linalg::ldl_factor_ex(A, hermitian, check_errors);
}
inline Variable linalg_ldl_solve(const Variable& LD, const Variable& pivots, const Variable& B,
                                 bool hermitian = false) {
  return linalg::ldl_solve(LD, pivots, B, hermitian);
}

}  // namespace ebb
