// solve, inv, pinv, lstsq, det and related functions.
//
// They take batches of Float and Double matrices on the CPU or CUDA, and are differentiable to any order.
// ebb/ops/linalg/decomposition.h describes errors, names, and when the host waits.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <tuple>

namespace ebb {

namespace linalg {

/// Returns X of A X = B, or with left = false of X A = B, for square A (torch.linalg.solve). If B has one
/// dimension, or the shape of A without the last dimension, it is a batch of vectors. Otherwise it is a batch
/// of matrices. Batches broadcast. Throws if A is singular.
EBB_API Variable solve(const Variable& A, const Variable& B, bool left = true);
/// Returns (X, info). info is the position of the first zero on the diagonal of U in A = P L U
/// (torch.linalg.solve_ex).
EBB_API std::tuple<Variable, Variable> solve_ex(const Variable& A, const Variable& B, bool left = true,
                                                bool check_errors = false);
/// Solves A X = B or X A = B for triangular A. `upper` selects the triangle of A that is read. With
/// unitriangular the diagonal counts as 1 and is not read (torch.linalg.solve_triangular). B is a batch of
/// matrices. There is no check for singularity: a zero on the diagonal gives infinities.
EBB_API Variable solve_triangular(const Variable& A, const Variable& B, bool upper, bool left = true,
                                  bool unitriangular = false);
/// Solves A X = B with the result of lu_factor(A). With left = false solves X A = B. With `adjoint`, A^T
/// replaces A (torch.linalg.lu_solve).
EBB_API Variable lu_solve(const Variable& LU, const Variable& pivots, const Variable& B, bool left = true,
                          bool adjoint = false);
/// Returns the inverse of square matrices (torch.linalg.inv). Throws if one is singular.
EBB_API Variable inv(const Variable& A);
/// Returns (inverse, info) (torch.linalg.inv_ex).
EBB_API std::tuple<Variable, Variable> inv_ex(const Variable& A, bool check_errors = false);
/// Returns the Moore-Penrose inverse, computed from the singular values. Singular values up to rcond times
/// the largest count as zero. If `hermitian`, uses the eigenvalues of symmetric matrices
/// (torch::linalg::pinv). The gradient (Golub and Pereyra 1973) is valid while the rank is constant.
EBB_API Variable pinv(const Variable& A, double rcond = 1e-15, bool hermitian = false);
/// Overload of pinv with the threshold max(atol, rtol times the largest singular value). The default of rtol
/// is the dtype's epsilon times max(m, n), or 0 if atol > 0 is given (torch.linalg.pinv).
EBB_API Variable pinv(const Variable& A, optional<double> atol, optional<double> rtol,
                      bool hermitian = false);
/// Overload of pinv whose thresholds are tensors that broadcast against the batch.
EBB_API Variable pinv(const Variable& A, const optional<Variable>& atol, const optional<Variable>& rtol,
                      bool hermitian = false);
/// Returns (solution, residuals, rank, singular_values) of min |A X - B| for each column of B, where the
/// solution has the smallest norm (torch.linalg.lstsq). B is a batch of matrices, or of vectors if it has the
/// shape of A without its last dimension.
///
/// driver "gelsy" (the default on the CPU), "gelsd" and "gelss" use singular values. Those up to rcond (by
/// default the dtype's epsilon times max(m, n)) times the largest count as zero. The three drivers return the
/// rank; "gelsd" and "gelss" return the singular values too. "gels" (the default on CUDA, where torch has no
/// other) assumes full rank. residuals contains the squared norms of the columns of A X - B. residuals is
/// empty with "gelsy", for m <= n, and if the rank of a matrix is below n. The check of the rank waits for
/// the device. Results that a driver does not compute are empty. The gradient is that of pinv(A) B; ranks and
/// singular values have no gradient.
EBB_API std::tuple<Variable, Variable, Variable, Variable> lstsq(const Variable& A, const Variable& B,
                                                                 optional<double> rcond = nullopt,
                                                                 optional<std::string_view> driver = nullopt);
/// Returns the determinant (torch.linalg.det). The gradient is valid for singular matrices too. The second
/// derivative at singular matrices requires distinct singular values, and the host reads them from the
/// device.
EBB_API Variable det(const Variable& A);
/// Returns the sign of the determinant and the logarithm of its absolute value, -inf for singular matrices
/// (torch.linalg.slogdet). The gradient of the sign is 0.
EBB_API std::tuple<Variable, Variable> slogdet(const Variable& A);
/// Returns the inverse of A as a linear map: of x -> tensordot(A, x, A.dim() - ind), which sums over the
/// dimensions of A from `ind` on (torch.linalg.tensorinv).
EBB_API Variable tensorinv(const Variable& A, std::int64_t ind = 2);
/// Returns X of tensordot(A, X, X.dim()) = B. The dimensions `dims` of A are first moved to its end
/// (torch.linalg.tensorsolve).
EBB_API Variable tensorsolve(const Variable& A, const Variable& B, OptionalIntArrayRef dims = nullopt);

}  // namespace linalg

/// Returns linalg::inv (torch.inverse).
EBB_API Variable inverse(const Variable& self);
/// Returns linalg::pinv with rcond (torch.pinverse).
EBB_API Variable pinverse(const Variable& self, double rcond = 1e-15);
/// Returns linalg::det (torch.det).
EBB_API Variable det(const Variable& self);
/// Returns the logarithm of the determinant; NaN if the determinant is negative (torch.logdet).
EBB_API Variable logdet(const Variable& self);
/// Returns linalg::slogdet (torch.slogdet).
EBB_API std::tuple<Variable, Variable> slogdet(const Variable& self);
/// Returns (X, a copy of A) for A X = self with triangular A. With `transpose`, A^T replaces A
/// (torch.triangular_solve).
EBB_API std::tuple<Variable, Variable> triangular_solve(const Variable& self, const Variable& A,
                                                        bool upper = true, bool transpose = false,
                                                        bool unitriangular = false);
/// Solves A X = self with the result of lu_factor(A) (torch.lu_solve).
EBB_API Variable lu_solve(const Variable& self, const Variable& LU_data, const Variable& LU_pivots);
/// Solves A X = self from the factor L of A = L L^T, or with `upper` from the factor U of A = U^T U
/// (torch.cholesky_solve).
EBB_API Variable cholesky_solve(const Variable& self, const Variable& input2, bool upper = false);

inline Variable linalg_solve(const Variable& A, const Variable& B, bool left = true) {
  return linalg::solve(A, B, left);
}
inline std::tuple<Variable, Variable> linalg_solve_ex(const Variable& A, const Variable& B, bool left = true,
                                                      bool check_errors = false) {
  return linalg::solve_ex(A, B, left, check_errors);
}
inline Variable linalg_solve_triangular(const Variable& A, const Variable& B, bool upper, bool left = true,
                                        bool unitriangular = false) {
  return linalg::solve_triangular(A, B, upper, left, unitriangular);
}
inline Variable linalg_lu_solve(const Variable& LU, const Variable& pivots, const Variable& B,
                                bool left = true, bool adjoint = false) {
  return linalg::lu_solve(LU, pivots, B, left, adjoint);
}
inline Variable linalg_inv(const Variable& A) { return linalg::inv(A); }
inline std::tuple<Variable, Variable> linalg_inv_ex(const Variable& A, bool check_errors = false) {
  return linalg::inv_ex(A, check_errors);
}
inline Variable linalg_pinv(const Variable& A, const optional<Variable>& atol = nullopt,
                            const optional<Variable>& rtol = nullopt, bool hermitian = false) {
  return linalg::pinv(A, atol, rtol, hermitian);
}
inline Variable linalg_pinv(const Variable& A, optional<double> atol, optional<double> rtol,
                            bool hermitian = false) {
  return linalg::pinv(A, atol, rtol, hermitian);
}
inline Variable linalg_pinv(const Variable& A, double rcond, bool hermitian = false) {
  return linalg::pinv(A, rcond, hermitian);
}
inline std::tuple<Variable, Variable, Variable, Variable> linalg_lstsq(
    const Variable& A, const Variable& B, optional<double> rcond = nullopt,
    optional<std::string_view> driver = nullopt) {
  return linalg::lstsq(A, B, rcond, driver);
}
inline Variable linalg_det(const Variable& A) { return linalg::det(A); }
inline std::tuple<Variable, Variable> linalg_slogdet(const Variable& A) { return linalg::slogdet(A); }
inline Variable linalg_tensorinv(const Variable& A, std::int64_t ind = 2) {
  return linalg::tensorinv(A, ind);
}
inline Variable linalg_tensorsolve(const Variable& A, const Variable& B, OptionalIntArrayRef dims = nullopt) {
  return linalg::tensorsolve(A, B, dims);
}

}  // namespace ebb
