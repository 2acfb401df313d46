// Definitions of the methods of linear algebra. Each calls the function of the same name.
#include <ebb/ops/linalg.h>

#include "ops/common/record.h"

namespace ebb::ops {

Variable ReduceMethods::mm(const Variable& mat2) const { return ebb::mm(self(this), mat2); }
Variable ReduceMethods::bmm(const Variable& mat2) const { return ebb::bmm(self(this), mat2); }
Variable ReduceMethods::matmul(const Variable& other) const { return ebb::matmul(self(this), other); }
Variable ReduceMethods::mv(const Variable& vec) const { return ebb::mv(self(this), vec); }
Variable ReduceMethods::dot(const Variable& other) const { return ebb::dot(self(this), other); }
Variable ReduceMethods::vdot(const Variable& other) const { return ebb::vdot(self(this), other); }
Variable ReduceMethods::inner(const Variable& other) const { return ebb::inner(self(this), other); }
Variable ReduceMethods::outer(const Variable& vec2) const { return ebb::outer(self(this), vec2); }
Variable ReduceMethods::ger(const Variable& vec2) const { return ebb::outer(self(this), vec2); }
Variable ReduceMethods::addmm(const Variable& mat1, const Variable& mat2, const Scalar& beta,
                              const Scalar& alpha) const {
  return ebb::addmm(self(this), mat1, mat2, beta, alpha);
}
Variable ReduceMethods::addmv(const Variable& mat, const Variable& vec, const Scalar& beta,
                              const Scalar& alpha) const {
  return ebb::addmv(self(this), mat, vec, beta, alpha);
}
Variable ReduceMethods::addr(const Variable& vec1, const Variable& vec2, const Scalar& beta,
                             const Scalar& alpha) const {
  return ebb::addr(self(this), vec1, vec2, beta, alpha);
}
Variable ReduceMethods::addbmm(const Variable& batch1, const Variable& batch2, const Scalar& beta,
                               const Scalar& alpha) const {
  return ebb::addbmm(self(this), batch1, batch2, beta, alpha);
}
Variable ReduceMethods::baddbmm(const Variable& batch1, const Variable& batch2, const Scalar& beta,
                                const Scalar& alpha) const {
  return ebb::baddbmm(self(this), batch1, batch2, beta, alpha);
}
Variable ReduceMethods::kron(const Variable& other) const { return ebb::kron(self(this), other); }
Variable ReduceMethods::trace() const { return ebb::trace(self(this)); }
Variable ReduceMethods::cross(const Variable& other, optional<std::int64_t> dim) const {
  return ebb::cross(self(this), other, dim);
}
Variable ReduceMethods::matrix_power(std::int64_t n) const { return ebb::matrix_power(self(this), n); }

Variable ReduceMethods::matrix_exp() const { return ebb::matrix_exp(self(this)); }
Variable ReduceMethods::matrix_H() const { return ebb::matrix_H(self(this)); }
Variable ReduceMethods::det() const { return ebb::det(self(this)); }
Variable ReduceMethods::logdet() const { return ebb::logdet(self(this)); }
std::tuple<Variable, Variable> ReduceMethods::slogdet() const { return ebb::slogdet(self(this)); }
Variable ReduceMethods::inverse() const { return ebb::inverse(self(this)); }
Variable ReduceMethods::pinverse(double rcond) const { return ebb::pinverse(self(this), rcond); }
Variable ReduceMethods::cholesky(bool upper) const { return ebb::cholesky(self(this), upper); }
Variable ReduceMethods::cholesky_solve(const Variable& input2, bool upper) const {
  return ebb::cholesky_solve(self(this), input2, upper);
}
Variable ReduceMethods::cholesky_inverse(bool upper) const {
  return ebb::cholesky_inverse(self(this), upper);
}
std::tuple<Variable, Variable> ReduceMethods::qr(bool some) const { return ebb::qr(self(this), some); }
std::tuple<Variable, Variable> ReduceMethods::geqrf() const { return ebb::geqrf(self(this)); }
Variable ReduceMethods::orgqr(const Variable& input2) const { return ebb::orgqr(self(this), input2); }
Variable ReduceMethods::ormqr(const Variable& input2, const Variable& input3, bool left,
                              bool transpose) const {
  return ebb::ormqr(self(this), input2, input3, left, transpose);
}
std::tuple<Variable, Variable, Variable> ReduceMethods::svd(bool some, bool compute_uv) const {
  return ebb::svd(self(this), some, compute_uv);
}
std::tuple<Variable, Variable> ReduceMethods::triangular_solve(const Variable& A, bool upper, bool transpose,
                                                               bool unitriangular) const {
  return ebb::triangular_solve(self(this), A, upper, transpose, unitriangular);
}
Variable ReduceMethods::lu_solve(const Variable& LU_data, const Variable& LU_pivots) const {
  return ebb::lu_solve(self(this), LU_data, LU_pivots);
}

}  // namespace ebb::ops
