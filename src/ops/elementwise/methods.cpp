// Definitions of the elementwise methods. Each calls the function of the same name.
#include <ebb/ops/elementwise/activation.h>
#include <ebb/ops/elementwise/arithmetic.h>
#include <ebb/ops/elementwise/compare.h>
#include <ebb/ops/elementwise/parts.h>
#include <ebb/ops/elementwise/special.h>
#include <ebb/ops/elementwise/unary.h>

#include "ops/common/record.h"

namespace ebb::ops {

#define EBB_UNARY(op)                                                     \
  Variable ElementwiseMethods::op() const { return ebb::op(self(this)); } \
  Variable& ElementwiseMethods::op##_() const { return ebb::op##_(self(this)); }
#define EBB_BINARY(op, Other)                                                                      \
  Variable ElementwiseMethods::op(const Other& other) const { return ebb::op(self(this), other); } \
  Variable& ElementwiseMethods::op##_(const Other& other) const { return ebb::op##_(self(this), other); }
#define EBB_OF_TENSORS(op) EBB_BINARY(op, Variable)
#define EBB_OF_NUMBERS(op) EBB_BINARY(op, Scalar)
EBB_UNARY_OPS(EBB_UNARY)
EBB_TENSOR_BINARY_OPS(EBB_OF_TENSORS)
EBB_BINARY_OPS(EBB_OF_TENSORS)
EBB_BINARY_OPS(EBB_OF_NUMBERS)
#undef EBB_UNARY
#undef EBB_BINARY
#undef EBB_OF_TENSORS
#undef EBB_OF_NUMBERS

Variable ElementwiseMethods::round(std::int64_t decimals) const { return ebb::round(self(this), decimals); }
Variable& ElementwiseMethods::round_(std::int64_t decimals) const {
  return ebb::round_(self(this), decimals);
}
Variable ElementwiseMethods::polygamma(std::int64_t n) const { return ebb::polygamma(n, self(this)); }
Variable ElementwiseMethods::mvlgamma(std::int64_t p) const { return ebb::mvlgamma(self(this), p); }
Variable& ElementwiseMethods::mvlgamma_(std::int64_t p) const { return ebb::mvlgamma_(self(this), p); }
std::tuple<Variable, Variable> ElementwiseMethods::frexp() const { return ebb::frexp(self(this)); }
Variable ElementwiseMethods::isreal() const { return ebb::isreal(self(this)); }
bool ElementwiseMethods::is_neg() const { return ebb::is_neg(self(this)); }
Variable ElementwiseMethods::resolve_neg() const { return ebb::resolve_neg(self(this)); }
Variable ElementwiseMethods::logit(optional<double> eps) const { return ebb::logit(self(this), eps); }
Variable& ElementwiseMethods::logit_(optional<double> eps) const { return ebb::logit_(self(this), eps); }
Variable ElementwiseMethods::nan_to_num(optional<double> nan, optional<double> posinf,
                                        optional<double> neginf) const {
  return ebb::nan_to_num(self(this), nan, posinf, neginf);
}
Variable& ElementwiseMethods::nan_to_num_(optional<double> nan, optional<double> posinf,
                                          optional<double> neginf) const {
  return ebb::nan_to_num_(self(this), nan, posinf, neginf);
}
Variable ElementwiseMethods::positive() const { return ebb::positive(self(this)); }
Variable ElementwiseMethods::isnan() const { return ebb::isnan(self(this)); }
Variable ElementwiseMethods::isinf() const { return ebb::isinf(self(this)); }
Variable ElementwiseMethods::isfinite() const { return ebb::isfinite(self(this)); }
Variable ElementwiseMethods::isposinf() const { return ebb::isposinf(self(this)); }
Variable ElementwiseMethods::isneginf() const { return ebb::isneginf(self(this)); }
Variable ElementwiseMethods::signbit() const { return ebb::signbit(self(this)); }
Variable ElementwiseMethods::hardshrink(const Scalar& lambd) const {
  return ebb::hardshrink(self(this), lambd);
}
Variable ElementwiseMethods::operator-() const { return ebb::neg(self(this)); }
Variable ElementwiseMethods::operator~() const { return ebb::bitwise_not(self(this)); }

Variable ElementwiseMethods::add(const Variable& other, const Scalar& alpha) const {
  return ebb::add(self(this), other, alpha);
}
Variable ElementwiseMethods::add(const Scalar& other, const Scalar& alpha) const {
  return ebb::add(self(this), other, alpha);
}
Variable& ElementwiseMethods::add_(const Variable& other, const Scalar& alpha) const {
  return ebb::add_(self(this), other, alpha);
}
Variable& ElementwiseMethods::add_(const Scalar& other, const Scalar& alpha) const {
  return ebb::add_(self(this), other, alpha);
}
Variable ElementwiseMethods::sub(const Variable& other, const Scalar& alpha) const {
  return ebb::sub(self(this), other, alpha);
}
Variable ElementwiseMethods::sub(const Scalar& other, const Scalar& alpha) const {
  return ebb::sub(self(this), other, alpha);
}
Variable& ElementwiseMethods::sub_(const Variable& other, const Scalar& alpha) const {
  return ebb::sub_(self(this), other, alpha);
}
Variable& ElementwiseMethods::sub_(const Scalar& other, const Scalar& alpha) const {
  return ebb::sub_(self(this), other, alpha);
}
Variable ElementwiseMethods::subtract(const Variable& other, const Scalar& alpha) const {
  return ebb::subtract(self(this), other, alpha);
}
Variable ElementwiseMethods::subtract(const Scalar& other, const Scalar& alpha) const {
  return ebb::subtract(self(this), other, alpha);
}
Variable& ElementwiseMethods::subtract_(const Variable& other, const Scalar& alpha) const {
  return ebb::subtract_(self(this), other, alpha);
}
Variable& ElementwiseMethods::subtract_(const Scalar& other, const Scalar& alpha) const {
  return ebb::subtract_(self(this), other, alpha);
}
Variable ElementwiseMethods::div(const Variable& other, optional<std::string_view> rounding_mode) const {
  return ebb::div(self(this), other, rounding_mode);
}
Variable ElementwiseMethods::div(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::div(self(this), other, rounding_mode);
}
Variable& ElementwiseMethods::div_(const Variable& other, optional<std::string_view> rounding_mode) const {
  return ebb::div_(self(this), other, rounding_mode);
}
Variable& ElementwiseMethods::div_(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::div_(self(this), other, rounding_mode);
}
Variable ElementwiseMethods::divide(const Variable& other, optional<std::string_view> rounding_mode) const {
  return ebb::divide(self(this), other, rounding_mode);
}
Variable ElementwiseMethods::divide(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::divide(self(this), other, rounding_mode);
}
Variable& ElementwiseMethods::divide_(const Variable& other, optional<std::string_view> rounding_mode) const {
  return ebb::divide_(self(this), other, rounding_mode);
}
Variable& ElementwiseMethods::divide_(const Scalar& other, optional<std::string_view> rounding_mode) const {
  return ebb::divide_(self(this), other, rounding_mode);
}
Variable ElementwiseMethods::maximum(const Variable& other) const { return ebb::maximum(self(this), other); }
Variable ElementwiseMethods::minimum(const Variable& other) const { return ebb::minimum(self(this), other); }
Variable ElementwiseMethods::fmax(const Variable& other) const { return ebb::fmax(self(this), other); }
Variable ElementwiseMethods::fmin(const Variable& other) const { return ebb::fmin(self(this), other); }
Variable ElementwiseMethods::logaddexp(const Variable& other) const {
  return ebb::logaddexp(self(this), other);
}
Variable ElementwiseMethods::logaddexp2(const Variable& other) const {
  return ebb::logaddexp2(self(this), other);
}
Variable ElementwiseMethods::clamp(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clamp(self(this), min, max);
}
Variable ElementwiseMethods::clamp(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clamp(self(this), min, max);
}
Variable ElementwiseMethods::clamp(const optional<Variable>& min) const {
  return ebb::clamp(self(this), min);
}
Variable ElementwiseMethods::clip(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clip(self(this), min, max);
}
Variable ElementwiseMethods::clip(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clip(self(this), min, max);
}
Variable ElementwiseMethods::clip(const optional<Variable>& min) const { return ebb::clip(self(this), min); }
Variable ElementwiseMethods::clamp_min(const Scalar& min) const { return ebb::clamp_min(self(this), min); }
Variable ElementwiseMethods::clamp_min(const Variable& min) const { return ebb::clamp_min(self(this), min); }
Variable ElementwiseMethods::clamp_max(const Scalar& max) const { return ebb::clamp_max(self(this), max); }
Variable ElementwiseMethods::clamp_max(const Variable& max) const { return ebb::clamp_max(self(this), max); }
Variable ElementwiseMethods::lerp(const Variable& end, const Scalar& weight) const {
  return ebb::lerp(self(this), end, weight);
}
Variable ElementwiseMethods::lerp(const Variable& end, const Variable& weight) const {
  return ebb::lerp(self(this), end, weight);
}
Variable ElementwiseMethods::addcmul(const Variable& tensor1, const Variable& tensor2,
                                     const Scalar& value) const {
  return ebb::addcmul(self(this), tensor1, tensor2, value);
}
Variable ElementwiseMethods::addcdiv(const Variable& tensor1, const Variable& tensor2,
                                     const Scalar& value) const {
  return ebb::addcdiv(self(this), tensor1, tensor2, value);
}
Variable& ElementwiseMethods::clamp_(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clamp_(self(this), min, max);
}
Variable& ElementwiseMethods::clamp_(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clamp_(self(this), min, max);
}
Variable& ElementwiseMethods::clamp_(const optional<Variable>& min) const {
  return ebb::clamp_(self(this), min);
}
Variable& ElementwiseMethods::clip_(const optional<Scalar>& min, const optional<Scalar>& max) const {
  return ebb::clip_(self(this), min, max);
}
Variable& ElementwiseMethods::clip_(const optional<Variable>& min, const optional<Variable>& max) const {
  return ebb::clip_(self(this), min, max);
}
Variable& ElementwiseMethods::clip_(const optional<Variable>& min) const {
  return ebb::clip_(self(this), min);
}
Variable& ElementwiseMethods::clamp_min_(const Scalar& min) const { return ebb::clamp_min_(self(this), min); }
Variable& ElementwiseMethods::clamp_min_(const Variable& min) const {
  return ebb::clamp_min_(self(this), min);
}
Variable& ElementwiseMethods::clamp_max_(const Scalar& max) const { return ebb::clamp_max_(self(this), max); }
Variable& ElementwiseMethods::clamp_max_(const Variable& max) const {
  return ebb::clamp_max_(self(this), max);
}
Variable& ElementwiseMethods::lerp_(const Variable& end, const Scalar& weight) const {
  return ebb::lerp_(self(this), end, weight);
}
Variable& ElementwiseMethods::lerp_(const Variable& end, const Variable& weight) const {
  return ebb::lerp_(self(this), end, weight);
}
Variable& ElementwiseMethods::addcmul_(const Variable& tensor1, const Variable& tensor2,
                                       const Scalar& value) const {
  return ebb::addcmul_(self(this), tensor1, tensor2, value);
}
Variable& ElementwiseMethods::addcdiv_(const Variable& tensor1, const Variable& tensor2,
                                       const Scalar& value) const {
  return ebb::addcdiv_(self(this), tensor1, tensor2, value);
}
Variable ElementwiseMethods::where(const Variable& condition, const Variable& other) const {
  return ebb::where(condition, self(this), other);
}
Variable ElementwiseMethods::where(const Variable& condition, const Scalar& other) const {
  return ebb::where(condition, self(this), other);
}
Variable ElementwiseMethods::prelu(const Variable& weight) const { return ebb::prelu(self(this), weight); }
Variable& ElementwiseMethods::operator+=(const Variable& other) { return ebb::add_(self(this), other); }
Variable& ElementwiseMethods::operator+=(const Scalar& other) { return ebb::add_(self(this), other); }
Variable& ElementwiseMethods::operator-=(const Variable& other) { return ebb::sub_(self(this), other); }
Variable& ElementwiseMethods::operator-=(const Scalar& other) { return ebb::sub_(self(this), other); }
Variable& ElementwiseMethods::operator*=(const Variable& other) { return ebb::mul_(self(this), other); }
Variable& ElementwiseMethods::operator*=(const Scalar& other) { return ebb::mul_(self(this), other); }
Variable& ElementwiseMethods::operator/=(const Variable& other) { return ebb::div_(self(this), other); }
Variable& ElementwiseMethods::operator/=(const Scalar& other) { return ebb::div_(self(this), other); }

Variable ElementwiseMethods::isclose(const Variable& other, double rtol, double atol, bool equal_nan) const {
  return ebb::isclose(self(this), other, rtol, atol, equal_nan);
}
bool ElementwiseMethods::allclose(const Variable& other, double rtol, double atol, bool equal_nan) const {
  return ebb::allclose(self(this), other, rtol, atol, equal_nan);
}
bool ElementwiseMethods::equal(const Variable& other) const { return ebb::equal(self(this), other); }
Variable& ElementwiseMethods::operator&=(const Variable& other) {
  return ebb::bitwise_and_(self(this), other);
}
Variable& ElementwiseMethods::operator&=(const Scalar& other) { return ebb::bitwise_and_(self(this), other); }
Variable& ElementwiseMethods::operator|=(const Variable& other) {
  return ebb::bitwise_or_(self(this), other);
}
Variable& ElementwiseMethods::operator|=(const Scalar& other) { return ebb::bitwise_or_(self(this), other); }
Variable& ElementwiseMethods::operator^=(const Variable& other) {
  return ebb::bitwise_xor_(self(this), other);
}
Variable& ElementwiseMethods::operator^=(const Scalar& other) { return ebb::bitwise_xor_(self(this), other); }

}  // namespace ebb::ops
