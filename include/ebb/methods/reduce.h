// ReduceMethods: methods of Variable that reduce, scan and multiply matrices; documented with the functions
// of the same names in ebb/ops/reduce/ and ebb/ops/linalg/.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/dtype.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <cstdint>
#include <tuple>

namespace ebb::ops {

struct EBB_API ReduceMethods {
  // Reductions.
  Variable sum(optional<ScalarType> dtype = nullopt) const;
  Variable sum(OptionalIntArrayRef dim, bool keepdim = false, optional<ScalarType> dtype = nullopt) const;
  Variable mean(optional<ScalarType> dtype = nullopt) const;
  Variable mean(OptionalIntArrayRef dim, bool keepdim = false, optional<ScalarType> dtype = nullopt) const;
  Variable nansum(OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                  optional<ScalarType> dtype = nullopt) const;
  Variable nanmean(OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                   optional<ScalarType> dtype = nullopt) const;
  Variable prod(optional<ScalarType> dtype = nullopt) const;
  Variable prod(std::int64_t dim, bool keepdim = false, optional<ScalarType> dtype = nullopt) const;
  Variable max() const;
  Variable min() const;
  std::tuple<Variable, Variable> max(std::int64_t dim, bool keepdim = false) const;
  std::tuple<Variable, Variable> min(std::int64_t dim, bool keepdim = false) const;
  Variable max(const Variable& other) const;
  Variable min(const Variable& other) const;
  Variable amax(IntArrayRef dim = {}, bool keepdim = false) const;
  Variable amin(IntArrayRef dim = {}, bool keepdim = false) const;
  std::tuple<Variable, Variable> aminmax(optional<std::int64_t> dim = nullopt, bool keepdim = false) const;
  Variable argmax(optional<std::int64_t> dim = nullopt, bool keepdim = false) const;
  Variable argmin(optional<std::int64_t> dim = nullopt, bool keepdim = false) const;
  Variable any() const;
  Variable any(std::int64_t dim, bool keepdim = false) const;
  Variable any(OptionalIntArrayRef dim, bool keepdim = false) const;
  Variable all() const;
  Variable all(std::int64_t dim, bool keepdim = false) const;
  Variable all(OptionalIntArrayRef dim, bool keepdim = false) const;
  Variable count_nonzero(IntArrayRef dim) const;
  Variable count_nonzero(optional<std::int64_t> dim = nullopt) const;
  Variable count_nonzero(std::int64_t dim) const;
  Variable hash_tensor(IntArrayRef dim = {}, bool keepdim = false, std::int64_t mode = 0) const;
  Variable var(bool unbiased = true) const;
  Variable var(int dim) const;
  Variable var(std::initializer_list<std::int64_t> dim) const;
  Variable var(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
  Variable var(OptionalIntArrayRef dim, const optional<Scalar>& correction, bool keepdim = false) const;
  Variable std(bool unbiased = true) const;
  Variable std(int dim) const;
  Variable std(std::initializer_list<std::int64_t> dim) const;
  Variable std(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
  Variable std(OptionalIntArrayRef dim, const optional<Scalar>& correction, bool keepdim = false) const;
  Variable norm(const Scalar& p = 2) const;
  Variable norm(const optional<Scalar>& p, ScalarType dtype) const;
  Variable norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim = false) const;
  Variable norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim, ScalarType dtype) const;
  Variable dist(const Variable& other, const Scalar& p = 2) const;
  Variable cov(std::int64_t correction = 1) const;
  Variable cov(std::int64_t correction, const optional<Variable>& fweights) const;
  Variable cov(std::int64_t correction, const optional<Variable>& fweights,
               const optional<Variable>& aweights) const;
  Variable corrcoef() const;
  Variable renorm(const Scalar& p, std::int64_t dim, const Scalar& maxnorm) const;
  Variable& renorm_(const Scalar& p, std::int64_t dim, const Scalar& maxnorm) const;
  Variable logsumexp(IntArrayRef dim, bool keepdim = false) const;

  // Scans along a dimension.
  Variable cumsum(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable& cumsum_(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable cumprod(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable& cumprod_(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable logcumsumexp(std::int64_t dim) const;
  std::tuple<Variable, Variable> cummax(std::int64_t dim) const;
  std::tuple<Variable, Variable> cummin(std::int64_t dim) const;
  // Variable is incomplete here, so optional tensors need overloads in place of default arguments.
  Variable diff(std::int64_t n = 1, std::int64_t dim = -1) const;
  Variable diff(std::int64_t n, std::int64_t dim, const optional<Variable>& prepend) const;
  Variable diff(std::int64_t n, std::int64_t dim, const optional<Variable>& prepend,
                const optional<Variable>& append) const;

  // Softmax.
  Variable softmax(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable log_softmax(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;

  // Linear algebra.
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
