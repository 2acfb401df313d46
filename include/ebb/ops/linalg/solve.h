// Linear systems, inverses and determinants.
//
// For batches of Float and Double matrices on either device, differentiable to any order; what
// ebb/ops/linalg/decomposition.h says of errors, waiting and names holds here too.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <tuple>

namespace ebb {

namespace linalg {

/// X of A X = B, or with left = false of X A = B, for square A (torch.linalg.solve). B is a batch of
/// matrices, or of vectors where it has one dimension or the shape of A without its last; batches broadcast.
/// Throws for a singular A.
EBB_API Variable solve(const Variable& A, const Variable& B, bool left = true);
/// (X, info); info is the place of the first zero on the diagonal of U of A = P L U (torch.linalg.solve_ex).
EBB_API std::tuple<Variable, Variable> solve_ex(const Variable& A, const Variable& B, bool left = true,
                                                bool check_errors = false);
/// The same for triangular A, of which only that triangle is read, and the diagonal only without
/// unitriangular (torch.linalg.solve_triangular). B is a batch of matrices. Nothing is checked: a zero on the
/// diagonal gives infinities.
EBB_API Variable solve_triangular(const Variable& A, const Variable& B, bool upper, bool left = true,
                                  bool unitriangular = false);
/// Solves A X = B from lu_factor(A); with left = false X A = B, with `adjoint` A^T in place of A
/// (torch.linalg.lu_solve).
EBB_API Variable lu_solve(const Variable& LU, const Variable& pivots, const Variable& B, bool left = true,
                          bool adjoint = false);
/// The inverse of square matrices (torch.linalg.inv). Throws for singular ones.
EBB_API Variable inv(const Variable& A);
/// (inverse, info) (torch.linalg.inv_ex).
EBB_API std::tuple<Variable, Variable> inv_ex(const Variable& A, bool check_errors = false);
/// The Moore-Penrose inverse, by singular values of which those up to rcond times the largest count as zero;
/// of symmetric matrices, where `hermitian`, by eigenvalues (torch::linalg::pinv). The gradient, after Golub
/// and Pereyra 1973, holds while the rank does not change.
EBB_API Variable pinv(const Variable& A, double rcond = 1e-15, bool hermitian = false);
/// The same with a threshold max(atol, rtol times the largest); rtol is by default the dtype's epsilon times
/// max(m, n), or 0 where an atol above 0 is given (torch.linalg.pinv).
EBB_API Variable pinv(const Variable& A, optional<double> atol, optional<double> rtol,
                      bool hermitian = false);
/// The same with thresholds that broadcast against the batch.
EBB_API Variable pinv(const Variable& A, const optional<Variable>& atol, const optional<Variable>& rtol,
                      bool hermitian = false);
/// (solution, residuals, rank, singular_values) of min |A X - B| for each column of B; of all solutions the
/// shortest (torch.linalg.lstsq). B is a batch of matrices, or of vectors where it has the shape of A without
/// its last dimension. driver: "gelsy" (the default on the CPU), "gelsd" and "gelss" go by singular values,
/// of which those up to rcond (by default the dtype's epsilon times max(m, n)) times the largest count as
/// zero, and give the rank, the latter two the singular values too; "gels" (the default on CUDA, where torch
/// has no other) takes A to be of full rank. residuals, the squared lengths of A X - B, are empty with
/// "gelsy", and unless m > n and every matrix has rank n: telling waits for the device. What a driver does
/// not give is empty. The gradient is that of pinv(A) B; ranks and singular values have none.
EBB_API std::tuple<Variable, Variable, Variable, Variable> lstsq(const Variable& A, const Variable& B,
                                                                 optional<double> rcond = nullopt,
                                                                 optional<std::string_view> driver = nullopt);
/// The determinant (torch.linalg.det). The gradient is right for singular matrices too; the second one there
/// needs singular values that differ, and reads them on the host.
EBB_API Variable det(const Variable& A);
/// The determinant's sign, and the logarithm of its magnitude, -inf for singular matrices
/// (torch.linalg.slogdet). The gradient of the sign is 0.
EBB_API std::tuple<Variable, Variable> slogdet(const Variable& A);
/// The inverse of A as a linear map from its dimensions ind and on to those before (torch.linalg.tensorinv).
EBB_API Variable tensorinv(const Variable& A, std::int64_t ind = 2);
/// X of tensordot(A, X, X.dim()) = B; the dimensions `dims` of A are moved to its end first
/// (torch.linalg.tensorsolve).
EBB_API Variable tensorsolve(const Variable& A, const Variable& B, OptionalIntArrayRef dims = nullopt);

}  // namespace linalg

/// As linalg::inv (torch.inverse).
EBB_API Variable inverse(const Variable& self);
/// As linalg::pinv with rcond (torch.pinverse).
EBB_API Variable pinverse(const Variable& self, double rcond = 1e-15);
/// As linalg::det (torch.det).
EBB_API Variable det(const Variable& self);
/// The logarithm of the determinant; NaN where that is negative (torch.logdet).
EBB_API Variable logdet(const Variable& self);
/// As linalg::slogdet (torch.slogdet).
EBB_API std::tuple<Variable, Variable> slogdet(const Variable& self);
/// (X, a copy of A) for A X = self, where A, or with `transpose` A^T, is triangular
/// (torch.triangular_solve).
EBB_API std::tuple<Variable, Variable> triangular_solve(const Variable& self, const Variable& A,
                                                        bool upper = true, bool transpose = false,
                                                        bool unitriangular = false);
/// Solves A X = self from lu_factor(A) (torch.lu_solve).
EBB_API Variable lu_solve(const Variable& self, const Variable& LU_data, const Variable& LU_pivots);
/// Solves A X = self for A = L L^T, or U^T U, from the factor (torch.cholesky_solve).
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
