// Bodies of the methods of Variable that take several tensors: each is the free function of the same name.
#pragma once

#include <ebb/ops/elementwise/activation.h>
#include <ebb/ops/elementwise/arithmetic.h>
#include <ebb/ops/elementwise/compare_methods.h>
#include <ebb/ops/elementwise/unary_methods.h>

namespace ebb::ops {

inline Variable ElementwiseMethods::add(const Variable& other, const Scalar& alpha) const {
  return ebb::add(self(), other, alpha);
}
inline Variable ElementwiseMethods::add(const Scalar& other, const Scalar& alpha) const {
  return ebb::add(self(), other, alpha);
}
inline Variable& ElementwiseMethods::add_(const Variable& other, const Scalar& alpha) const {
  return ebb::add_(self(), other, alpha);
}
inline Variable& ElementwiseMethods::add_(const Scalar& other, const Scalar& alpha) const {
  return ebb::add_(self(), other, alpha);
}
inline Variable ElementwiseMethods::sub(const Variable& other, const Scalar& alpha) const {
  return ebb::sub(self(), other, alpha);
}
inline Variable ElementwiseMethods::sub(const Scalar& other, const Scalar& alpha) const {
  return ebb::sub(self(), other, alpha);
}
inline Variable& ElementwiseMethods::sub_(const Variable& other, const Scalar& alpha) const {
  return ebb::sub_(self(), other, alpha);
}
inline Variable& ElementwiseMethods::sub_(const Scalar& other, const Scalar& alpha) const {
  return ebb::sub_(self(), other, alpha);
}
inline Variable ElementwiseMethods::subtract(const Variable& other, const Scalar& alpha) const {
  return ebb::subtract(self(), other, alpha);
}
inline Variable ElementwiseMethods::subtract(const Scalar& other, const Scalar& alpha) const {
  return ebb::subtract(self(), other, alpha);
}
inline Variable& ElementwiseMethods::subtract_(const Variable& other, const Scalar& alpha) const {
  return ebb::subtract_(self(), other, alpha);
}
inline Variable& ElementwiseMethods::subtract_(const Scalar& other, const Scalar& alpha) const {
  return ebb::subtract_(self(), other, alpha);
}
inline Variable ElementwiseMethods::mul(const Variable& other) const { return ebb::mul(self(), other); }
inline Variable ElementwiseMethods::mul(const Scalar& other) const { return ebb::mul(self(), other); }
inline Variable& ElementwiseMethods::mul_(const Variable& other) const { return ebb::mul_(self(), other); }
inline Variable& ElementwiseMethods::mul_(const Scalar& other) const { return ebb::mul_(self(), other); }
inline Variable ElementwiseMethods::multiply(const Variable& other) const {
  return ebb::multiply(self(), other);
}
inline Variable ElementwiseMethods::multiply(const Scalar& other) const {
  return ebb::multiply(self(), other);
}
inline Variable& ElementwiseMethods::multiply_(const Variable& other) const {
  return ebb::multiply_(self(), other);
}
inline Variable& ElementwiseMethods::multiply_(const Scalar& other) const {
  return ebb::multiply_(self(), other);
}
inline Variable ElementwiseMethods::div(const Variable& other) const { return ebb::div(self(), other); }
inline Variable ElementwiseMethods::div(const Scalar& other) const { return ebb::div(self(), other); }
inline Variable& ElementwiseMethods::div_(const Variable& other) const { return ebb::div_(self(), other); }
inline Variable& ElementwiseMethods::div_(const Scalar& other) const { return ebb::div_(self(), other); }
inline Variable ElementwiseMethods::divide(const Variable& other) const { return ebb::divide(self(), other); }
inline Variable ElementwiseMethods::divide(const Scalar& other) const { return ebb::divide(self(), other); }
inline Variable& ElementwiseMethods::divide_(const Variable& other) const {
  return ebb::divide_(self(), other);
}
inline Variable& ElementwiseMethods::divide_(const Scalar& other) const {
  return ebb::divide_(self(), other);
}
inline Variable ElementwiseMethods::true_divide(const Variable& other) const {
  return ebb::true_divide(self(), other);
}
inline Variable ElementwiseMethods::true_divide(const Scalar& other) const {
  return ebb::true_divide(self(), other);
}
inline Variable& ElementwiseMethods::true_divide_(const Variable& other) const {
  return ebb::true_divide_(self(), other);
}
inline Variable& ElementwiseMethods::true_divide_(const Scalar& other) const {
  return ebb::true_divide_(self(), other);
}
inline Variable ElementwiseMethods::floor_divide(const Variable& other) const {
  return ebb::floor_divide(self(), other);
}
inline Variable ElementwiseMethods::floor_divide(const Scalar& other) const {
  return ebb::floor_divide(self(), other);
}
inline Variable& ElementwiseMethods::floor_divide_(const Variable& other) const {
  return ebb::floor_divide_(self(), other);
}
inline Variable& ElementwiseMethods::floor_divide_(const Scalar& other) const {
  return ebb::floor_divide_(self(), other);
}
inline Variable ElementwiseMethods::fmod(const Variable& other) const { return ebb::fmod(self(), other); }
inline Variable ElementwiseMethods::fmod(const Scalar& other) const { return ebb::fmod(self(), other); }
inline Variable& ElementwiseMethods::fmod_(const Variable& other) const { return ebb::fmod_(self(), other); }
inline Variable& ElementwiseMethods::fmod_(const Scalar& other) const { return ebb::fmod_(self(), other); }
inline Variable ElementwiseMethods::remainder(const Variable& other) const {
  return ebb::remainder(self(), other);
}
inline Variable ElementwiseMethods::remainder(const Scalar& other) const {
  return ebb::remainder(self(), other);
}
inline Variable& ElementwiseMethods::remainder_(const Variable& other) const {
  return ebb::remainder_(self(), other);
}
inline Variable& ElementwiseMethods::remainder_(const Scalar& other) const {
  return ebb::remainder_(self(), other);
}
inline Variable ElementwiseMethods::div(const Variable& other,
                                        optional<std::string_view> rounding_mode) const {
  return ebb::div(self(), other, rounding_mode);
}
inline Variable ElementwiseMethods::div(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::div(self(), other, rounding_mode);
}
inline Variable& ElementwiseMethods::div_(const Variable& other,
                                          optional<std::string_view> rounding_mode) const {
  return ebb::div_(self(), other, rounding_mode);
}
inline Variable& ElementwiseMethods::div_(const Scalar& other,
                                          optional<std::string_view> rounding_mode) const {
  return ebb::div_(self(), other, rounding_mode);
}
inline Variable ElementwiseMethods::divide(const Variable& other,
                                           optional<std::string_view> rounding_mode) const {
  return ebb::divide(self(), other, rounding_mode);
}
inline Variable ElementwiseMethods::divide(const Scalar& other,
                                           optional<std::string_view> rounding_mode) const {
  return ebb::divide(self(), other, rounding_mode);
}
inline Variable& ElementwiseMethods::divide_(const Variable& other,
                                             optional<std::string_view> rounding_mode) const {
  return ebb::divide_(self(), other, rounding_mode);
}
inline Variable& ElementwiseMethods::divide_(const Scalar& other,
                                             optional<std::string_view> rounding_mode) const {
  return ebb::divide_(self(), other, rounding_mode);
}
inline Variable ElementwiseMethods::pow(const Variable& exponent) const { return ebb::pow(self(), exponent); }
inline Variable& ElementwiseMethods::pow_(const Variable& exponent) const {
  return ebb::pow_(self(), exponent);
}
inline Variable ElementwiseMethods::pow(const Scalar& exponent) const { return ebb::pow(self(), exponent); }
inline Variable& ElementwiseMethods::pow_(const Scalar& exponent) const {
  return ebb::pow_(self(), exponent);
}
inline Variable ElementwiseMethods::float_power(const Variable& exponent) const {
  return ebb::float_power(self(), exponent);
}
inline Variable& ElementwiseMethods::float_power_(const Variable& exponent) const {
  return ebb::float_power_(self(), exponent);
}
inline Variable ElementwiseMethods::float_power(const Scalar& exponent) const {
  return ebb::float_power(self(), exponent);
}
inline Variable& ElementwiseMethods::float_power_(const Scalar& exponent) const {
  return ebb::float_power_(self(), exponent);
}
inline Variable ElementwiseMethods::gcd(const Variable& other) const { return ebb::gcd(self(), other); }
inline Variable& ElementwiseMethods::gcd_(const Variable& other) const { return ebb::gcd_(self(), other); }
inline Variable ElementwiseMethods::lcm(const Variable& other) const { return ebb::lcm(self(), other); }
inline Variable& ElementwiseMethods::lcm_(const Variable& other) const { return ebb::lcm_(self(), other); }
inline Variable ElementwiseMethods::atan2(const Variable& other) const { return ebb::atan2(self(), other); }
inline Variable& ElementwiseMethods::atan2_(const Variable& other) const {
  return ebb::atan2_(self(), other);
}
inline Variable ElementwiseMethods::arctan2(const Variable& other) const {
  return ebb::arctan2(self(), other);
}
inline Variable& ElementwiseMethods::arctan2_(const Variable& other) const {
  return ebb::arctan2_(self(), other);
}
inline Variable ElementwiseMethods::hypot(const Variable& other) const { return ebb::hypot(self(), other); }
inline Variable& ElementwiseMethods::hypot_(const Variable& other) const {
  return ebb::hypot_(self(), other);
}
inline Variable ElementwiseMethods::copysign(const Variable& other) const {
  return ebb::copysign(self(), other);
}
inline Variable& ElementwiseMethods::copysign_(const Variable& other) const {
  return ebb::copysign_(self(), other);
}
inline Variable ElementwiseMethods::ldexp(const Variable& other) const { return ebb::ldexp(self(), other); }
inline Variable& ElementwiseMethods::ldexp_(const Variable& other) const {
  return ebb::ldexp_(self(), other);
}
inline Variable ElementwiseMethods::heaviside(const Variable& other) const {
  return ebb::heaviside(self(), other);
}
inline Variable& ElementwiseMethods::heaviside_(const Variable& other) const {
  return ebb::heaviside_(self(), other);
}
inline Variable ElementwiseMethods::copysign(const Scalar& other) const {
  return ebb::copysign(self(), other);
}
inline Variable& ElementwiseMethods::copysign_(const Scalar& other) const {
  return ebb::copysign_(self(), other);
}
inline Variable ElementwiseMethods::maximum(const Variable& other) const {
  return ebb::maximum(self(), other);
}
inline Variable ElementwiseMethods::minimum(const Variable& other) const {
  return ebb::minimum(self(), other);
}
inline Variable ElementwiseMethods::fmax(const Variable& other) const { return ebb::fmax(self(), other); }
inline Variable ElementwiseMethods::fmin(const Variable& other) const { return ebb::fmin(self(), other); }
inline Variable ElementwiseMethods::logaddexp(const Variable& other) const {
  return ebb::logaddexp(self(), other);
}
inline Variable ElementwiseMethods::logaddexp2(const Variable& other) const {
  return ebb::logaddexp2(self(), other);
}
inline Variable ElementwiseMethods::xlogy(const Variable& other) const { return ebb::xlogy(self(), other); }
inline Variable ElementwiseMethods::xlogy(const Scalar& other) const { return ebb::xlogy(self(), other); }
inline Variable& ElementwiseMethods::xlogy_(const Variable& other) const {
  return ebb::xlogy_(self(), other);
}
inline Variable& ElementwiseMethods::xlogy_(const Scalar& other) const { return ebb::xlogy_(self(), other); }
inline Variable ElementwiseMethods::isclose(const Variable& other, double rtol, double atol,
                                            bool equal_nan) const {
  return ebb::isclose(self(), other, rtol, atol, equal_nan);
}
inline bool ElementwiseMethods::allclose(const Variable& other, double rtol, double atol,
                                         bool equal_nan) const {
  return ebb::allclose(self(), other, rtol, atol, equal_nan);
}
inline bool ElementwiseMethods::equal(const Variable& other) const { return ebb::equal(self(), other); }
inline Variable ElementwiseMethods::clamp(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clamp(self(), min, max);
}
inline Variable ElementwiseMethods::clamp(const optional<Variable>& min,
                                          const optional<Variable>& max) const {
  return ebb::clamp(self(), min, max);
}
inline Variable ElementwiseMethods::clamp(const optional<Variable>& min) const {
  return ebb::clamp(self(), min);
}
inline Variable ElementwiseMethods::clip(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clip(self(), min, max);
}
inline Variable ElementwiseMethods::clip(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clip(self(), min, max);
}
inline Variable ElementwiseMethods::clip(const optional<Variable>& min) const {
  return ebb::clip(self(), min);
}
inline Variable ElementwiseMethods::clamp_min(const Scalar& min) const { return ebb::clamp_min(self(), min); }
inline Variable ElementwiseMethods::clamp_max(const Scalar& max) const { return ebb::clamp_max(self(), max); }
inline Variable ElementwiseMethods::clamp_min(const Variable& min) const {
  return ebb::clamp_min(self(), min);
}
inline Variable ElementwiseMethods::clamp_max(const Variable& max) const {
  return ebb::clamp_max(self(), max);
}
inline Variable ElementwiseMethods::lerp(const Variable& end, const Scalar& weight) const {
  return ebb::lerp(self(), end, weight);
}
inline Variable ElementwiseMethods::lerp(const Variable& end, const Variable& weight) const {
  return ebb::lerp(self(), end, weight);
}
inline Variable ElementwiseMethods::addcmul(const Variable& tensor1, const Variable& tensor2,
                                            const Scalar& value) const {
  return ebb::addcmul(self(), tensor1, tensor2, value);
}
inline Variable ElementwiseMethods::addcdiv(const Variable& tensor1, const Variable& tensor2,
                                            const Scalar& value) const {
  return ebb::addcdiv(self(), tensor1, tensor2, value);
}
inline Variable ElementwiseMethods::relu() const { return ebb::relu(self()); }
inline Variable& ElementwiseMethods::clamp_(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clamp_(self(), min, max);
}
inline Variable& ElementwiseMethods::clamp_(const optional<Variable>& min,
                                            const optional<Variable>& max) const {
  return ebb::clamp_(self(), min, max);
}
inline Variable& ElementwiseMethods::clamp_(const optional<Variable>& min) const {
  return ebb::clamp_(self(), min);
}
inline Variable& ElementwiseMethods::clip_(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clip_(self(), min, max);
}
inline Variable& ElementwiseMethods::clip_(const optional<Variable>& min,
                                           const optional<Variable>& max) const {
  return ebb::clip_(self(), min, max);
}
inline Variable& ElementwiseMethods::clip_(const optional<Variable>& min) const {
  return ebb::clip_(self(), min);
}
inline Variable& ElementwiseMethods::clamp_min_(const Scalar& min) const {
  return ebb::clamp_min_(self(), min);
}
inline Variable& ElementwiseMethods::clamp_max_(const Scalar& max) const {
  return ebb::clamp_max_(self(), max);
}
inline Variable& ElementwiseMethods::clamp_min_(const Variable& min) const {
  return ebb::clamp_min_(self(), min);
}
inline Variable& ElementwiseMethods::clamp_max_(const Variable& max) const {
  return ebb::clamp_max_(self(), max);
}
inline Variable& ElementwiseMethods::lerp_(const Variable& end, const Scalar& weight) const {
  return ebb::lerp_(self(), end, weight);
}
inline Variable& ElementwiseMethods::lerp_(const Variable& end, const Variable& weight) const {
  return ebb::lerp_(self(), end, weight);
}
inline Variable& ElementwiseMethods::addcmul_(const Variable& tensor1, const Variable& tensor2,
                                              const Scalar& value) const {
  return ebb::addcmul_(self(), tensor1, tensor2, value);
}
inline Variable& ElementwiseMethods::addcdiv_(const Variable& tensor1, const Variable& tensor2,
                                              const Scalar& value) const {
  return ebb::addcdiv_(self(), tensor1, tensor2, value);
}
inline Variable& ElementwiseMethods::relu_() const { return ebb::relu_(self()); }
inline Variable ElementwiseMethods::where(const Variable& condition, const Variable& other) const {
  return ebb::where(condition, self(), other);
}
inline Variable ElementwiseMethods::where(const Variable& condition, const Scalar& other) const {
  return ebb::where(condition, self(), other);
}
inline Variable ElementwiseMethods::prelu(const Variable& weight) const { return ebb::prelu(self(), weight); }
inline Variable ElementwiseMethods::hardshrink(const Scalar& lambd) const {
  return ebb::hardshrink(self(), lambd);
}

inline Variable ElementwiseMethods::operator-() const { return ebb::neg(self()); }
inline Variable ElementwiseMethods::operator~() const { return ebb::bitwise_not(self()); }
inline Variable& ElementwiseMethods::operator+=(const Variable& other) { return ebb::add_(self(), other); }
inline Variable& ElementwiseMethods::operator+=(const Scalar& other) { return ebb::add_(self(), other); }
inline Variable& ElementwiseMethods::operator-=(const Variable& other) { return ebb::sub_(self(), other); }
inline Variable& ElementwiseMethods::operator-=(const Scalar& other) { return ebb::sub_(self(), other); }
inline Variable& ElementwiseMethods::operator*=(const Variable& other) { return ebb::mul_(self(), other); }
inline Variable& ElementwiseMethods::operator*=(const Scalar& other) { return ebb::mul_(self(), other); }
inline Variable& ElementwiseMethods::operator/=(const Variable& other) { return ebb::div_(self(), other); }
inline Variable& ElementwiseMethods::operator/=(const Scalar& other) { return ebb::div_(self(), other); }
inline Variable& ElementwiseMethods::operator&=(const Variable& other) {
  return ebb::bitwise_and_(self(), other);
}
inline Variable& ElementwiseMethods::operator&=(const Scalar& other) {
  return ebb::bitwise_and_(self(), other);
}
inline Variable& ElementwiseMethods::operator|=(const Variable& other) {
  return ebb::bitwise_or_(self(), other);
}
inline Variable& ElementwiseMethods::operator|=(const Scalar& other) {
  return ebb::bitwise_or_(self(), other);
}
inline Variable& ElementwiseMethods::operator^=(const Variable& other) {
  return ebb::bitwise_xor_(self(), other);
}
inline Variable& ElementwiseMethods::operator^=(const Scalar& other) {
  return ebb::bitwise_xor_(self(), other);
}

}  // namespace ebb::ops
