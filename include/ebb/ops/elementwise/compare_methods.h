// Bodies of the methods of Variable that compare or take bits: each is the free function of the same name.
#pragma once

#include <ebb/ops/elementwise/compare.h>
#include <ebb/ops/elementwise/unary_methods.h>

namespace ebb::ops {

inline Variable ElementwiseMethods::eq(const Variable& other) const { return ebb::eq(self(), other); }
inline Variable ElementwiseMethods::eq(const Scalar& other) const { return ebb::eq(self(), other); }
inline Variable& ElementwiseMethods::eq_(const Variable& other) const { return ebb::eq_(self(), other); }
inline Variable& ElementwiseMethods::eq_(const Scalar& other) const { return ebb::eq_(self(), other); }
inline Variable ElementwiseMethods::ne(const Variable& other) const { return ebb::ne(self(), other); }
inline Variable ElementwiseMethods::ne(const Scalar& other) const { return ebb::ne(self(), other); }
inline Variable& ElementwiseMethods::ne_(const Variable& other) const { return ebb::ne_(self(), other); }
inline Variable& ElementwiseMethods::ne_(const Scalar& other) const { return ebb::ne_(self(), other); }
inline Variable ElementwiseMethods::lt(const Variable& other) const { return ebb::lt(self(), other); }
inline Variable ElementwiseMethods::lt(const Scalar& other) const { return ebb::lt(self(), other); }
inline Variable& ElementwiseMethods::lt_(const Variable& other) const { return ebb::lt_(self(), other); }
inline Variable& ElementwiseMethods::lt_(const Scalar& other) const { return ebb::lt_(self(), other); }
inline Variable ElementwiseMethods::le(const Variable& other) const { return ebb::le(self(), other); }
inline Variable ElementwiseMethods::le(const Scalar& other) const { return ebb::le(self(), other); }
inline Variable& ElementwiseMethods::le_(const Variable& other) const { return ebb::le_(self(), other); }
inline Variable& ElementwiseMethods::le_(const Scalar& other) const { return ebb::le_(self(), other); }
inline Variable ElementwiseMethods::gt(const Variable& other) const { return ebb::gt(self(), other); }
inline Variable ElementwiseMethods::gt(const Scalar& other) const { return ebb::gt(self(), other); }
inline Variable& ElementwiseMethods::gt_(const Variable& other) const { return ebb::gt_(self(), other); }
inline Variable& ElementwiseMethods::gt_(const Scalar& other) const { return ebb::gt_(self(), other); }
inline Variable ElementwiseMethods::ge(const Variable& other) const { return ebb::ge(self(), other); }
inline Variable ElementwiseMethods::ge(const Scalar& other) const { return ebb::ge(self(), other); }
inline Variable& ElementwiseMethods::ge_(const Variable& other) const { return ebb::ge_(self(), other); }
inline Variable& ElementwiseMethods::ge_(const Scalar& other) const { return ebb::ge_(self(), other); }
inline Variable ElementwiseMethods::not_equal(const Variable& other) const {
  return ebb::not_equal(self(), other);
}
inline Variable ElementwiseMethods::not_equal(const Scalar& other) const {
  return ebb::not_equal(self(), other);
}
inline Variable& ElementwiseMethods::not_equal_(const Variable& other) const {
  return ebb::not_equal_(self(), other);
}
inline Variable& ElementwiseMethods::not_equal_(const Scalar& other) const {
  return ebb::not_equal_(self(), other);
}
inline Variable ElementwiseMethods::less(const Variable& other) const { return ebb::less(self(), other); }
inline Variable ElementwiseMethods::less(const Scalar& other) const { return ebb::less(self(), other); }
inline Variable& ElementwiseMethods::less_(const Variable& other) const { return ebb::less_(self(), other); }
inline Variable& ElementwiseMethods::less_(const Scalar& other) const { return ebb::less_(self(), other); }
inline Variable ElementwiseMethods::less_equal(const Variable& other) const {
  return ebb::less_equal(self(), other);
}
inline Variable ElementwiseMethods::less_equal(const Scalar& other) const {
  return ebb::less_equal(self(), other);
}
inline Variable& ElementwiseMethods::less_equal_(const Variable& other) const {
  return ebb::less_equal_(self(), other);
}
inline Variable& ElementwiseMethods::less_equal_(const Scalar& other) const {
  return ebb::less_equal_(self(), other);
}
inline Variable ElementwiseMethods::greater(const Variable& other) const {
  return ebb::greater(self(), other);
}
inline Variable ElementwiseMethods::greater(const Scalar& other) const { return ebb::greater(self(), other); }
inline Variable& ElementwiseMethods::greater_(const Variable& other) const {
  return ebb::greater_(self(), other);
}
inline Variable& ElementwiseMethods::greater_(const Scalar& other) const {
  return ebb::greater_(self(), other);
}
inline Variable ElementwiseMethods::greater_equal(const Variable& other) const {
  return ebb::greater_equal(self(), other);
}
inline Variable ElementwiseMethods::greater_equal(const Scalar& other) const {
  return ebb::greater_equal(self(), other);
}
inline Variable& ElementwiseMethods::greater_equal_(const Variable& other) const {
  return ebb::greater_equal_(self(), other);
}
inline Variable& ElementwiseMethods::greater_equal_(const Scalar& other) const {
  return ebb::greater_equal_(self(), other);
}
inline Variable ElementwiseMethods::bitwise_and(const Variable& other) const {
  return ebb::bitwise_and(self(), other);
}
inline Variable ElementwiseMethods::bitwise_and(const Scalar& other) const {
  return ebb::bitwise_and(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_and_(const Variable& other) const {
  return ebb::bitwise_and_(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_and_(const Scalar& other) const {
  return ebb::bitwise_and_(self(), other);
}
inline Variable ElementwiseMethods::bitwise_or(const Variable& other) const {
  return ebb::bitwise_or(self(), other);
}
inline Variable ElementwiseMethods::bitwise_or(const Scalar& other) const {
  return ebb::bitwise_or(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_or_(const Variable& other) const {
  return ebb::bitwise_or_(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_or_(const Scalar& other) const {
  return ebb::bitwise_or_(self(), other);
}
inline Variable ElementwiseMethods::bitwise_xor(const Variable& other) const {
  return ebb::bitwise_xor(self(), other);
}
inline Variable ElementwiseMethods::bitwise_xor(const Scalar& other) const {
  return ebb::bitwise_xor(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_xor_(const Variable& other) const {
  return ebb::bitwise_xor_(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_xor_(const Scalar& other) const {
  return ebb::bitwise_xor_(self(), other);
}
inline Variable ElementwiseMethods::bitwise_left_shift(const Variable& other) const {
  return ebb::bitwise_left_shift(self(), other);
}
inline Variable ElementwiseMethods::bitwise_left_shift(const Scalar& other) const {
  return ebb::bitwise_left_shift(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_left_shift_(const Variable& other) const {
  return ebb::bitwise_left_shift_(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_left_shift_(const Scalar& other) const {
  return ebb::bitwise_left_shift_(self(), other);
}
inline Variable ElementwiseMethods::bitwise_right_shift(const Variable& other) const {
  return ebb::bitwise_right_shift(self(), other);
}
inline Variable ElementwiseMethods::bitwise_right_shift(const Scalar& other) const {
  return ebb::bitwise_right_shift(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_right_shift_(const Variable& other) const {
  return ebb::bitwise_right_shift_(self(), other);
}
inline Variable& ElementwiseMethods::bitwise_right_shift_(const Scalar& other) const {
  return ebb::bitwise_right_shift_(self(), other);
}
inline Variable ElementwiseMethods::logical_and(const Variable& other) const {
  return ebb::logical_and(self(), other);
}
inline Variable& ElementwiseMethods::logical_and_(const Variable& other) const {
  return ebb::logical_and_(self(), other);
}
inline Variable ElementwiseMethods::logical_or(const Variable& other) const {
  return ebb::logical_or(self(), other);
}
inline Variable& ElementwiseMethods::logical_or_(const Variable& other) const {
  return ebb::logical_or_(self(), other);
}
inline Variable ElementwiseMethods::logical_xor(const Variable& other) const {
  return ebb::logical_xor(self(), other);
}
inline Variable& ElementwiseMethods::logical_xor_(const Variable& other) const {
  return ebb::logical_xor_(self(), other);
}

}  // namespace ebb::ops
