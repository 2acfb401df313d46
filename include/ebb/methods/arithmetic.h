// Methods of Variable of two and more tensors, number by number; documented with the functions of the same
// names in ebb/ops/elementwise/arithmetic.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <string_view>

namespace ebb::ops {

struct EBB_API ArithmeticMethods {
  Variable add(const Variable& other, const Scalar& alpha = 1) const;
  Variable add(const Scalar& other, const Scalar& alpha = 1) const;
  Variable& add_(const Variable& other, const Scalar& alpha = 1) const;
  Variable& add_(const Scalar& other, const Scalar& alpha = 1) const;
  Variable sub(const Variable& other, const Scalar& alpha = 1) const;
  Variable sub(const Scalar& other, const Scalar& alpha = 1) const;
  Variable& sub_(const Variable& other, const Scalar& alpha = 1) const;
  Variable& sub_(const Scalar& other, const Scalar& alpha = 1) const;
  Variable subtract(const Variable& other, const Scalar& alpha = 1) const;
  Variable subtract(const Scalar& other, const Scalar& alpha = 1) const;
  Variable& subtract_(const Variable& other, const Scalar& alpha = 1) const;
  Variable& subtract_(const Scalar& other, const Scalar& alpha = 1) const;
  Variable mul(const Variable& other) const;
  Variable mul(const Scalar& other) const;
  Variable& mul_(const Variable& other) const;
  Variable& mul_(const Scalar& other) const;
  Variable multiply(const Variable& other) const;
  Variable multiply(const Scalar& other) const;
  Variable& multiply_(const Variable& other) const;
  Variable& multiply_(const Scalar& other) const;
  Variable div(const Variable& other) const;
  Variable div(const Scalar& other) const;
  Variable& div_(const Variable& other) const;
  Variable& div_(const Scalar& other) const;
  Variable divide(const Variable& other) const;
  Variable divide(const Scalar& other) const;
  Variable& divide_(const Variable& other) const;
  Variable& divide_(const Scalar& other) const;
  Variable true_divide(const Variable& other) const;
  Variable true_divide(const Scalar& other) const;
  Variable& true_divide_(const Variable& other) const;
  Variable& true_divide_(const Scalar& other) const;
  Variable floor_divide(const Variable& other) const;
  Variable floor_divide(const Scalar& other) const;
  Variable& floor_divide_(const Variable& other) const;
  Variable& floor_divide_(const Scalar& other) const;
  Variable fmod(const Variable& other) const;
  Variable fmod(const Scalar& other) const;
  Variable& fmod_(const Variable& other) const;
  Variable& fmod_(const Scalar& other) const;
  Variable remainder(const Variable& other) const;
  Variable remainder(const Scalar& other) const;
  Variable& remainder_(const Variable& other) const;
  Variable& remainder_(const Scalar& other) const;
  Variable div(const Variable& other, optional<std::string_view> rounding_mode) const;
  Variable div(const Scalar& other, optional<std::string_view> rounding_mode) const;
  Variable& div_(const Variable& other, optional<std::string_view> rounding_mode) const;
  Variable& div_(const Scalar& other, optional<std::string_view> rounding_mode) const;
  Variable divide(const Variable& other, optional<std::string_view> rounding_mode) const;
  Variable divide(const Scalar& other, optional<std::string_view> rounding_mode) const;
  Variable& divide_(const Variable& other, optional<std::string_view> rounding_mode) const;
  Variable& divide_(const Scalar& other, optional<std::string_view> rounding_mode) const;
  Variable pow(const Variable& exponent) const;
  Variable& pow_(const Variable& exponent) const;
  Variable pow(const Scalar& exponent) const;
  Variable& pow_(const Scalar& exponent) const;
  Variable float_power(const Variable& exponent) const;
  Variable float_power(const Scalar& exponent) const;
  Variable& float_power_(const Variable& exponent) const;
  Variable& float_power_(const Scalar& exponent) const;
  Variable gcd(const Variable& other) const;
  Variable& gcd_(const Variable& other) const;
  Variable lcm(const Variable& other) const;
  Variable& lcm_(const Variable& other) const;
  Variable atan2(const Variable& other) const;
  Variable& atan2_(const Variable& other) const;
  Variable arctan2(const Variable& other) const;
  Variable& arctan2_(const Variable& other) const;
  Variable hypot(const Variable& other) const;
  Variable& hypot_(const Variable& other) const;
  Variable copysign(const Variable& other) const;
  Variable& copysign_(const Variable& other) const;
  Variable ldexp(const Variable& other) const;
  Variable& ldexp_(const Variable& other) const;
  Variable heaviside(const Variable& other) const;
  Variable& heaviside_(const Variable& other) const;
  Variable copysign(const Scalar& other) const;
  Variable& copysign_(const Scalar& other) const;
  Variable maximum(const Variable& other) const;
  Variable minimum(const Variable& other) const;
  Variable fmax(const Variable& other) const;
  Variable fmin(const Variable& other) const;
  Variable igamma(const Variable& other) const;
  Variable& igamma_(const Variable& other) const;
  Variable igammac(const Variable& other) const;
  Variable& igammac_(const Variable& other) const;
  Variable nextafter(const Variable& other) const;
  Variable& nextafter_(const Variable& other) const;
  Variable logaddexp(const Variable& other) const;
  Variable logaddexp2(const Variable& other) const;
  Variable xlogy(const Variable& other) const;
  Variable xlogy(const Scalar& other) const;
  Variable& xlogy_(const Variable& other) const;
  Variable& xlogy_(const Scalar& other) const;
  Variable clamp(const optional<Scalar>& min, const optional<Scalar>& max = nullopt) const;
  Variable clamp(const optional<Variable>& min, const optional<Variable>& max) const;
  Variable clamp(const optional<Variable>& min) const;
  Variable clip(const optional<Scalar>& min, const optional<Scalar>& max = nullopt) const;
  Variable clip(const optional<Variable>& min, const optional<Variable>& max) const;
  Variable clip(const optional<Variable>& min) const;
  Variable clamp_min(const Scalar& min) const;
  Variable clamp_max(const Scalar& max) const;
  Variable clamp_min(const Variable& min) const;
  Variable clamp_max(const Variable& max) const;
  Variable lerp(const Variable& end, const Scalar& weight) const;
  Variable lerp(const Variable& end, const Variable& weight) const;
  Variable addcmul(const Variable& tensor1, const Variable& tensor2, const Scalar& value = 1) const;
  Variable addcdiv(const Variable& tensor1, const Variable& tensor2, const Scalar& value = 1) const;
  Variable& clamp_(const optional<Scalar>& min, const optional<Scalar>& max = nullopt) const;
  Variable& clamp_(const optional<Variable>& min, const optional<Variable>& max) const;
  Variable& clamp_(const optional<Variable>& min) const;
  Variable& clip_(const optional<Scalar>& min, const optional<Scalar>& max = nullopt) const;
  Variable& clip_(const optional<Variable>& min, const optional<Variable>& max) const;
  Variable& clip_(const optional<Variable>& min) const;
  Variable& clamp_min_(const Scalar& min) const;
  Variable& clamp_max_(const Scalar& max) const;
  Variable& clamp_min_(const Variable& min) const;
  Variable& clamp_max_(const Variable& max) const;
  Variable& lerp_(const Variable& end, const Scalar& weight) const;
  Variable& lerp_(const Variable& end, const Variable& weight) const;
  Variable& addcmul_(const Variable& tensor1, const Variable& tensor2, const Scalar& value = 1) const;
  Variable& addcdiv_(const Variable& tensor1, const Variable& tensor2, const Scalar& value = 1) const;
  Variable where(const Variable& condition, const Variable& other) const;
  Variable where(const Variable& condition, const Scalar& other) const;
  Variable prelu(const Variable& weight) const;
  Variable& operator+=(const Variable& other);
  Variable& operator+=(const Scalar& other);
  Variable& operator-=(const Variable& other);
  Variable& operator-=(const Scalar& other);
  Variable& operator*=(const Variable& other);
  Variable& operator*=(const Scalar& other);
  Variable& operator/=(const Variable& other);
  Variable& operator/=(const Scalar& other);
};

}  // namespace ebb::ops
