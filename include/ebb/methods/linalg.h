// Methods of Variable of linear algebra; documented with the functions of the same names in
// ebb/ops/linalg.h, decomposition.h, solve.h and matrix.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <cstdint>
#include <tuple>

namespace ebb::ops {

struct EBB_API LinalgMethods {
  Variable mm(const Variable& mat2) const;
  Variable bmm(const Variable& mat2) const;
  Variable matmul(const Variable& other) const;
  Variable mv(const Variable& vec) const;
  Variable dot(const Variable& other) const;
  Variable vdot(const Variable& other) const;
  Variable inner(const Variable& other) const;
  Variable outer(const Variable& vec2) const;
  Variable ger(const Variable& vec2) const;
  Variable addmm(const Variable& mat1, const Variable& mat2, const Scalar& beta = 1,
                 const Scalar& alpha = 1) const;
  Variable& addmm_(const Variable& mat1, const Variable& mat2, const Scalar& beta = 1,
                   const Scalar& alpha = 1) const;
  Variable addmv(const Variable& mat, const Variable& vec, const Scalar& beta = 1,
                 const Scalar& alpha = 1) const;
  Variable& addmv_(const Variable& mat, const Variable& vec, const Scalar& beta = 1,
                   const Scalar& alpha = 1) const;
  Variable addr(const Variable& vec1, const Variable& vec2, const Scalar& beta = 1,
                const Scalar& alpha = 1) const;
  Variable& addr_(const Variable& vec1, const Variable& vec2, const Scalar& beta = 1,
                  const Scalar& alpha = 1) const;
  Variable addbmm(const Variable& batch1, const Variable& batch2, const Scalar& beta = 1,
                  const Scalar& alpha = 1) const;
  Variable& addbmm_(const Variable& batch1, const Variable& batch2, const Scalar& beta = 1,
                    const Scalar& alpha = 1) const;
  Variable baddbmm(const Variable& batch1, const Variable& batch2, const Scalar& beta = 1,
                   const Scalar& alpha = 1) const;
  Variable& baddbmm_(const Variable& batch1, const Variable& batch2, const Scalar& beta = 1,
                     const Scalar& alpha = 1) const;
  Variable kron(const Variable& other) const;
  Variable trace() const;
  Variable cross(const Variable& other, optional<std::int64_t> dim = nullopt) const;
  Variable matrix_power(std::int64_t n) const;
  Variable matrix_exp() const;
  Variable matrix_H() const;
  Variable det() const;
  Variable logdet() const;
  std::tuple<Variable, Variable> slogdet() const;
  Variable inverse() const;
  Variable pinverse(double rcond = 1e-15) const;
  Variable cholesky(bool upper = false) const;
  Variable cholesky_solve(const Variable& input2, bool upper = false) const;
  Variable cholesky_inverse(bool upper = false) const;
  std::tuple<Variable, Variable> qr(bool some = true) const;
  std::tuple<Variable, Variable> geqrf() const;
  Variable orgqr(const Variable& input2) const;
  Variable ormqr(const Variable& input2, const Variable& input3, bool left = true,
                 bool transpose = false) const;
  std::tuple<Variable, Variable, Variable> svd(bool some = true, bool compute_uv = true) const;
  std::tuple<Variable, Variable> triangular_solve(const Variable& A, bool upper = true,
                                                  bool transpose = false, bool unitriangular = false) const;
  Variable lu_solve(const Variable& LU_data, const Variable& LU_pivots) const;
};

}  // namespace ebb::ops
