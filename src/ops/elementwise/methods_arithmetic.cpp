// Bodies of the methods of two and more tensors, number by number: each is the function of the same name.
#include <ebb/ops/elementwise/activation.h>
#include <ebb/ops/elementwise/arithmetic.h>
#include <ebb/ops/elementwise/parts.h>
#include <ebb/ops/special/functions.h>

#include "ops/common/self.h"

namespace ebb::ops {

Variable ArithmeticMethods::add(const Variable& other, const Scalar& alpha) const {
  return ebb::add(self(this), other, alpha);
}
Variable ArithmeticMethods::add(const Scalar& other, const Scalar& alpha) const {
  return ebb::add(self(this), other, alpha);
}
Variable& ArithmeticMethods::add_(const Variable& other, const Scalar& alpha) const {
  return ebb::add_(self(this), other, alpha);
}
Variable& ArithmeticMethods::add_(const Scalar& other, const Scalar& alpha) const {
  return ebb::add_(self(this), other, alpha);
}
Variable ArithmeticMethods::sub(const Variable& other, const Scalar& alpha) const {
  return ebb::sub(self(this), other, alpha);
}
Variable ArithmeticMethods::sub(const Scalar& other, const Scalar& alpha) const {
  return ebb::sub(self(this), other, alpha);
}
Variable& ArithmeticMethods::sub_(const Variable& other, const Scalar& alpha) const {
  return ebb::sub_(self(this), other, alpha);
}
Variable& ArithmeticMethods::sub_(const Scalar& other, const Scalar& alpha) const {
  return ebb::sub_(self(this), other, alpha);
}
Variable ArithmeticMethods::subtract(const Variable& other, const Scalar& alpha) const {
  return ebb::subtract(self(this), other, alpha);
}
Variable ArithmeticMethods::subtract(const Scalar& other, const Scalar& alpha) const {
  return ebb::subtract(self(this), other, alpha);
}
Variable& ArithmeticMethods::subtract_(const Variable& other, const Scalar& alpha) const {
  return ebb::subtract_(self(this), other, alpha);
}
Variable& ArithmeticMethods::subtract_(const Scalar& other, const Scalar& alpha) const {
  return ebb::subtract_(self(this), other, alpha);
}
Variable ArithmeticMethods::mul(const Variable& other) const { return ebb::mul(self(this), other); }
Variable ArithmeticMethods::mul(const Scalar& other) const { return ebb::mul(self(this), other); }
Variable& ArithmeticMethods::mul_(const Variable& other) const { return ebb::mul_(self(this), other); }
Variable& ArithmeticMethods::mul_(const Scalar& other) const { return ebb::mul_(self(this), other); }
Variable ArithmeticMethods::multiply(const Variable& other) const { return ebb::multiply(self(this), other); }
Variable ArithmeticMethods::multiply(const Scalar& other) const { return ebb::multiply(self(this), other); }
Variable& ArithmeticMethods::multiply_(const Variable& other) const {
  return ebb::multiply_(self(this), other);
}
Variable& ArithmeticMethods::multiply_(const Scalar& other) const {
  return ebb::multiply_(self(this), other);
}
Variable ArithmeticMethods::div(const Variable& other) const { return ebb::div(self(this), other); }
Variable ArithmeticMethods::div(const Scalar& other) const { return ebb::div(self(this), other); }
Variable ArithmeticMethods::div(const Variable& other, optional<std::string_view> rounding_mode) const {
  return ebb::div(self(this), other, rounding_mode);
}
Variable ArithmeticMethods::div(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::div(self(this), other, rounding_mode);
}
Variable& ArithmeticMethods::div_(const Variable& other) const { return ebb::div_(self(this), other); }
Variable& ArithmeticMethods::div_(const Scalar& other) const { return ebb::div_(self(this), other); }
Variable& ArithmeticMethods::div_(const Variable& other, optional<std::string_view> rounding_mode) const {
  return ebb::div_(self(this), other, rounding_mode);
}
Variable& ArithmeticMethods::div_(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::div_(self(this), other, rounding_mode);
}
Variable ArithmeticMethods::divide(const Variable& other) const { return ebb::divide(self(this), other); }
Variable ArithmeticMethods::divide(const Scalar& other) const { return ebb::divide(self(this), other); }
Variable ArithmeticMethods::divide(const Variable& other, optional<std::string_view> rounding_mode) const {
  return ebb::divide(self(this), other, rounding_mode);
}
Variable ArithmeticMethods::divide(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::divide(self(this), other, rounding_mode);
}
Variable& ArithmeticMethods::divide_(const Variable& other) const { return ebb::divide_(self(this), other); }
Variable& ArithmeticMethods::divide_(const Scalar& other) const { return ebb::divide_(self(this), other); }
Variable& ArithmeticMethods::divide_(const Variable& other, optional<std::string_view> rounding_mode) const {
  return ebb::divide_(self(this), other, rounding_mode);
}
Variable& ArithmeticMethods::divide_(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::divide_(self(this), other, rounding_mode);
}
Variable ArithmeticMethods::true_divide(const Variable& other) const {
  return ebb::true_divide(self(this), other);
}
Variable ArithmeticMethods::true_divide(const Scalar& other) const {
  return ebb::true_divide(self(this), other);
}
Variable& ArithmeticMethods::true_divide_(const Variable& other) const {
  return ebb::true_divide_(self(this), other);
}
Variable& ArithmeticMethods::true_divide_(const Scalar& other) const {
  return ebb::true_divide_(self(this), other);
}
Variable ArithmeticMethods::floor_divide(const Variable& other) const {
  return ebb::floor_divide(self(this), other);
}
Variable ArithmeticMethods::floor_divide(const Scalar& other) const {
  return ebb::floor_divide(self(this), other);
}
Variable& ArithmeticMethods::floor_divide_(const Variable& other) const {
  return ebb::floor_divide_(self(this), other);
}
Variable& ArithmeticMethods::floor_divide_(const Scalar& other) const {
  return ebb::floor_divide_(self(this), other);
}
Variable ArithmeticMethods::fmod(const Variable& other) const { return ebb::fmod(self(this), other); }
Variable ArithmeticMethods::fmod(const Scalar& other) const { return ebb::fmod(self(this), other); }
Variable& ArithmeticMethods::fmod_(const Variable& other) const { return ebb::fmod_(self(this), other); }
Variable& ArithmeticMethods::fmod_(const Scalar& other) const { return ebb::fmod_(self(this), other); }
Variable ArithmeticMethods::remainder(const Variable& other) const {
  return ebb::remainder(self(this), other);
}
Variable ArithmeticMethods::remainder(const Scalar& other) const { return ebb::remainder(self(this), other); }
Variable& ArithmeticMethods::remainder_(const Variable& other) const {
  return ebb::remainder_(self(this), other);
}
Variable& ArithmeticMethods::remainder_(const Scalar& other) const {
  return ebb::remainder_(self(this), other);
}
Variable ArithmeticMethods::pow(const Variable& exponent) const { return ebb::pow(self(this), exponent); }
Variable ArithmeticMethods::pow(const Scalar& exponent) const { return ebb::pow(self(this), exponent); }
Variable& ArithmeticMethods::pow_(const Variable& exponent) const { return ebb::pow_(self(this), exponent); }
Variable& ArithmeticMethods::pow_(const Scalar& exponent) const { return ebb::pow_(self(this), exponent); }
Variable ArithmeticMethods::float_power(const Variable& exponent) const {
  return ebb::float_power(self(this), exponent);
}
Variable ArithmeticMethods::float_power(const Scalar& exponent) const {
  return ebb::float_power(self(this), exponent);
}
Variable& ArithmeticMethods::float_power_(const Variable& exponent) const {
  return ebb::float_power_(self(this), exponent);
}
Variable& ArithmeticMethods::float_power_(const Scalar& exponent) const {
  return ebb::float_power_(self(this), exponent);
}
Variable ArithmeticMethods::gcd(const Variable& other) const { return ebb::gcd(self(this), other); }
Variable& ArithmeticMethods::gcd_(const Variable& other) const { return ebb::gcd_(self(this), other); }
Variable ArithmeticMethods::lcm(const Variable& other) const { return ebb::lcm(self(this), other); }
Variable& ArithmeticMethods::lcm_(const Variable& other) const { return ebb::lcm_(self(this), other); }
Variable ArithmeticMethods::atan2(const Variable& other) const { return ebb::atan2(self(this), other); }
Variable& ArithmeticMethods::atan2_(const Variable& other) const { return ebb::atan2_(self(this), other); }
Variable ArithmeticMethods::arctan2(const Variable& other) const { return ebb::arctan2(self(this), other); }
Variable& ArithmeticMethods::arctan2_(const Variable& other) const {
  return ebb::arctan2_(self(this), other);
}
Variable ArithmeticMethods::hypot(const Variable& other) const { return ebb::hypot(self(this), other); }
Variable& ArithmeticMethods::hypot_(const Variable& other) const { return ebb::hypot_(self(this), other); }
Variable ArithmeticMethods::copysign(const Variable& other) const { return ebb::copysign(self(this), other); }
Variable ArithmeticMethods::copysign(const Scalar& other) const { return ebb::copysign(self(this), other); }
Variable& ArithmeticMethods::copysign_(const Variable& other) const {
  return ebb::copysign_(self(this), other);
}
Variable& ArithmeticMethods::copysign_(const Scalar& other) const {
  return ebb::copysign_(self(this), other);
}
Variable ArithmeticMethods::ldexp(const Variable& other) const { return ebb::ldexp(self(this), other); }
Variable& ArithmeticMethods::ldexp_(const Variable& other) const { return ebb::ldexp_(self(this), other); }
Variable ArithmeticMethods::heaviside(const Variable& other) const {
  return ebb::heaviside(self(this), other);
}
Variable& ArithmeticMethods::heaviside_(const Variable& other) const {
  return ebb::heaviside_(self(this), other);
}
Variable ArithmeticMethods::maximum(const Variable& other) const { return ebb::maximum(self(this), other); }
Variable ArithmeticMethods::minimum(const Variable& other) const { return ebb::minimum(self(this), other); }
Variable ArithmeticMethods::fmax(const Variable& other) const { return ebb::fmax(self(this), other); }
Variable ArithmeticMethods::fmin(const Variable& other) const { return ebb::fmin(self(this), other); }
Variable ArithmeticMethods::igamma(const Variable& other) const { return ebb::igamma(self(this), other); }
Variable& ArithmeticMethods::igamma_(const Variable& other) const { return ebb::igamma_(self(this), other); }
Variable ArithmeticMethods::igammac(const Variable& other) const { return ebb::igammac(self(this), other); }
Variable& ArithmeticMethods::igammac_(const Variable& other) const {
  return ebb::igammac_(self(this), other);
}
Variable ArithmeticMethods::nextafter(const Variable& other) const {
  return ebb::nextafter(self(this), other);
}
Variable& ArithmeticMethods::nextafter_(const Variable& other) const {
  return ebb::nextafter_(self(this), other);
}
Variable ArithmeticMethods::logaddexp(const Variable& other) const {
  return ebb::logaddexp(self(this), other);
}
Variable ArithmeticMethods::logaddexp2(const Variable& other) const {
  return ebb::logaddexp2(self(this), other);
}
Variable ArithmeticMethods::xlogy(const Variable& other) const { return ebb::xlogy(self(this), other); }
Variable ArithmeticMethods::xlogy(const Scalar& other) const { return ebb::xlogy(self(this), other); }
Variable& ArithmeticMethods::xlogy_(const Variable& other) const { return ebb::xlogy_(self(this), other); }
Variable& ArithmeticMethods::xlogy_(const Scalar& other) const { return ebb::xlogy_(self(this), other); }
Variable ArithmeticMethods::clamp(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clamp(self(this), min, max);
}
Variable ArithmeticMethods::clamp(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clamp(self(this), min, max);
}
Variable ArithmeticMethods::clamp(const optional<Variable>& min) const { return ebb::clamp(self(this), min); }
Variable ArithmeticMethods::clip(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clip(self(this), min, max);
}
Variable ArithmeticMethods::clip(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clip(self(this), min, max);
}
Variable ArithmeticMethods::clip(const optional<Variable>& min) const { return ebb::clip(self(this), min); }
Variable ArithmeticMethods::clamp_min(const Scalar& min) const { return ebb::clamp_min(self(this), min); }
Variable ArithmeticMethods::clamp_min(const Variable& min) const { return ebb::clamp_min(self(this), min); }
Variable ArithmeticMethods::clamp_max(const Scalar& max) const { return ebb::clamp_max(self(this), max); }
Variable ArithmeticMethods::clamp_max(const Variable& max) const { return ebb::clamp_max(self(this), max); }
Variable ArithmeticMethods::lerp(const Variable& end, const Scalar& weight) const {
  return ebb::lerp(self(this), end, weight);
}
Variable ArithmeticMethods::lerp(const Variable& end, const Variable& weight) const {
  return ebb::lerp(self(this), end, weight);
}
Variable ArithmeticMethods::addcmul(const Variable& tensor1, const Variable& tensor2,
                                    const Scalar& value) const {
  return ebb::addcmul(self(this), tensor1, tensor2, value);
}
Variable ArithmeticMethods::addcdiv(const Variable& tensor1, const Variable& tensor2,
                                    const Scalar& value) const {
  return ebb::addcdiv(self(this), tensor1, tensor2, value);
}
Variable& ArithmeticMethods::clamp_(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clamp_(self(this), min, max);
}
Variable& ArithmeticMethods::clamp_(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clamp_(self(this), min, max);
}
Variable& ArithmeticMethods::clamp_(const optional<Variable>& min) const {
  return ebb::clamp_(self(this), min);
}
Variable& ArithmeticMethods::clip_(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clip_(self(this), min, max);
}
Variable& ArithmeticMethods::clip_(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clip_(self(this), min, max);
}
Variable& ArithmeticMethods::clip_(const optional<Variable>& min) const {
  return ebb::clip_(self(this), min);
}
Variable& ArithmeticMethods::clamp_min_(const Scalar& min) const { return ebb::clamp_min_(self(this), min); }
Variable& ArithmeticMethods::clamp_min_(const Variable& min) const {
  return ebb::clamp_min_(self(this), min);
}
Variable& ArithmeticMethods::clamp_max_(const Scalar& max) const { return ebb::clamp_max_(self(this), max); }
Variable& ArithmeticMethods::clamp_max_(const Variable& max) const {
  return ebb::clamp_max_(self(this), max);
}
Variable& ArithmeticMethods::lerp_(const Variable& end, const Scalar& weight) const {
  return ebb::lerp_(self(this), end, weight);
}
Variable& ArithmeticMethods::lerp_(const Variable& end, const Variable& weight) const {
  return ebb::lerp_(self(this), end, weight);
}
Variable& ArithmeticMethods::addcmul_(const Variable& tensor1, const Variable& tensor2,
                                      const Scalar& value) const {
  return ebb::addcmul_(self(this), tensor1, tensor2, value);
}
Variable& ArithmeticMethods::addcdiv_(const Variable& tensor1, const Variable& tensor2,
                                      const Scalar& value) const {
  return ebb::addcdiv_(self(this), tensor1, tensor2, value);
}
Variable ArithmeticMethods::where(const Variable& condition, const Variable& other) const {
  return ebb::where(condition, self(this), other);
}
Variable ArithmeticMethods::where(const Variable& condition, const Scalar& other) const {
  return ebb::where(condition, self(this), other);
}
Variable ArithmeticMethods::prelu(const Variable& weight) const { return ebb::prelu(self(this), weight); }
Variable& ArithmeticMethods::operator+=(const Variable& other) { return ebb::add_(self(this), other); }
Variable& ArithmeticMethods::operator+=(const Scalar& other) { return ebb::add_(self(this), other); }
Variable& ArithmeticMethods::operator-=(const Variable& other) { return ebb::sub_(self(this), other); }
Variable& ArithmeticMethods::operator-=(const Scalar& other) { return ebb::sub_(self(this), other); }
Variable& ArithmeticMethods::operator*=(const Variable& other) { return ebb::mul_(self(this), other); }
Variable& ArithmeticMethods::operator*=(const Scalar& other) { return ebb::mul_(self(this), other); }
Variable& ArithmeticMethods::operator/=(const Variable& other) { return ebb::div_(self(this), other); }
Variable& ArithmeticMethods::operator/=(const Scalar& other) { return ebb::div_(self(this), other); }

}  // namespace ebb::ops
