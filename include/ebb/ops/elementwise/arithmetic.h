// Binary and ternary elementwise ops: arithmetic, powers, extremes, clamp, where.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>

namespace ebb {

// Operands broadcast. The result dtype is result_type(a, b). Tensors with at least one dimension determine
// the dtype. A 0-d tensor or a scalar changes it only if its kind is higher (bool < integer < floating).
// In-place ops keep self's shape and dtype or throw.

/// self + alpha * other. alpha must be an integer for integer tensors.
EBB_API Variable add(const Variable& self, const Variable& other, const Scalar& alpha = 1);
EBB_API Variable add(const Variable& self, const Scalar& other, const Scalar& alpha = 1);
EBB_API Variable& add_(const Variable& self, const Variable& other, const Scalar& alpha = 1);
EBB_API Variable& add_(const Variable& self, const Scalar& other, const Scalar& alpha = 1);
/// self - alpha * other. Throws for two Bool tensors.
EBB_API Variable sub(const Variable& self, const Variable& other, const Scalar& alpha = 1);
EBB_API Variable sub(const Variable& self, const Scalar& other, const Scalar& alpha = 1);
EBB_API Variable& sub_(const Variable& self, const Variable& other, const Scalar& alpha = 1);
EBB_API Variable& sub_(const Variable& self, const Scalar& other, const Scalar& alpha = 1);
/// other - alpha * self.
EBB_API Variable rsub(const Variable& self, const Variable& other, const Scalar& alpha = 1);
EBB_API Variable rsub(const Variable& self, const Scalar& other, const Scalar& alpha = 1);
/// self * other.
EBB_API Variable mul(const Variable& self, const Variable& other);
EBB_API Variable mul(const Variable& self, const Scalar& other);
EBB_API Variable& mul_(const Variable& self, const Variable& other);
EBB_API Variable& mul_(const Variable& self, const Scalar& other);
/// self / other. The result is floating for integers too. With rounding_mode "trunc" or "floor", computes the
/// rounded quotient, and integers give integers. Integer division by 0 throws.
EBB_API Variable div(const Variable& self, const Variable& other);
EBB_API Variable div(const Variable& self, const Scalar& other);
EBB_API Variable div(const Variable& self, const Variable& other, optional<std::string_view> rounding_mode);
EBB_API Variable div(const Variable& self, const Scalar& other, optional<std::string_view> rounding_mode);
EBB_API Variable& div_(const Variable& self, const Variable& other);
EBB_API Variable& div_(const Variable& self, const Scalar& other);
EBB_API Variable& div_(const Variable& self, const Variable& other, optional<std::string_view> rounding_mode);
EBB_API Variable& div_(const Variable& self, const Scalar& other, optional<std::string_view> rounding_mode);
/// div(self, other, "floor"), without a gradient.
EBB_API Variable floor_divide(const Variable& self, const Variable& other);
EBB_API Variable floor_divide(const Variable& self, const Scalar& other);
EBB_API Variable& floor_divide_(const Variable& self, const Variable& other);
EBB_API Variable& floor_divide_(const Variable& self, const Scalar& other);
/// The remainder of division with the sign of self (C's fmod).
EBB_API Variable fmod(const Variable& self, const Variable& other);
EBB_API Variable fmod(const Variable& self, const Scalar& other);
EBB_API Variable& fmod_(const Variable& self, const Variable& other);
EBB_API Variable& fmod_(const Variable& self, const Scalar& other);
/// The remainder of division with the sign of other (Python's %).
EBB_API Variable remainder(const Variable& self, const Variable& other);
EBB_API Variable remainder(const Variable& self, const Scalar& other);
EBB_API Variable remainder(const Scalar& self, const Variable& other);
EBB_API Variable& remainder_(const Variable& self, const Variable& other);
EBB_API Variable& remainder_(const Variable& self, const Scalar& other);
/// self^exponent. d/dx x^0 = 0; d/de 0^e = 0 for e >= 0. Throws for integers to the power of a negative
/// integer scalar.
EBB_API Variable pow(const Variable& self, const Variable& exponent);
EBB_API Variable pow(const Variable& self, const Scalar& exponent);
EBB_API Variable pow(const Scalar& self, const Variable& exponent);
EBB_API Variable& pow_(const Variable& self, const Variable& exponent);
EBB_API Variable& pow_(const Variable& self, const Scalar& exponent);
/// self^exponent, computed in double for all dtypes. The in-place op needs a Double self (torch.float_power).
EBB_API Variable float_power(const Variable& self, const Variable& exponent);
EBB_API Variable float_power(const Variable& self, const Scalar& exponent);
EBB_API Variable float_power(const Scalar& self, const Variable& exponent);
EBB_API Variable& float_power_(const Variable& self, const Variable& exponent);
EBB_API Variable& float_power_(const Variable& self, const Scalar& exponent);
/// The greatest common divisor, never negative; gcd(0, 0) = 0. Integers only (torch.gcd).
EBB_API Variable gcd(const Variable& self, const Variable& other);
EBB_API Variable& gcd_(const Variable& self, const Variable& other);
/// The least common multiple, never negative; lcm(0, x) = 0. Integers only (torch.lcm).
EBB_API Variable lcm(const Variable& self, const Variable& other);
EBB_API Variable& lcm_(const Variable& self, const Variable& other);
/// The angle in radians of the point with x = other and y = self.
EBB_API Variable atan2(const Variable& self, const Variable& other);
EBB_API Variable& atan2_(const Variable& self, const Variable& other);
/// sqrt(self^2 + other^2) without overflow. Floating dtypes only.
EBB_API Variable hypot(const Variable& self, const Variable& other);
EBB_API Variable& hypot_(const Variable& self, const Variable& other);
/// The larger value; NaN if either is NaN. A tie gives each operand half of the gradient.
EBB_API Variable maximum(const Variable& self, const Variable& other);
/// The smaller value; NaN if either is NaN. A tie gives each operand half of the gradient.
EBB_API Variable minimum(const Variable& self, const Variable& other);
inline Variable max(const Variable& self, const Variable& other) { return maximum(self, other); }
inline Variable min(const Variable& self, const Variable& other) { return minimum(self, other); }
/// The larger value, or the other value if one is NaN. A tie passes the gradient to self.
EBB_API Variable fmax(const Variable& self, const Variable& other);
/// The smaller value, or the other value if one is NaN. A tie passes the gradient to self.
EBB_API Variable fmin(const Variable& self, const Variable& other);
/// log(e^self + e^other) without overflow. Floating dtypes only.
EBB_API Variable logaddexp(const Variable& self, const Variable& other);
/// log2(2^self + 2^other) without overflow. Floating dtypes only.
EBB_API Variable logaddexp2(const Variable& self, const Variable& other);
/// self * log(other); 0 where self is 0.
EBB_API Variable xlogy(const Variable& self, const Variable& other);
EBB_API Variable xlogy(const Variable& self, const Scalar& other);
EBB_API Variable xlogy(const Scalar& self, const Variable& other);
EBB_API Variable& xlogy_(const Variable& self, const Variable& other);
EBB_API Variable& xlogy_(const Variable& self, const Scalar& other);
/// |self| with the sign of other.
EBB_API Variable copysign(const Variable& self, const Variable& other);
EBB_API Variable copysign(const Variable& self, const Scalar& other);
EBB_API Variable& copysign_(const Variable& self, const Variable& other);
EBB_API Variable& copysign_(const Variable& self, const Scalar& other);
/// self * 2^other.
EBB_API Variable ldexp(const Variable& self, const Variable& other);
EBB_API Variable& ldexp_(const Variable& self, const Variable& other);
/// 0 if self < 0, other if self = 0, 1 if self > 0. No gradient. Both operands have the same dtype.
EBB_API Variable heaviside(const Variable& self, const Variable& other);
EBB_API Variable& heaviside_(const Variable& self, const Variable& other);

/// min(max(self, min), max). One of the bounds is optional. The gradient is 1 at the bounds; NaN stays NaN.
EBB_API Variable clamp(const Variable& self, const optional<Scalar>& min,
                       const optional<Scalar>& max = nullopt);
EBB_API Variable clamp(const Variable& self, const optional<Variable>& min = {},
                       const optional<Variable>& max = {});
EBB_API Variable& clamp_(const Variable& self, const optional<Scalar>& min,
                         const optional<Scalar>& max = nullopt);
EBB_API Variable& clamp_(const Variable& self, const optional<Variable>& min = {},
                         const optional<Variable>& max = {});
EBB_API Variable clamp_min(const Variable& self, const Scalar& min);
EBB_API Variable clamp_min(const Variable& self, const Variable& min);
EBB_API Variable clamp_max(const Variable& self, const Scalar& max);
EBB_API Variable clamp_max(const Variable& self, const Variable& max);
EBB_API Variable& clamp_min_(const Variable& self, const Scalar& min);
EBB_API Variable& clamp_min_(const Variable& self, const Variable& min);
EBB_API Variable& clamp_max_(const Variable& self, const Scalar& max);
EBB_API Variable& clamp_max_(const Variable& self, const Variable& max);
inline Variable clip(const Variable& self, const optional<Scalar>& min,
                     const optional<Scalar>& max = nullopt) {
  return clamp(self, min, max);
}
inline Variable clip(const Variable& self, const optional<Variable>& min = {},
                     const optional<Variable>& max = {}) {
  return clamp(self, min, max);
}
inline Variable& clip_(const Variable& self, const optional<Scalar>& min,
                       const optional<Scalar>& max = nullopt) {
  return clamp_(self, min, max);
}
inline Variable& clip_(const Variable& self, const optional<Variable>& min = {},
                       const optional<Variable>& max = {}) {
  return clamp_(self, min, max);
}

/// self where condition (Bool) is true, other elsewhere. Elements that are not selected get no gradient, even
/// if they are NaN.
EBB_API Variable where(const Variable& condition, const Variable& self, const Variable& other);
EBB_API Variable where(const Variable& condition, const Variable& self, const Scalar& other);
EBB_API Variable where(const Variable& condition, const Scalar& self, const Variable& other);
EBB_API Variable where(const Variable& condition, const Scalar& self, const Scalar& other);

/// self + weight * (end - self). All tensors have the same floating dtype.
EBB_API Variable lerp(const Variable& self, const Variable& end, const Scalar& weight);
EBB_API Variable lerp(const Variable& self, const Variable& end, const Variable& weight);
EBB_API Variable& lerp_(const Variable& self, const Variable& end, const Scalar& weight);
EBB_API Variable& lerp_(const Variable& self, const Variable& end, const Variable& weight);
/// self + value * tensor1 * tensor2.
EBB_API Variable addcmul(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                         const Scalar& value = 1);
EBB_API Variable& addcmul_(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                           const Scalar& value = 1);
/// self + value * tensor1 / tensor2. Throws if tensor1 and tensor2 are both integers.
EBB_API Variable addcdiv(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                         const Scalar& value = 1);
EBB_API Variable& addcdiv_(const Variable& self, const Variable& tensor1, const Variable& tensor2,
                           const Scalar& value = 1);

inline Variable subtract(const Variable& a, const Variable& b, const Scalar& alpha = 1) {
  return sub(a, b, alpha);
}
inline Variable subtract(const Variable& a, const Scalar& b, const Scalar& alpha = 1) {
  return sub(a, b, alpha);
}
inline Variable& subtract_(const Variable& a, const Variable& b, const Scalar& alpha = 1) {
  return sub_(a, b, alpha);
}
inline Variable& subtract_(const Variable& a, const Scalar& b, const Scalar& alpha = 1) {
  return sub_(a, b, alpha);
}
inline Variable multiply(const Variable& a, const Variable& b) { return mul(a, b); }
inline Variable multiply(const Variable& a, const Scalar& b) { return mul(a, b); }
inline Variable& multiply_(const Variable& a, const Variable& b) { return mul_(a, b); }
inline Variable& multiply_(const Variable& a, const Scalar& b) { return mul_(a, b); }
inline Variable divide(const Variable& a, const Variable& b) { return div(a, b); }
inline Variable divide(const Variable& a, const Scalar& b) { return div(a, b); }
inline Variable divide(const Variable& a, const Variable& b, optional<std::string_view> rounding_mode) {
  return div(a, b, rounding_mode);
}
inline Variable divide(const Variable& a, const Scalar& b, optional<std::string_view> rounding_mode) {
  return div(a, b, rounding_mode);
}
inline Variable& divide_(const Variable& a, const Variable& b) { return div_(a, b); }
inline Variable& divide_(const Variable& a, const Scalar& b) { return div_(a, b); }
inline Variable& divide_(const Variable& a, const Variable& b, optional<std::string_view> rounding_mode) {
  return div_(a, b, rounding_mode);
}
inline Variable& divide_(const Variable& a, const Scalar& b, optional<std::string_view> rounding_mode) {
  return div_(a, b, rounding_mode);
}
inline Variable true_divide(const Variable& a, const Variable& b) { return div(a, b); }
inline Variable true_divide(const Variable& a, const Scalar& b) { return div(a, b); }
inline Variable& true_divide_(const Variable& a, const Variable& b) { return div_(a, b); }
inline Variable& true_divide_(const Variable& a, const Scalar& b) { return div_(a, b); }
inline Variable arctan2(const Variable& a, const Variable& b) { return atan2(a, b); }
inline Variable& arctan2_(const Variable& a, const Variable& b) { return atan2_(a, b); }

inline Variable operator+(const Variable& a, const Variable& b) { return add(a, b); }
inline Variable operator+(const Variable& a, const Scalar& b) { return add(a, b); }
inline Variable operator+(const Scalar& a, const Variable& b) { return add(b, a); }
inline Variable operator-(const Variable& a, const Variable& b) { return sub(a, b); }
inline Variable operator-(const Variable& a, const Scalar& b) { return sub(a, b); }
EBB_API Variable operator-(const Scalar& a, const Variable& b);
inline Variable operator*(const Variable& a, const Variable& b) { return mul(a, b); }
inline Variable operator*(const Variable& a, const Scalar& b) { return mul(a, b); }
inline Variable operator*(const Scalar& a, const Variable& b) { return mul(b, a); }
inline Variable operator/(const Variable& a, const Variable& b) { return div(a, b); }
inline Variable operator/(const Variable& a, const Scalar& b) { return div(a, b); }
EBB_API Variable operator/(const Scalar& a, const Variable& b);
inline Variable operator%(const Variable& a, const Variable& b) { return remainder(a, b); }
inline Variable operator%(const Variable& a, const Scalar& b) { return remainder(a, b); }
inline Variable operator%(const Scalar& a, const Variable& b) { return remainder(a, b); }

}  // namespace ebb
