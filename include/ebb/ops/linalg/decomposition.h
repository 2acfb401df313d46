// Matrix decompositions: lu, cholesky, qr, eigh, svd, ldl_factor and others.
//
// All functions take batches [..., m, n] of Float or Double on the CPU or CUDA; 16-bit floats throw, as in
// torch. They are differentiable to any order unless stated otherwise. Invalid shapes and dtypes throw an
// ebb::Error that names them. A decomposition that cannot be completed throws too; on CUDA this check waits
// for the device. The `_ex` functions return `info` (Int, one for each matrix, 0 for success). They check
// `info`, and wait for the device, only if check_errors is true. Each function of linalg also has libtorch's
// name: linalg_qr for linalg::qr.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <tuple>

namespace ebb {

namespace linalg {

/// A = P L U by elimination with row interchanges: P [m, m], L [m, k] with unit diagonal, U [k, n], k =
/// min(m, n) (torch.linalg.lu). Singular matrices can be factored too. Without `pivot` P is the identity
/// (torch supports this on CUDA only).
EBB_API std::tuple<Variable, Variable, Variable> lu(const Variable& A, bool pivot = true);
/// Returns L and U in one matrix, without L's unit diagonal, and the interchanges. Step i swapped rows i and
/// pivots[i] - 1 (Int) (torch.linalg.lu_factor). Throws if U has a zero on its diagonal.
EBB_API std::tuple<Variable, Variable> lu_factor(const Variable& A, bool pivot = true);
/// Returns (LU, pivots, info). info is the position of the first zero on U's diagonal, counted from 1
/// (torch.linalg.lu_factor_ex).
EBB_API std::tuple<Variable, Variable, Variable> lu_factor_ex(const Variable& A, bool pivot = true,
                                                              bool check_errors = false);

/// Returns the lower triangular L of A = L L^T, or with `upper` the U of A = U^T U. Only the lower (with
/// `upper` the upper) triangle of A is read (torch.linalg.cholesky). The gradient is symmetric (Murray 2016).
/// Throws if A is not positive definite.
EBB_API Variable cholesky(const Variable& A, bool upper = false);
/// Returns (L, info). info is the order of the first leading minor that is not positive definite
/// (torch.linalg.cholesky_ex).
EBB_API std::tuple<Variable, Variable> cholesky_ex(const Variable& A, bool upper = false,
                                                   bool check_errors = false);

/// A = Q R, where Q has orthonormal columns and R is upper triangular; signs are LAPACK's (torch.linalg.qr).
/// With mode "reduced", the results are Q [m, k] and R [k, n]. With "complete", they are Q [m, m] and R [m,
/// n]; the gradient then needs m <= n. With "r", Q is empty and there is no gradient. A gradient needs the
/// first k columns of A to be independent.
EBB_API std::tuple<Variable, Variable> qr(const Variable& A, std::string_view mode = "reduced");
/// Returns the first n columns of the product of reflections I - tau_i v_i v_i^T. v_i is column i of A [m, n]
/// below the diagonal, with 1 on the diagonal (torch.linalg.householder_product).
EBB_API Variable householder_product(const Variable& A, const Variable& tau);

/// Returns the eigenvalues of symmetric matrices in ascending order, and the eigenvectors as columns. Only
/// the triangle UPLO, "L" or "U", is read (torch.linalg.eigh). Eigenvectors are unique up to signs (or up to
/// a basis for equal eigenvalues). The gradient is correct for functions that do not depend on these signs
/// and bases. It is infinite if eigenvalues are equal and their eigenvectors are used.
EBB_API std::tuple<Variable, Variable> eigh(const Variable& A, std::string_view UPLO = "L");
/// Returns only the eigenvalues (torch.linalg.eigvalsh).
EBB_API Variable eigvalsh(const Variable& A, std::string_view UPLO = "L");
/// Always throws NotImplementedError: eigenvalues of general matrices are complex, and ebb has no complex
/// dtypes (torch.linalg.eig, torch.linalg.eigvals).
EBB_API std::tuple<Variable, Variable> eig(const Variable& A);
EBB_API Variable eigvals(const Variable& A);

/// A = U diag(S) Vh, S descending. U is [m, m] and Vh [n, n]; with full_matrices = false U is [m, k] and Vh
/// [k, n] (torch.linalg.svd). Vectors are unique up to signs, as for eigh. Gradients of U and Vh require
/// distinct singular values, which must also be nonzero for rectangular matrices. Columns beyond k have no
/// gradient. `driver` must be empty on the CPU. On CUDA "gesvd", "gesvdj" and "gesvda" are accepted, and all
/// select ebb's own Jacobi rotations.
EBB_API std::tuple<Variable, Variable, Variable> svd(const Variable& A, bool full_matrices = true,
                                                     optional<std::string_view> driver = nullopt);
/// Returns only the singular values (torch.linalg.svdvals).
EBB_API Variable svdvals(const Variable& A, optional<std::string_view> driver = nullopt);

/// Returns the square root of symmetric positive semidefinite matrices, which is symmetric positive
/// semidefinite too. Only the lower triangle is read, and negative eigenvalues count as 0
/// (torch.linalg.matrix_sqrth). The gradient needs A to be positive definite.
EBB_API Variable matrix_sqrth(const Variable& A);
/// A = U H for A [m, n] with m >= n. U [m, n] has orthonormal columns and is the nearest such matrix to A; H
/// is symmetric positive semidefinite (torch.linalg.polar; torch.polar of complex numbers is another
/// function). The gradient needs A to have full rank.
EBB_API std::tuple<Variable, Variable> polar(const Variable& A);

/// A = L D L^T for symmetric matrices, where D has blocks of 1 and 2 rows (Bunch and Kaufman). Returns L and
/// D in one lower triangle, and the interchanges in the format of LAPACK's sytrf (torch.linalg.ldl_factor).
/// `hermitian` makes no difference for real numbers. Not differentiable, as in torch.
EBB_API std::tuple<Variable, Variable> ldl_factor(const Variable& A, bool hermitian = false);
/// Returns (LD, pivots, info) (torch.linalg.ldl_factor_ex).
EBB_API std::tuple<Variable, Variable, Variable> ldl_factor_ex(const Variable& A, bool hermitian = false,
                                                               bool check_errors = false);
/// Solves A X = B with the result of ldl_factor(A) (torch.linalg.ldl_solve). Not differentiable, as in torch.
EBB_API Variable ldl_solve(const Variable& LD, const Variable& pivots, const Variable& B,
                           bool hermitian = false);

}  // namespace linalg

/// Returns P, L and U from the result of lu_factor. Results that are not requested are empty
/// (torch.lu_unpack).
EBB_API std::tuple<Variable, Variable, Variable> lu_unpack(const Variable& LU_data, const Variable& LU_pivots,
                                                           bool unpack_data = true,
                                                           bool unpack_pivots = true);
/// Returns linalg::cholesky (torch.cholesky).
EBB_API Variable cholesky(const Variable& self, bool upper = false);
/// Returns the inverse of L L^T from the factor L. With `upper`, returns the inverse of U^T U from the factor
/// U (torch.cholesky_inverse).
EBB_API Variable cholesky_inverse(const Variable& self, bool upper = false);
/// Returns linalg::qr in mode "reduced". With some = false, the mode is "complete" (torch.qr).
EBB_API std::tuple<Variable, Variable> qr(const Variable& self, bool some = true);
/// Returns R and the Householder vectors in one matrix, and tau (LAPACK's geqrf; torch.geqrf). Not
/// differentiable, as in torch.
EBB_API std::tuple<Variable, Variable> geqrf(const Variable& self);
/// Returns linalg::householder_product (torch.orgqr).
EBB_API Variable orgqr(const Variable& self, const Variable& input2);
/// Returns Q C, Q^T C, C Q or C Q^T, where C = input3 and Q is the product of the reflections in (self, tau =
/// input2) (torch.ormqr).
EBB_API Variable ormqr(const Variable& self, const Variable& input2, const Variable& input3, bool left = true,
                       bool transpose = false);
/// Returns (U, S, V) of A = U diag(S) V^T, reduced if `some`. Without compute_uv U and V are zeros
/// (torch.svd).
EBB_API std::tuple<Variable, Variable, Variable> svd(const Variable& self, bool some = true,
                                                     bool compute_uv = true);

/// Returns the q leading singular triples (U, S, V) of A, or of A - M, where M broadcasts to A. A is
/// approximately U diag(S) V^T, with U [m, q] and V [n, q]. Starts from a random basis and runs niter power
/// iterations (Halko, Martinsson and Tropp 2009, algorithms 4.4 and 5.1; torch.svd_lowrank). Choose q
/// slightly above the wanted rank.
EBB_API std::tuple<Variable, Variable, Variable> svd_lowrank(const Variable& A, std::int64_t q = 6,
                                                             std::int64_t niter = 2, const Variable& M = {});
/// Computes svd_lowrank of A minus the mean of its rows, or of A if `center` is false. The columns of V are
/// the principal components. The default is q = min(6, m, n) (torch.pca_lowrank).
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
