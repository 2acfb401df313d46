// Bodies of the methods of linear algebra: each is the function of the same name.
#include <ebb/ops/linalg.h>

#include "ops/common/self.h"

namespace ebb::ops {

Variable LinalgMethods::mm(const Variable& mat2) const { return ebb::mm(self(this), mat2); }
Variable LinalgMethods::bmm(const Variable& mat2) const { return ebb::bmm(self(this), mat2); }
Variable LinalgMethods::matmul(const Variable& other) const { return ebb::matmul(self(this), other); }
Variable LinalgMethods::mv(const Variable& vec) const { return ebb::mv(self(this), vec); }
Variable LinalgMethods::dot(const Variable& other) const { return ebb::dot(self(this), other); }
Variable LinalgMethods::vdot(const Variable& other) const { return ebb::vdot(self(this), other); }
Variable LinalgMethods::inner(const Variable& other) const { return ebb::inner(self(this), other); }
Variable LinalgMethods::outer(const Variable& vec2) const { return ebb::outer(self(this), vec2); }
Variable LinalgMethods::ger(const Variable& vec2) const { return ebb::outer(self(this), vec2); }
Variable LinalgMethods::addmm(const Variable& mat1, const Variable& mat2, const Scalar& beta,
                              const Scalar& alpha) const {
  return ebb::addmm(self(this), mat1, mat2, beta, alpha);
}
Variable LinalgMethods::addmv(const Variable& mat, const Variable& vec, const Scalar& beta,
                              const Scalar& alpha) const {
  return ebb::addmv(self(this), mat, vec, beta, alpha);
}
Variable LinalgMethods::addr(const Variable& vec1, const Variable& vec2, const Scalar& beta,
                             const Scalar& alpha) const {
  return ebb::addr(self(this), vec1, vec2, beta, alpha);
}
Variable LinalgMethods::addbmm(const Variable& batch1, const Variable& batch2, const Scalar& beta,
                               const Scalar& alpha) const {
  return ebb::addbmm(self(this), batch1, batch2, beta, alpha);
}
Variable LinalgMethods::baddbmm(const Variable& batch1, const Variable& batch2, const Scalar& beta,
                                const Scalar& alpha) const {
  return ebb::baddbmm(self(this), batch1, batch2, beta, alpha);
}
Variable LinalgMethods::kron(const Variable& other) const { return ebb::kron(self(this), other); }
Variable LinalgMethods::trace() const { return ebb::trace(self(this)); }
Variable LinalgMethods::cross(const Variable& other, optional<std::int64_t> dim) const {
  return ebb::cross(self(this), other, dim);
}
Variable LinalgMethods::matrix_power(std::int64_t n) const { return ebb::matrix_power(self(this), n); }

}  // namespace ebb::ops
