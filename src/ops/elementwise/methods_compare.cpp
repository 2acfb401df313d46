// Bodies of the methods that compare, and that work on truth values and bits: each is the function of the
// same name.
#include <ebb/ops/elementwise/arithmetic.h>
#include <ebb/ops/elementwise/compare.h>

#include "ops/common/self.h"

namespace ebb::ops {

Variable CompareMethods::eq(const Variable& other) const { return ebb::eq(self(this), other); }
Variable CompareMethods::eq(const Scalar& other) const { return ebb::eq(self(this), other); }
Variable& CompareMethods::eq_(const Variable& other) const { return ebb::eq_(self(this), other); }
Variable& CompareMethods::eq_(const Scalar& other) const { return ebb::eq_(self(this), other); }
Variable CompareMethods::ne(const Variable& other) const { return ebb::ne(self(this), other); }
Variable CompareMethods::ne(const Scalar& other) const { return ebb::ne(self(this), other); }
Variable& CompareMethods::ne_(const Variable& other) const { return ebb::ne_(self(this), other); }
Variable& CompareMethods::ne_(const Scalar& other) const { return ebb::ne_(self(this), other); }
Variable CompareMethods::lt(const Variable& other) const { return ebb::lt(self(this), other); }
Variable CompareMethods::lt(const Scalar& other) const { return ebb::lt(self(this), other); }
Variable& CompareMethods::lt_(const Variable& other) const { return ebb::lt_(self(this), other); }
Variable& CompareMethods::lt_(const Scalar& other) const { return ebb::lt_(self(this), other); }
Variable CompareMethods::le(const Variable& other) const { return ebb::le(self(this), other); }
Variable CompareMethods::le(const Scalar& other) const { return ebb::le(self(this), other); }
Variable& CompareMethods::le_(const Variable& other) const { return ebb::le_(self(this), other); }
Variable& CompareMethods::le_(const Scalar& other) const { return ebb::le_(self(this), other); }
Variable CompareMethods::gt(const Variable& other) const { return ebb::gt(self(this), other); }
Variable CompareMethods::gt(const Scalar& other) const { return ebb::gt(self(this), other); }
Variable& CompareMethods::gt_(const Variable& other) const { return ebb::gt_(self(this), other); }
Variable& CompareMethods::gt_(const Scalar& other) const { return ebb::gt_(self(this), other); }
Variable CompareMethods::ge(const Variable& other) const { return ebb::ge(self(this), other); }
Variable CompareMethods::ge(const Scalar& other) const { return ebb::ge(self(this), other); }
Variable& CompareMethods::ge_(const Variable& other) const { return ebb::ge_(self(this), other); }
Variable& CompareMethods::ge_(const Scalar& other) const { return ebb::ge_(self(this), other); }
Variable CompareMethods::not_equal(const Variable& other) const { return ebb::not_equal(self(this), other); }
Variable CompareMethods::not_equal(const Scalar& other) const { return ebb::not_equal(self(this), other); }
Variable& CompareMethods::not_equal_(const Variable& other) const {
  return ebb::not_equal_(self(this), other);
}
Variable& CompareMethods::not_equal_(const Scalar& other) const { return ebb::not_equal_(self(this), other); }
Variable CompareMethods::less(const Variable& other) const { return ebb::less(self(this), other); }
Variable CompareMethods::less(const Scalar& other) const { return ebb::less(self(this), other); }
Variable& CompareMethods::less_(const Variable& other) const { return ebb::less_(self(this), other); }
Variable& CompareMethods::less_(const Scalar& other) const { return ebb::less_(self(this), other); }
Variable CompareMethods::less_equal(const Variable& other) const {
  return ebb::less_equal(self(this), other);
}
Variable CompareMethods::less_equal(const Scalar& other) const { return ebb::less_equal(self(this), other); }
Variable& CompareMethods::less_equal_(const Variable& other) const {
  return ebb::less_equal_(self(this), other);
}
Variable& CompareMethods::less_equal_(const Scalar& other) const {
  return ebb::less_equal_(self(this), other);
}
Variable CompareMethods::greater(const Variable& other) const { return ebb::greater(self(this), other); }
Variable CompareMethods::greater(const Scalar& other) const { return ebb::greater(self(this), other); }
Variable& CompareMethods::greater_(const Variable& other) const { return ebb::greater_(self(this), other); }
Variable& CompareMethods::greater_(const Scalar& other) const { return ebb::greater_(self(this), other); }
Variable CompareMethods::greater_equal(const Variable& other) const {
  return ebb::greater_equal(self(this), other);
}
Variable CompareMethods::greater_equal(const Scalar& other) const {
  return ebb::greater_equal(self(this), other);
}
Variable& CompareMethods::greater_equal_(const Variable& other) const {
  return ebb::greater_equal_(self(this), other);
}
Variable& CompareMethods::greater_equal_(const Scalar& other) const {
  return ebb::greater_equal_(self(this), other);
}
Variable CompareMethods::bitwise_and(const Variable& other) const {
  return ebb::bitwise_and(self(this), other);
}
Variable CompareMethods::bitwise_and(const Scalar& other) const {
  return ebb::bitwise_and(self(this), other);
}
Variable& CompareMethods::bitwise_and_(const Variable& other) const {
  return ebb::bitwise_and_(self(this), other);
}
Variable& CompareMethods::bitwise_and_(const Scalar& other) const {
  return ebb::bitwise_and_(self(this), other);
}
Variable CompareMethods::bitwise_or(const Variable& other) const {
  return ebb::bitwise_or(self(this), other);
}
Variable CompareMethods::bitwise_or(const Scalar& other) const { return ebb::bitwise_or(self(this), other); }
Variable& CompareMethods::bitwise_or_(const Variable& other) const {
  return ebb::bitwise_or_(self(this), other);
}
Variable& CompareMethods::bitwise_or_(const Scalar& other) const {
  return ebb::bitwise_or_(self(this), other);
}
Variable CompareMethods::bitwise_xor(const Variable& other) const {
  return ebb::bitwise_xor(self(this), other);
}
Variable CompareMethods::bitwise_xor(const Scalar& other) const {
  return ebb::bitwise_xor(self(this), other);
}
Variable& CompareMethods::bitwise_xor_(const Variable& other) const {
  return ebb::bitwise_xor_(self(this), other);
}
Variable& CompareMethods::bitwise_xor_(const Scalar& other) const {
  return ebb::bitwise_xor_(self(this), other);
}
Variable CompareMethods::bitwise_left_shift(const Variable& other) const {
  return ebb::bitwise_left_shift(self(this), other);
}
Variable CompareMethods::bitwise_left_shift(const Scalar& other) const {
  return ebb::bitwise_left_shift(self(this), other);
}
Variable& CompareMethods::bitwise_left_shift_(const Variable& other) const {
  return ebb::bitwise_left_shift_(self(this), other);
}
Variable& CompareMethods::bitwise_left_shift_(const Scalar& other) const {
  return ebb::bitwise_left_shift_(self(this), other);
}
Variable CompareMethods::bitwise_right_shift(const Variable& other) const {
  return ebb::bitwise_right_shift(self(this), other);
}
Variable CompareMethods::bitwise_right_shift(const Scalar& other) const {
  return ebb::bitwise_right_shift(self(this), other);
}
Variable& CompareMethods::bitwise_right_shift_(const Variable& other) const {
  return ebb::bitwise_right_shift_(self(this), other);
}
Variable& CompareMethods::bitwise_right_shift_(const Scalar& other) const {
  return ebb::bitwise_right_shift_(self(this), other);
}
Variable CompareMethods::logical_and(const Variable& other) const {
  return ebb::logical_and(self(this), other);
}
Variable& CompareMethods::logical_and_(const Variable& other) const {
  return ebb::logical_and_(self(this), other);
}
Variable CompareMethods::logical_or(const Variable& other) const {
  return ebb::logical_or(self(this), other);
}
Variable& CompareMethods::logical_or_(const Variable& other) const {
  return ebb::logical_or_(self(this), other);
}
Variable CompareMethods::logical_xor(const Variable& other) const {
  return ebb::logical_xor(self(this), other);
}
Variable& CompareMethods::logical_xor_(const Variable& other) const {
  return ebb::logical_xor_(self(this), other);
}
Variable CompareMethods::isclose(const Variable& other, double rtol, double atol, bool equal_nan) const {
  return ebb::isclose(self(this), other, rtol, atol, equal_nan);
}
bool CompareMethods::allclose(const Variable& other, double rtol, double atol, bool equal_nan) const {
  return ebb::allclose(self(this), other, rtol, atol, equal_nan);
}
bool CompareMethods::equal(const Variable& other) const { return ebb::equal(self(this), other); }
Variable& CompareMethods::operator&=(const Variable& other) { return ebb::bitwise_and_(self(this), other); }
Variable& CompareMethods::operator&=(const Scalar& other) { return ebb::bitwise_and_(self(this), other); }
Variable& CompareMethods::operator|=(const Variable& other) { return ebb::bitwise_or_(self(this), other); }
Variable& CompareMethods::operator|=(const Scalar& other) { return ebb::bitwise_or_(self(this), other); }
Variable& CompareMethods::operator^=(const Variable& other) { return ebb::bitwise_xor_(self(this), other); }
Variable& CompareMethods::operator^=(const Scalar& other) { return ebb::bitwise_xor_(self(this), other); }

}  // namespace ebb::ops
