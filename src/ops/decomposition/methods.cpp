// Bodies of the methods of linear algebra that factor: each is the function of the same name.
#include <ebb/ops/decomposition.h>
#include <ebb/ops/matrix.h>
#include <ebb/ops/solve.h>

#include "ops/common/self.h"

namespace ebb::ops {

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
