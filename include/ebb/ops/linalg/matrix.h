// Norms, condition, rank and exponential of matrices, and what else linalg has that needs no factorisation.
//
// Norms and what sums or multiplies take all floating dtypes; what needs singular values or a solution takes
// Float and Double. Differentiable to any order; what ebb/ops/linalg/decomposition.h says of errors and names
// holds.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>

namespace ebb {

namespace linalg {

/// The norm of matrices that lie along `dim`: 1 and -1, the largest and smallest sum of magnitudes of a
/// column, inf and -inf, of a row, 2 and -2, the largest and smallest singular value
/// (torch.linalg.matrix_norm). A dtype converts A first.
EBB_API Variable matrix_norm(const Variable& A, const Scalar& ord, IntArrayRef dim = {-2, -1},
                             bool keepdim = false, optional<ScalarType> dtype = nullopt);
/// "fro", the square root of the sum of squares, or "nuc", the sum of the singular values.
EBB_API Variable matrix_norm(const Variable& A, std::string_view ord = "fro", IntArrayRef dim = {-2, -1},
                             bool keepdim = false, optional<ScalarType> dtype = nullopt);
/// A vector norm of everything where neither is given; a vector norm over one dimension, a matrix norm over
/// two; with an order alone A must have one or two (torch.linalg.norm).
EBB_API Variable norm(const Variable& A, const optional<Scalar>& ord = nullopt,
                      OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                      optional<ScalarType> dtype = nullopt);
EBB_API Variable norm(const Variable& A, std::string_view ord, OptionalIntArrayRef dim = nullopt,
                      bool keepdim = false, optional<ScalarType> dtype = nullopt);
/// The condition number in the norm p: 2 (the default) and -2 by singular values, the others of matrix_norm
/// as |A| |A^-1|, infinite for singular matrices (torch.linalg.cond).
EBB_API Variable cond(const Variable& A, const optional<Scalar>& p = nullopt);
EBB_API Variable cond(const Variable& A, std::string_view p);
/// How many singular values (of symmetric matrices, where `hermitian`, eigenvalues) are larger than tol
/// (torch.linalg.matrix_rank). Long, without a gradient.
EBB_API Variable matrix_rank(const Variable& A, double tol, bool hermitian = false);
/// Larger than max(atol, rtol times the largest); rtol is by default the dtype's epsilon times max(m, n), or
/// 0 where an atol above 0 is given.
EBB_API Variable matrix_rank(const Variable& A, optional<double> atol, optional<double> rtol,
                             bool hermitian = false);
/// The same with thresholds that broadcast against the batch.
EBB_API Variable matrix_rank(const Variable& A, const optional<Variable>& atol = nullopt,
                             const optional<Variable>& rtol = nullopt, bool hermitian = false);

/// The sum of A^k / k! over all k (torch.linalg.matrix_exp), by scaling and squaring (Higham 2005). How often
/// to square is read on the host.
EBB_API Variable matrix_exp(const Variable& A);
/// Sums of x y along a dimension; the others broadcast (torch.linalg.vecdot).
EBB_API Variable vecdot(const Variable& x, const Variable& y, std::int64_t dim = -1);
/// diagonal of the last two dimensions (torch.linalg.diagonal).
EBB_API Variable diagonal(const Variable& A, std::int64_t offset = 0, std::int64_t dim1 = -2,
                          std::int64_t dim2 = -1);
/// The powers 0 to N - 1 (by default as many as there are) of every element: [..., n] -> [..., n, N]
/// (torch.linalg.vander).
EBB_API Variable vander(const Variable& x, optional<std::int64_t> N = nullopt);

}  // namespace linalg

/// As linalg::matrix_exp (torch.matrix_exp).
EBB_API Variable matrix_exp(const Variable& self);
/// The sum of the singular values of a matrix, or of those along `dim` (torch.nuclear_norm).
EBB_API Variable nuclear_norm(const Variable& self, bool keepdim = false);
EBB_API Variable nuclear_norm(const Variable& self, IntArrayRef dim, bool keepdim = false);
/// The transpose of a matrix (torch.Tensor.H).
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
