// Bodies of the methods of one tensor, number by number: each is the function of the same name.
#include <ebb/ops/elementwise/activation.h>
#include <ebb/ops/elementwise/compare.h>
#include <ebb/ops/elementwise/parts.h>
#include <ebb/ops/elementwise/unary.h>
#include <ebb/ops/special/functions.h>

#include "ops/common/self.h"

namespace ebb::ops {

Variable UnaryMethods::abs() const { return ebb::abs(self(this)); }
Variable& UnaryMethods::abs_() const { return ebb::abs_(self(this)); }
Variable UnaryMethods::absolute() const { return ebb::absolute(self(this)); }
Variable& UnaryMethods::absolute_() const { return ebb::absolute_(self(this)); }
Variable UnaryMethods::neg() const { return ebb::neg(self(this)); }
Variable& UnaryMethods::neg_() const { return ebb::neg_(self(this)); }
Variable UnaryMethods::negative() const { return ebb::negative(self(this)); }
Variable& UnaryMethods::negative_() const { return ebb::negative_(self(this)); }
Variable UnaryMethods::sign() const { return ebb::sign(self(this)); }
Variable& UnaryMethods::sign_() const { return ebb::sign_(self(this)); }
Variable UnaryMethods::sgn() const { return ebb::sgn(self(this)); }
Variable& UnaryMethods::sgn_() const { return ebb::sgn_(self(this)); }
Variable UnaryMethods::exp() const { return ebb::exp(self(this)); }
Variable& UnaryMethods::exp_() const { return ebb::exp_(self(this)); }
Variable UnaryMethods::exp2() const { return ebb::exp2(self(this)); }
Variable& UnaryMethods::exp2_() const { return ebb::exp2_(self(this)); }
Variable UnaryMethods::expm1() const { return ebb::expm1(self(this)); }
Variable& UnaryMethods::expm1_() const { return ebb::expm1_(self(this)); }
Variable UnaryMethods::log() const { return ebb::log(self(this)); }
Variable& UnaryMethods::log_() const { return ebb::log_(self(this)); }
Variable UnaryMethods::log2() const { return ebb::log2(self(this)); }
Variable& UnaryMethods::log2_() const { return ebb::log2_(self(this)); }
Variable UnaryMethods::log10() const { return ebb::log10(self(this)); }
Variable& UnaryMethods::log10_() const { return ebb::log10_(self(this)); }
Variable UnaryMethods::log1p() const { return ebb::log1p(self(this)); }
Variable& UnaryMethods::log1p_() const { return ebb::log1p_(self(this)); }
Variable UnaryMethods::sqrt() const { return ebb::sqrt(self(this)); }
Variable& UnaryMethods::sqrt_() const { return ebb::sqrt_(self(this)); }
Variable UnaryMethods::rsqrt() const { return ebb::rsqrt(self(this)); }
Variable& UnaryMethods::rsqrt_() const { return ebb::rsqrt_(self(this)); }
Variable UnaryMethods::square() const { return ebb::square(self(this)); }
Variable& UnaryMethods::square_() const { return ebb::square_(self(this)); }
Variable UnaryMethods::reciprocal() const { return ebb::reciprocal(self(this)); }
Variable& UnaryMethods::reciprocal_() const { return ebb::reciprocal_(self(this)); }
Variable UnaryMethods::sin() const { return ebb::sin(self(this)); }
Variable& UnaryMethods::sin_() const { return ebb::sin_(self(this)); }
Variable UnaryMethods::cos() const { return ebb::cos(self(this)); }
Variable& UnaryMethods::cos_() const { return ebb::cos_(self(this)); }
Variable UnaryMethods::tan() const { return ebb::tan(self(this)); }
Variable& UnaryMethods::tan_() const { return ebb::tan_(self(this)); }
Variable UnaryMethods::asin() const { return ebb::asin(self(this)); }
Variable& UnaryMethods::asin_() const { return ebb::asin_(self(this)); }
Variable UnaryMethods::arcsin() const { return ebb::arcsin(self(this)); }
Variable& UnaryMethods::arcsin_() const { return ebb::arcsin_(self(this)); }
Variable UnaryMethods::acos() const { return ebb::acos(self(this)); }
Variable& UnaryMethods::acos_() const { return ebb::acos_(self(this)); }
Variable UnaryMethods::arccos() const { return ebb::arccos(self(this)); }
Variable& UnaryMethods::arccos_() const { return ebb::arccos_(self(this)); }
Variable UnaryMethods::atan() const { return ebb::atan(self(this)); }
Variable& UnaryMethods::atan_() const { return ebb::atan_(self(this)); }
Variable UnaryMethods::arctan() const { return ebb::arctan(self(this)); }
Variable& UnaryMethods::arctan_() const { return ebb::arctan_(self(this)); }
Variable UnaryMethods::sinh() const { return ebb::sinh(self(this)); }
Variable& UnaryMethods::sinh_() const { return ebb::sinh_(self(this)); }
Variable UnaryMethods::cosh() const { return ebb::cosh(self(this)); }
Variable& UnaryMethods::cosh_() const { return ebb::cosh_(self(this)); }
Variable UnaryMethods::tanh() const { return ebb::tanh(self(this)); }
Variable& UnaryMethods::tanh_() const { return ebb::tanh_(self(this)); }
Variable UnaryMethods::asinh() const { return ebb::asinh(self(this)); }
Variable& UnaryMethods::asinh_() const { return ebb::asinh_(self(this)); }
Variable UnaryMethods::arcsinh() const { return ebb::arcsinh(self(this)); }
Variable& UnaryMethods::arcsinh_() const { return ebb::arcsinh_(self(this)); }
Variable UnaryMethods::acosh() const { return ebb::acosh(self(this)); }
Variable& UnaryMethods::acosh_() const { return ebb::acosh_(self(this)); }
Variable UnaryMethods::arccosh() const { return ebb::arccosh(self(this)); }
Variable& UnaryMethods::arccosh_() const { return ebb::arccosh_(self(this)); }
Variable UnaryMethods::atanh() const { return ebb::atanh(self(this)); }
Variable& UnaryMethods::atanh_() const { return ebb::atanh_(self(this)); }
Variable UnaryMethods::arctanh() const { return ebb::arctanh(self(this)); }
Variable& UnaryMethods::arctanh_() const { return ebb::arctanh_(self(this)); }
Variable UnaryMethods::sigmoid() const { return ebb::sigmoid(self(this)); }
Variable& UnaryMethods::sigmoid_() const { return ebb::sigmoid_(self(this)); }
Variable UnaryMethods::erf() const { return ebb::erf(self(this)); }
Variable& UnaryMethods::erf_() const { return ebb::erf_(self(this)); }
Variable UnaryMethods::erfc() const { return ebb::erfc(self(this)); }
Variable& UnaryMethods::erfc_() const { return ebb::erfc_(self(this)); }
Variable UnaryMethods::erfinv() const { return ebb::erfinv(self(this)); }
Variable& UnaryMethods::erfinv_() const { return ebb::erfinv_(self(this)); }
Variable UnaryMethods::lgamma() const { return ebb::lgamma(self(this)); }
Variable& UnaryMethods::lgamma_() const { return ebb::lgamma_(self(this)); }
Variable UnaryMethods::digamma() const { return ebb::digamma(self(this)); }
Variable& UnaryMethods::digamma_() const { return ebb::digamma_(self(this)); }
Variable UnaryMethods::i0() const { return ebb::i0(self(this)); }
Variable& UnaryMethods::i0_() const { return ebb::i0_(self(this)); }
Variable UnaryMethods::sinc() const { return ebb::sinc(self(this)); }
Variable& UnaryMethods::sinc_() const { return ebb::sinc_(self(this)); }
Variable UnaryMethods::floor() const { return ebb::floor(self(this)); }
Variable& UnaryMethods::floor_() const { return ebb::floor_(self(this)); }
Variable UnaryMethods::ceil() const { return ebb::ceil(self(this)); }
Variable& UnaryMethods::ceil_() const { return ebb::ceil_(self(this)); }
Variable UnaryMethods::round() const { return ebb::round(self(this)); }
Variable UnaryMethods::round(std::int64_t decimals) const { return ebb::round(self(this), decimals); }
Variable& UnaryMethods::round_() const { return ebb::round_(self(this)); }
Variable& UnaryMethods::round_(std::int64_t decimals) const { return ebb::round_(self(this), decimals); }
Variable UnaryMethods::trunc() const { return ebb::trunc(self(this)); }
Variable& UnaryMethods::trunc_() const { return ebb::trunc_(self(this)); }
Variable UnaryMethods::fix() const { return ebb::fix(self(this)); }
Variable& UnaryMethods::fix_() const { return ebb::fix_(self(this)); }
Variable UnaryMethods::frac() const { return ebb::frac(self(this)); }
Variable& UnaryMethods::frac_() const { return ebb::frac_(self(this)); }
Variable UnaryMethods::deg2rad() const { return ebb::deg2rad(self(this)); }
Variable& UnaryMethods::deg2rad_() const { return ebb::deg2rad_(self(this)); }
Variable UnaryMethods::rad2deg() const { return ebb::rad2deg(self(this)); }
Variable& UnaryMethods::rad2deg_() const { return ebb::rad2deg_(self(this)); }
Variable UnaryMethods::logical_not() const { return ebb::logical_not(self(this)); }
Variable& UnaryMethods::logical_not_() const { return ebb::logical_not_(self(this)); }
Variable UnaryMethods::bitwise_not() const { return ebb::bitwise_not(self(this)); }
Variable& UnaryMethods::bitwise_not_() const { return ebb::bitwise_not_(self(this)); }
Variable UnaryMethods::polygamma(std::int64_t n) const { return ebb::polygamma(n, self(this)); }
Variable UnaryMethods::mvlgamma(std::int64_t p) const { return ebb::mvlgamma(self(this), p); }
Variable& UnaryMethods::mvlgamma_(std::int64_t p) const { return ebb::mvlgamma_(self(this), p); }
std::tuple<Variable, Variable> UnaryMethods::frexp() const { return ebb::frexp(self(this)); }
Variable UnaryMethods::isreal() const { return ebb::isreal(self(this)); }
bool UnaryMethods::is_neg() const { return ebb::is_neg(self(this)); }
Variable UnaryMethods::resolve_neg() const { return ebb::resolve_neg(self(this)); }
Variable UnaryMethods::logit(optional<double> eps) const { return ebb::logit(self(this), eps); }
Variable& UnaryMethods::logit_(optional<double> eps) const { return ebb::logit_(self(this), eps); }
Variable UnaryMethods::nan_to_num(optional<double> nan, optional<double> posinf,
                                  optional<double> neginf) const {
  return ebb::nan_to_num(self(this), nan, posinf, neginf);
}
Variable& UnaryMethods::nan_to_num_(optional<double> nan, optional<double> posinf,
                                    optional<double> neginf) const {
  return ebb::nan_to_num_(self(this), nan, posinf, neginf);
}
Variable UnaryMethods::positive() const { return ebb::positive(self(this)); }
Variable UnaryMethods::isnan() const { return ebb::isnan(self(this)); }
Variable UnaryMethods::isinf() const { return ebb::isinf(self(this)); }
Variable UnaryMethods::isfinite() const { return ebb::isfinite(self(this)); }
Variable UnaryMethods::isposinf() const { return ebb::isposinf(self(this)); }
Variable UnaryMethods::isneginf() const { return ebb::isneginf(self(this)); }
Variable UnaryMethods::signbit() const { return ebb::signbit(self(this)); }
Variable UnaryMethods::relu() const { return ebb::relu(self(this)); }
Variable& UnaryMethods::relu_() const { return ebb::relu_(self(this)); }
Variable UnaryMethods::hardshrink(const Scalar& lambd) const { return ebb::hardshrink(self(this), lambd); }
Variable UnaryMethods::operator-() const { return ebb::neg(self(this)); }
Variable UnaryMethods::operator~() const { return ebb::bitwise_not(self(this)); }

}  // namespace ebb::ops
