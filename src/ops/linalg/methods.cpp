// Bodies of the methods of linear algebra: each is the function of the same name.
#include <ebb/ops/linalg.h>

#include "ops/common/self.h"

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

}  // namespace ebb::ops
