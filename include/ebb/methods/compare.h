// Methods of Variable that compare, and that work on truth values and bits; documented with the functions of
// the same names in ebb/ops/elementwise/compare.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

namespace ebb::ops {

struct EBB_API CompareMethods {
  Variable eq(const Variable& other) const;
  Variable eq(const Scalar& other) const;
  Variable& eq_(const Variable& other) const;
  Variable& eq_(const Scalar& other) const;
  Variable ne(const Variable& other) const;
  Variable ne(const Scalar& other) const;
  Variable& ne_(const Variable& other) const;
  Variable& ne_(const Scalar& other) const;
  Variable lt(const Variable& other) const;
  Variable lt(const Scalar& other) const;
  Variable& lt_(const Variable& other) const;
  Variable& lt_(const Scalar& other) const;
  Variable le(const Variable& other) const;
  Variable le(const Scalar& other) const;
  Variable& le_(const Variable& other) const;
  Variable& le_(const Scalar& other) const;
  Variable gt(const Variable& other) const;
  Variable gt(const Scalar& other) const;
  Variable& gt_(const Variable& other) const;
  Variable& gt_(const Scalar& other) const;
  Variable ge(const Variable& other) const;
  Variable ge(const Scalar& other) const;
  Variable& ge_(const Variable& other) const;
  Variable& ge_(const Scalar& other) const;
  Variable not_equal(const Variable& other) const;
  Variable not_equal(const Scalar& other) const;
  Variable& not_equal_(const Variable& other) const;
  Variable& not_equal_(const Scalar& other) const;
  Variable less(const Variable& other) const;
  Variable less(const Scalar& other) const;
  Variable& less_(const Variable& other) const;
  Variable& less_(const Scalar& other) const;
  Variable less_equal(const Variable& other) const;
  Variable less_equal(const Scalar& other) const;
  Variable& less_equal_(const Variable& other) const;
  Variable& less_equal_(const Scalar& other) const;
  Variable greater(const Variable& other) const;
  Variable greater(const Scalar& other) const;
  Variable& greater_(const Variable& other) const;
  Variable& greater_(const Scalar& other) const;
  Variable greater_equal(const Variable& other) const;
  Variable greater_equal(const Scalar& other) const;
  Variable& greater_equal_(const Variable& other) const;
  Variable& greater_equal_(const Scalar& other) const;
  Variable bitwise_and(const Variable& other) const;
  Variable bitwise_and(const Scalar& other) const;
  Variable& bitwise_and_(const Variable& other) const;
  Variable& bitwise_and_(const Scalar& other) const;
  Variable bitwise_or(const Variable& other) const;
  Variable bitwise_or(const Scalar& other) const;
  Variable& bitwise_or_(const Variable& other) const;
  Variable& bitwise_or_(const Scalar& other) const;
  Variable bitwise_xor(const Variable& other) const;
  Variable bitwise_xor(const Scalar& other) const;
  Variable& bitwise_xor_(const Variable& other) const;
  Variable& bitwise_xor_(const Scalar& other) const;
  Variable bitwise_left_shift(const Variable& other) const;
  Variable bitwise_left_shift(const Scalar& other) const;
  Variable& bitwise_left_shift_(const Variable& other) const;
  Variable& bitwise_left_shift_(const Scalar& other) const;
  Variable bitwise_right_shift(const Variable& other) const;
  Variable bitwise_right_shift(const Scalar& other) const;
  Variable& bitwise_right_shift_(const Variable& other) const;
  Variable& bitwise_right_shift_(const Scalar& other) const;
  Variable logical_and(const Variable& other) const;
  Variable& logical_and_(const Variable& other) const;
  Variable logical_or(const Variable& other) const;
  Variable& logical_or_(const Variable& other) const;
  Variable logical_xor(const Variable& other) const;
  Variable& logical_xor_(const Variable& other) const;
  Variable isclose(const Variable& other, double rtol = 1e-5, double atol = 1e-8,
                   bool equal_nan = false) const;
  bool allclose(const Variable& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;
  bool equal(const Variable& other) const;
  Variable& operator&=(const Variable& other);
  Variable& operator&=(const Scalar& other);
  Variable& operator|=(const Variable& other);
  Variable& operator|=(const Scalar& other);
  Variable& operator^=(const Variable& other);
  Variable& operator^=(const Scalar& other);
};

}  // namespace ebb::ops
