// matrix_norm, cond, matrix_rank, matrix_exp and other functions of matrices.
//
// Norms, sums and products take all floating dtypes. Functions that need singular values or a solution take
// Float and Double. All are differentiable to any order. Errors and names are as described in
// ebb/ops/linalg/decomposition.h.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>

namespace ebb {

namespace linalg {

/// Returns the norm of the matrices along `dim`. For ord 1 and -1 it is the largest and smallest column sum
/// of absolute values. For inf and -inf it is the largest and smallest row sum. For 2 and -2 it is the
/// largest and smallest singular value (torch.linalg.matrix_norm). With a dtype, A is converted first.
EBB_API Variable matrix_norm(const Variable& A, const Scalar& ord, IntArrayRef dim = {-2, -1},
                             bool keepdim = false, optional<ScalarType> dtype = nullopt);
/// Returns the norm for ord "fro" (the square root of the sum of squares) or "nuc" (the sum of the singular
/// values).
EBB_API Variable matrix_norm(const Variable& A, std::string_view ord = "fro", IntArrayRef dim = {-2, -1},
                             bool keepdim = false, optional<ScalarType> dtype = nullopt);
/// Returns a vector norm over one dimension or a matrix norm over two. Without ord and dim, returns the
/// vector norm of all elements. With ord but without dim, A must have one or two dimensions
/// (torch.linalg.norm).
EBB_API Variable norm(const Variable& A, const optional<Scalar>& ord = nullopt,
                      OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                      optional<ScalarType> dtype = nullopt);
EBB_API Variable norm(const Variable& A, std::string_view ord, OptionalIntArrayRef dim = nullopt,
                      bool keepdim = false, optional<ScalarType> dtype = nullopt);
/// Returns the condition number in the norm p. For 2 (default) and -2 it is computed from singular values,
/// and for other norms of matrix_norm as |A| |A^-1|. It is infinite for singular matrices
/// (torch.linalg.cond).
EBB_API Variable cond(const Variable& A, const optional<Scalar>& p = nullopt);
EBB_API Variable cond(const Variable& A, std::string_view p);
/// Returns the number of singular values larger than tol. If `hermitian`, counts absolute eigenvalues of
/// symmetric matrices instead (torch.linalg.matrix_rank). The result is Long, without a gradient.
EBB_API Variable matrix_rank(const Variable& A, double tol, bool hermitian = false);
/// Counts singular values larger than max(atol, rtol times the largest one). The default of rtol is the
/// dtype's epsilon times max(m, n), or 0 if atol > 0 is given.
EBB_API Variable matrix_rank(const Variable& A, optional<double> atol, optional<double> rtol,
                             bool hermitian = false);
/// Overload of matrix_rank whose thresholds are tensors that broadcast against the batch.
EBB_API Variable matrix_rank(const Variable& A, const optional<Variable>& atol = nullopt,
                             const optional<Variable>& rtol = nullopt, bool hermitian = false);

/// Returns the sum of A^k / k! over all k (torch.linalg.matrix_exp), by scaling and squaring (Higham 2005).
/// The host waits for the device, because the number of squarings depends on A.
EBB_API Variable matrix_exp(const Variable& A);
/// Returns sums of x y along a dimension; the other dimensions broadcast (torch.linalg.vecdot).
EBB_API Variable vecdot(const Variable& x, const Variable& y, std::int64_t dim = -1);
/// Returns the diagonal of the last two dimensions (torch.linalg.diagonal).
EBB_API Variable diagonal(const Variable& A, std::int64_t offset = 0, std::int64_t dim1 = -2,
                          std::int64_t dim2 = -1);
/// Returns the powers 0 to N - 1 of each element (default N = n): [..., n] -> [..., n, N]
/// (torch.linalg.vander).
EBB_API Variable vander(const Variable& x, optional<std::int64_t> N = nullopt);

}  // namespace linalg

/// Returns linalg::matrix_exp (torch.matrix_exp).
EBB_API Variable matrix_exp(const Variable& self);
/// Returns the sum of the singular values of a matrix, or of the matrices along `dim` (torch.nuclear_norm).
EBB_API Variable nuclear_norm(const Variable& self, bool keepdim = false);
EBB_API Variable nuclear_norm(const Variable& self, IntArrayRef dim, bool keepdim = false);
/// Returns the transpose of a matrix (torch.Tensor.H).
EBB_API Variable matrix_H(const Variable& self);

inline Variable linalg_matrix_norm(const Variable& A, const Scalar& ord, IntArrayRef dim = {-2, -1},
                                   bool keepdim = false, optional<ScalarType> dtype = nullopt) {
  return linalg::matrix_norm(A, ord, dim, keepdim, dtype);
}
inline Variable linalg_matrix_norm(const Variable& A, std::string_view ord = "fro",
                                   IntArrayRef dim = {-2, -1}, bool keepdim = false,
                                   optional<ScalarType> dtype = nullopt) {
  return linalg::matrix_norm(A, ord, dim, keepdim, dtype);
}
inline Variable linalg_norm(const Variable& A, const optional<Scalar>& ord = nullopt,
                            OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                            optional<ScalarType> dtype = nullopt) {
  return linalg::norm(A, ord, dim, keepdim, dtype);
}
inline Variable linalg_norm(const Variable& A, std::string_view ord, OptionalIntArrayRef dim = nullopt,
                            bool keepdim = false, optional<ScalarType> dtype = nullopt) {
  return linalg::norm(A, ord, dim, keepdim, dtype);
}
inline Variable linalg_cond(const Variable& A, const optional<Scalar>& p = nullopt) {
  return linalg::cond(A, p);
}
inline Variable linalg_cond(const Variable& A, std::string_view p) { return linalg::cond(A, p); }
inline Variable linalg_matrix_rank(const Variable& A, double tol, bool hermitian = false) {
  return linalg::matrix_rank(A, tol, hermitian);
}
inline Variable linalg_matrix_rank(const Variable& A, optional<double> atol, optional<double> rtol,
                                   bool hermitian = false) {
  return linalg::matrix_rank(A, atol, rtol, hermitian);
}
inline Variable linalg_matrix_rank(const Variable& A, const optional<Variable>& atol = nullopt,
                                   const optional<Variable>& rtol = nullopt, bool hermitian = false) {
  return linalg::matrix_rank(A, atol, rtol, hermitian);
}
inline Variable linalg_matrix_exp(const Variable& A) { return linalg::matrix_exp(A); }
inline Variable linalg_vecdot(const Variable& x, const Variable& y, std::int64_t dim = -1) {
  return linalg::vecdot(x, y, dim);
}
inline Variable linalg_diagonal(const Variable& A, std::int64_t offset = 0, std::int64_t dim1 = -2,
                                std::int64_t dim2 = -1) {
  return linalg::diagonal(A, offset, dim1, dim2);
}
inline Variable linalg_vander(const Variable& x, optional<std::int64_t> N = nullopt) {
  return linalg::vander(x, N);
}

}  // namespace ebb
