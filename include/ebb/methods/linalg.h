// Methods of Variable of linear algebra; documented with the functions of the same names in ebb/ops/linalg.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <cstdint>

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
};

}  // namespace ebb::ops
