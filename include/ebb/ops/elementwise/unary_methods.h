// Bodies of the methods of Variable that take one tensor: each is the free function of the same name.
#pragma once

#include <ebb/ops/elementwise/unary.h>

namespace ebb::ops {

inline const Variable& ElementwiseMethods::self() const { return static_cast<const Variable&>(*this); }

inline Variable ElementwiseMethods::abs() const { return ebb::abs(self()); }
inline Variable& ElementwiseMethods::abs_() const { return ebb::abs_(self()); }
inline Variable ElementwiseMethods::absolute() const { return ebb::absolute(self()); }
inline Variable& ElementwiseMethods::absolute_() const { return ebb::absolute_(self()); }
inline Variable ElementwiseMethods::neg() const { return ebb::neg(self()); }
inline Variable& ElementwiseMethods::neg_() const { return ebb::neg_(self()); }
inline Variable ElementwiseMethods::negative() const { return ebb::negative(self()); }
inline Variable& ElementwiseMethods::negative_() const { return ebb::negative_(self()); }
inline Variable ElementwiseMethods::sign() const { return ebb::sign(self()); }
inline Variable& ElementwiseMethods::sign_() const { return ebb::sign_(self()); }
inline Variable ElementwiseMethods::sgn() const { return ebb::sgn(self()); }
inline Variable& ElementwiseMethods::sgn_() const { return ebb::sgn_(self()); }
inline Variable ElementwiseMethods::exp() const { return ebb::exp(self()); }
inline Variable& ElementwiseMethods::exp_() const { return ebb::exp_(self()); }
inline Variable ElementwiseMethods::exp2() const { return ebb::exp2(self()); }
inline Variable& ElementwiseMethods::exp2_() const { return ebb::exp2_(self()); }
inline Variable ElementwiseMethods::expm1() const { return ebb::expm1(self()); }
inline Variable& ElementwiseMethods::expm1_() const { return ebb::expm1_(self()); }
inline Variable ElementwiseMethods::log() const { return ebb::log(self()); }
inline Variable& ElementwiseMethods::log_() const { return ebb::log_(self()); }
inline Variable ElementwiseMethods::log2() const { return ebb::log2(self()); }
inline Variable& ElementwiseMethods::log2_() const { return ebb::log2_(self()); }
inline Variable ElementwiseMethods::log10() const { return ebb::log10(self()); }
inline Variable& ElementwiseMethods::log10_() const { return ebb::log10_(self()); }
inline Variable ElementwiseMethods::log1p() const { return ebb::log1p(self()); }
inline Variable& ElementwiseMethods::log1p_() const { return ebb::log1p_(self()); }
inline Variable ElementwiseMethods::sqrt() const { return ebb::sqrt(self()); }
inline Variable& ElementwiseMethods::sqrt_() const { return ebb::sqrt_(self()); }
inline Variable ElementwiseMethods::rsqrt() const { return ebb::rsqrt(self()); }
inline Variable& ElementwiseMethods::rsqrt_() const { return ebb::rsqrt_(self()); }
inline Variable ElementwiseMethods::square() const { return ebb::square(self()); }
inline Variable& ElementwiseMethods::square_() const { return ebb::square_(self()); }
inline Variable ElementwiseMethods::reciprocal() const { return ebb::reciprocal(self()); }
inline Variable& ElementwiseMethods::reciprocal_() const { return ebb::reciprocal_(self()); }
inline Variable ElementwiseMethods::sin() const { return ebb::sin(self()); }
inline Variable& ElementwiseMethods::sin_() const { return ebb::sin_(self()); }
inline Variable ElementwiseMethods::cos() const { return ebb::cos(self()); }
inline Variable& ElementwiseMethods::cos_() const { return ebb::cos_(self()); }
inline Variable ElementwiseMethods::tan() const { return ebb::tan(self()); }
inline Variable& ElementwiseMethods::tan_() const { return ebb::tan_(self()); }
inline Variable ElementwiseMethods::asin() const { return ebb::asin(self()); }
inline Variable& ElementwiseMethods::asin_() const { return ebb::asin_(self()); }
inline Variable ElementwiseMethods::arcsin() const { return ebb::arcsin(self()); }
inline Variable& ElementwiseMethods::arcsin_() const { return ebb::arcsin_(self()); }
inline Variable ElementwiseMethods::acos() const { return ebb::acos(self()); }
inline Variable& ElementwiseMethods::acos_() const { return ebb::acos_(self()); }
inline Variable ElementwiseMethods::arccos() const { return ebb::arccos(self()); }
inline Variable& ElementwiseMethods::arccos_() const { return ebb::arccos_(self()); }
inline Variable ElementwiseMethods::atan() const { return ebb::atan(self()); }
inline Variable& ElementwiseMethods::atan_() const { return ebb::atan_(self()); }
inline Variable ElementwiseMethods::arctan() const { return ebb::arctan(self()); }
inline Variable& ElementwiseMethods::arctan_() const { return ebb::arctan_(self()); }
inline Variable ElementwiseMethods::sinh() const { return ebb::sinh(self()); }
inline Variable& ElementwiseMethods::sinh_() const { return ebb::sinh_(self()); }
inline Variable ElementwiseMethods::cosh() const { return ebb::cosh(self()); }
inline Variable& ElementwiseMethods::cosh_() const { return ebb::cosh_(self()); }
inline Variable ElementwiseMethods::tanh() const { return ebb::tanh(self()); }
inline Variable& ElementwiseMethods::tanh_() const { return ebb::tanh_(self()); }
inline Variable ElementwiseMethods::asinh() const { return ebb::asinh(self()); }
inline Variable& ElementwiseMethods::asinh_() const { return ebb::asinh_(self()); }
inline Variable ElementwiseMethods::arcsinh() const { return ebb::arcsinh(self()); }
inline Variable& ElementwiseMethods::arcsinh_() const { return ebb::arcsinh_(self()); }
inline Variable ElementwiseMethods::acosh() const { return ebb::acosh(self()); }
inline Variable& ElementwiseMethods::acosh_() const { return ebb::acosh_(self()); }
inline Variable ElementwiseMethods::arccosh() const { return ebb::arccosh(self()); }
inline Variable& ElementwiseMethods::arccosh_() const { return ebb::arccosh_(self()); }
inline Variable ElementwiseMethods::atanh() const { return ebb::atanh(self()); }
inline Variable& ElementwiseMethods::atanh_() const { return ebb::atanh_(self()); }
inline Variable ElementwiseMethods::arctanh() const { return ebb::arctanh(self()); }
inline Variable& ElementwiseMethods::arctanh_() const { return ebb::arctanh_(self()); }
inline Variable ElementwiseMethods::sigmoid() const { return ebb::sigmoid(self()); }
inline Variable& ElementwiseMethods::sigmoid_() const { return ebb::sigmoid_(self()); }
inline Variable ElementwiseMethods::erf() const { return ebb::erf(self()); }
inline Variable& ElementwiseMethods::erf_() const { return ebb::erf_(self()); }
inline Variable ElementwiseMethods::erfc() const { return ebb::erfc(self()); }
inline Variable& ElementwiseMethods::erfc_() const { return ebb::erfc_(self()); }
inline Variable ElementwiseMethods::erfinv() const { return ebb::erfinv(self()); }
inline Variable& ElementwiseMethods::erfinv_() const { return ebb::erfinv_(self()); }
inline Variable ElementwiseMethods::lgamma() const { return ebb::lgamma(self()); }
inline Variable& ElementwiseMethods::lgamma_() const { return ebb::lgamma_(self()); }
inline Variable ElementwiseMethods::digamma() const { return ebb::digamma(self()); }
inline Variable& ElementwiseMethods::digamma_() const { return ebb::digamma_(self()); }
inline Variable ElementwiseMethods::i0() const { return ebb::i0(self()); }
inline Variable& ElementwiseMethods::i0_() const { return ebb::i0_(self()); }
inline Variable ElementwiseMethods::sinc() const { return ebb::sinc(self()); }
inline Variable& ElementwiseMethods::sinc_() const { return ebb::sinc_(self()); }
inline Variable ElementwiseMethods::floor() const { return ebb::floor(self()); }
inline Variable& ElementwiseMethods::floor_() const { return ebb::floor_(self()); }
inline Variable ElementwiseMethods::ceil() const { return ebb::ceil(self()); }
inline Variable& ElementwiseMethods::ceil_() const { return ebb::ceil_(self()); }
inline Variable ElementwiseMethods::round() const { return ebb::round(self()); }
inline Variable& ElementwiseMethods::round_() const { return ebb::round_(self()); }
inline Variable ElementwiseMethods::trunc() const { return ebb::trunc(self()); }
inline Variable& ElementwiseMethods::trunc_() const { return ebb::trunc_(self()); }
inline Variable ElementwiseMethods::fix() const { return ebb::fix(self()); }
inline Variable& ElementwiseMethods::fix_() const { return ebb::fix_(self()); }
inline Variable ElementwiseMethods::frac() const { return ebb::frac(self()); }
inline Variable& ElementwiseMethods::frac_() const { return ebb::frac_(self()); }
inline Variable ElementwiseMethods::deg2rad() const { return ebb::deg2rad(self()); }
inline Variable& ElementwiseMethods::deg2rad_() const { return ebb::deg2rad_(self()); }
inline Variable ElementwiseMethods::rad2deg() const { return ebb::rad2deg(self()); }
inline Variable& ElementwiseMethods::rad2deg_() const { return ebb::rad2deg_(self()); }
inline Variable ElementwiseMethods::logical_not() const { return ebb::logical_not(self()); }
inline Variable& ElementwiseMethods::logical_not_() const { return ebb::logical_not_(self()); }
inline Variable ElementwiseMethods::bitwise_not() const { return ebb::bitwise_not(self()); }
inline Variable& ElementwiseMethods::bitwise_not_() const { return ebb::bitwise_not_(self()); }
inline Variable ElementwiseMethods::round(std::int64_t decimals) const {
  return ebb::round(self(), decimals);
}
inline Variable& ElementwiseMethods::round_(std::int64_t decimals) const {
  return ebb::round_(self(), decimals);
}
inline Variable ElementwiseMethods::polygamma(std::int64_t n) const { return ebb::polygamma(n, self()); }
inline Variable ElementwiseMethods::logit(optional<double> eps) const { return ebb::logit(self(), eps); }
inline Variable& ElementwiseMethods::logit_(optional<double> eps) const { return ebb::logit_(self(), eps); }
inline Variable ElementwiseMethods::nan_to_num(optional<double> nan, optional<double> posinf,
                                               optional<double> neginf) const {
  return ebb::nan_to_num(self(), nan, posinf, neginf);
}
inline Variable& ElementwiseMethods::nan_to_num_(optional<double> nan, optional<double> posinf,
                                                 optional<double> neginf) const {
  return ebb::nan_to_num_(self(), nan, posinf, neginf);
}
inline Variable ElementwiseMethods::positive() const { return ebb::positive(self()); }
inline Variable ElementwiseMethods::isnan() const { return ebb::isnan(self()); }
inline Variable ElementwiseMethods::isinf() const { return ebb::isinf(self()); }
inline Variable ElementwiseMethods::isfinite() const { return ebb::isfinite(self()); }
inline Variable ElementwiseMethods::isposinf() const { return ebb::isposinf(self()); }
inline Variable ElementwiseMethods::isneginf() const { return ebb::isneginf(self()); }
inline Variable ElementwiseMethods::signbit() const { return ebb::signbit(self()); }

}  // namespace ebb::ops
