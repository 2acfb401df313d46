// Methods of Variable of one tensor, number by number; documented with the functions of the same names in
// ebb/ops/elementwise/unary.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <cstdint>
#include <tuple>

namespace ebb::ops {

struct EBB_API UnaryMethods {
  Variable abs() const;
  Variable& abs_() const;
  Variable absolute() const;
  Variable& absolute_() const;
  Variable neg() const;
  Variable& neg_() const;
  Variable negative() const;
  Variable& negative_() const;
  Variable sign() const;
  Variable& sign_() const;
  Variable sgn() const;
  Variable& sgn_() const;
  Variable exp() const;
  Variable& exp_() const;
  Variable exp2() const;
  Variable& exp2_() const;
  Variable expm1() const;
  Variable& expm1_() const;
  Variable log() const;
  Variable& log_() const;
  Variable log2() const;
  Variable& log2_() const;
  Variable log10() const;
  Variable& log10_() const;
  Variable log1p() const;
  Variable& log1p_() const;
  Variable sqrt() const;
  Variable& sqrt_() const;
  Variable rsqrt() const;
  Variable& rsqrt_() const;
  Variable square() const;
  Variable& square_() const;
  Variable reciprocal() const;
  Variable& reciprocal_() const;
  Variable sin() const;
  Variable& sin_() const;
  Variable cos() const;
  Variable& cos_() const;
  Variable tan() const;
  Variable& tan_() const;
  Variable asin() const;
  Variable& asin_() const;
  Variable arcsin() const;
  Variable& arcsin_() const;
  Variable acos() const;
  Variable& acos_() const;
  Variable arccos() const;
  Variable& arccos_() const;
  Variable atan() const;
  Variable& atan_() const;
  Variable arctan() const;
  Variable& arctan_() const;
  Variable sinh() const;
  Variable& sinh_() const;
  Variable cosh() const;
  Variable& cosh_() const;
  Variable tanh() const;
  Variable& tanh_() const;
  Variable asinh() const;
  Variable& asinh_() const;
  Variable arcsinh() const;
  Variable& arcsinh_() const;
  Variable acosh() const;
  Variable& acosh_() const;
  Variable arccosh() const;
  Variable& arccosh_() const;
  Variable atanh() const;
  Variable& atanh_() const;
  Variable arctanh() const;
  Variable& arctanh_() const;
  Variable sigmoid() const;
  Variable& sigmoid_() const;
  Variable erf() const;
  Variable& erf_() const;
  Variable erfc() const;
  Variable& erfc_() const;
  Variable erfinv() const;
  Variable& erfinv_() const;
  Variable lgamma() const;
  Variable& lgamma_() const;
  Variable digamma() const;
  Variable& digamma_() const;
  Variable i0() const;
  Variable& i0_() const;
  Variable sinc() const;
  Variable& sinc_() const;
  Variable floor() const;
  Variable& floor_() const;
  Variable ceil() const;
  Variable& ceil_() const;
  Variable round() const;
  Variable& round_() const;
  Variable trunc() const;
  Variable& trunc_() const;
  Variable fix() const;
  Variable& fix_() const;
  Variable frac() const;
  Variable& frac_() const;
  Variable deg2rad() const;
  Variable& deg2rad_() const;
  Variable rad2deg() const;
  Variable& rad2deg_() const;
  Variable logical_not() const;
  Variable& logical_not_() const;
  Variable bitwise_not() const;
  Variable& bitwise_not_() const;
  Variable round(std::int64_t decimals) const;
  Variable& round_(std::int64_t decimals) const;
  Variable polygamma(std::int64_t n) const;
  Variable mvlgamma(std::int64_t p) const;
  Variable& mvlgamma_(std::int64_t p) const;
  std::tuple<Variable, Variable> frexp() const;
  Variable isreal() const;
  bool is_neg() const;
  Variable resolve_neg() const;
  Variable logit(optional<double> eps = nullopt) const;
  Variable& logit_(optional<double> eps = nullopt) const;
  Variable nan_to_num(optional<double> nan = nullopt, optional<double> posinf = nullopt,
                      optional<double> neginf = nullopt) const;
  Variable& nan_to_num_(optional<double> nan = nullopt, optional<double> posinf = nullopt,
                        optional<double> neginf = nullopt) const;
  Variable positive() const;
  Variable isnan() const;
  Variable isinf() const;
  Variable isfinite() const;
  Variable isposinf() const;
  Variable isneginf() const;
  Variable signbit() const;
  Variable relu() const;
  Variable& relu_() const;
  Variable hardshrink(const Scalar& lambd = 0.5) const;
  Variable operator-() const;
  Variable operator~() const;
};

}  // namespace ebb::ops
