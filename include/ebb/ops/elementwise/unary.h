// Unary elementwise ops: signs, exponentials, trigonometry, special functions, rounding.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

// All functions are elementwise and keep the shape. Unless stated otherwise, integer tensors are first
// converted to the default dtype. `name_` writes into self. It throws if self is a leaf that requires grad,
// and if the dtype of the result does not convert to the dtype of self. Names are torch's.

/// |x|; the derivative at 0 is 0.
EBB_API Variable abs(const Variable& self);
EBB_API Variable& abs_(const Variable& self);
inline Variable absolute(const Variable& self) { return abs(self); }
inline Variable& absolute_(const Variable& self) { return abs_(self); }
/// -x. Throws for Bool.
EBB_API Variable neg(const Variable& self);
EBB_API Variable& neg_(const Variable& self);
inline Variable negative(const Variable& self) { return neg(self); }
inline Variable& negative_(const Variable& self) { return neg_(self); }
/// -1, 0 or 1; the gradient is 0.
EBB_API Variable sign(const Variable& self);
EBB_API Variable& sign_(const Variable& self);
/// sign(x). torch extends sign to complex numbers under this name.
EBB_API Variable sgn(const Variable& self);
EBB_API Variable& sgn_(const Variable& self);
/// e^x.
EBB_API Variable exp(const Variable& self);
EBB_API Variable& exp_(const Variable& self);
/// 2^x.
EBB_API Variable exp2(const Variable& self);
EBB_API Variable& exp2_(const Variable& self);
/// e^x - 1, exact near 0.
EBB_API Variable expm1(const Variable& self);
EBB_API Variable& expm1_(const Variable& self);
/// The natural logarithm.
EBB_API Variable log(const Variable& self);
EBB_API Variable& log_(const Variable& self);
/// The logarithm to base 2.
EBB_API Variable log2(const Variable& self);
EBB_API Variable& log2_(const Variable& self);
/// The logarithm to base 10.
EBB_API Variable log10(const Variable& self);
EBB_API Variable& log10_(const Variable& self);
/// log(1 + x), exact near 0.
EBB_API Variable log1p(const Variable& self);
EBB_API Variable& log1p_(const Variable& self);
/// The square root; its derivative at 0 is infinite.
EBB_API Variable sqrt(const Variable& self);
EBB_API Variable& sqrt_(const Variable& self);
/// 1 / sqrt(x).
EBB_API Variable rsqrt(const Variable& self);
EBB_API Variable& rsqrt_(const Variable& self);
/// x^2.
EBB_API Variable square(const Variable& self);
EBB_API Variable& square_(const Variable& self);
/// 1 / x.
EBB_API Variable reciprocal(const Variable& self);
EBB_API Variable& reciprocal_(const Variable& self);
/// The sine of x in radians.
EBB_API Variable sin(const Variable& self);
EBB_API Variable& sin_(const Variable& self);
/// The cosine of x in radians.
EBB_API Variable cos(const Variable& self);
EBB_API Variable& cos_(const Variable& self);
/// The tangent of x in radians.
EBB_API Variable tan(const Variable& self);
EBB_API Variable& tan_(const Variable& self);
/// The inverse of sin; NaN outside [-1, 1].
EBB_API Variable asin(const Variable& self);
EBB_API Variable& asin_(const Variable& self);
inline Variable arcsin(const Variable& self) { return asin(self); }
inline Variable& arcsin_(const Variable& self) { return asin_(self); }
/// The inverse of cos; NaN outside [-1, 1].
EBB_API Variable acos(const Variable& self);
EBB_API Variable& acos_(const Variable& self);
inline Variable arccos(const Variable& self) { return acos(self); }
inline Variable& arccos_(const Variable& self) { return acos_(self); }
/// The inverse of tan, in (-pi/2, pi/2).
EBB_API Variable atan(const Variable& self);
EBB_API Variable& atan_(const Variable& self);
inline Variable arctan(const Variable& self) { return atan(self); }
inline Variable& arctan_(const Variable& self) { return atan_(self); }
/// (e^x - e^-x) / 2.
EBB_API Variable sinh(const Variable& self);
EBB_API Variable& sinh_(const Variable& self);
/// (e^x + e^-x) / 2.
EBB_API Variable cosh(const Variable& self);
EBB_API Variable& cosh_(const Variable& self);
/// The inverse of sinh.
EBB_API Variable asinh(const Variable& self);
EBB_API Variable& asinh_(const Variable& self);
inline Variable arcsinh(const Variable& self) { return asinh(self); }
inline Variable& arcsinh_(const Variable& self) { return asinh_(self); }
/// The inverse of cosh; NaN below 1.
EBB_API Variable acosh(const Variable& self);
EBB_API Variable& acosh_(const Variable& self);
inline Variable arccosh(const Variable& self) { return acosh(self); }
inline Variable& arccosh_(const Variable& self) { return acosh_(self); }
/// log((1 + x) / (1 - x)) / 2, the inverse of tanh; NaN outside [-1, 1].
EBB_API Variable atanh(const Variable& self);
EBB_API Variable& atanh_(const Variable& self);
inline Variable arctanh(const Variable& self) { return atanh(self); }
inline Variable& arctanh_(const Variable& self) { return atanh_(self); }
/// The error function.
EBB_API Variable erf(const Variable& self);
EBB_API Variable& erf_(const Variable& self);
/// 1 - erf(x), exact for large x.
EBB_API Variable erfc(const Variable& self);
EBB_API Variable& erfc_(const Variable& self);
/// The inverse of erf.
EBB_API Variable erfinv(const Variable& self);
EBB_API Variable& erfinv_(const Variable& self);
/// log |Gamma(x)|.
EBB_API Variable lgamma(const Variable& self);
EBB_API Variable& lgamma_(const Variable& self);
/// The derivative of lgamma.
EBB_API Variable digamma(const Variable& self);
EBB_API Variable& digamma_(const Variable& self);
/// The modified Bessel function of the first kind of order 0 (torch.i0).
EBB_API Variable i0(const Variable& self);
EBB_API Variable& i0_(const Variable& self);
/// The modified Bessel function of the first kind of order 1, the derivative of i0 (torch.special.i1).
EBB_API Variable special_i1(const Variable& self);
inline Variable special_i0(const Variable& self) { return i0(self); }
/// sin(pi x) / (pi x); 1 at 0.
EBB_API Variable sinc(const Variable& self);
EBB_API Variable& sinc_(const Variable& self);
/// Rounds down. The gradient of all rounding ops is 0.
EBB_API Variable floor(const Variable& self);
EBB_API Variable& floor_(const Variable& self);
/// Rounds up.
EBB_API Variable ceil(const Variable& self);
EBB_API Variable& ceil_(const Variable& self);
/// Rounds to the nearest integer. If two integers are equally near, rounds to the even one.
EBB_API Variable round(const Variable& self);
EBB_API Variable& round_(const Variable& self);
/// Rounds towards 0.
EBB_API Variable trunc(const Variable& self);
EBB_API Variable& trunc_(const Variable& self);
inline Variable fix(const Variable& self) { return trunc(self); }
inline Variable& fix_(const Variable& self) { return trunc_(self); }
/// x - trunc(x).
EBB_API Variable frac(const Variable& self);
EBB_API Variable& frac_(const Variable& self);
/// x pi / 180.
EBB_API Variable deg2rad(const Variable& self);
EBB_API Variable& deg2rad_(const Variable& self);
/// x 180 / pi.
EBB_API Variable rad2deg(const Variable& self);
EBB_API Variable& rad2deg_(const Variable& self);
/// x == 0, as Bool.
EBB_API Variable logical_not(const Variable& self);
EBB_API Variable& logical_not_(const Variable& self);
/// Inverts the bits of integers, and negates Bool.
EBB_API Variable bitwise_not(const Variable& self);
EBB_API Variable& bitwise_not_(const Variable& self);
/// Rounds to `decimals` decimal places; negative values round to tens, hundreds, ...
EBB_API Variable round(const Variable& self, std::int64_t decimals);
EBB_API Variable& round_(const Variable& self, std::int64_t decimals);
/// The n-th derivative of digamma; n = 0 is digamma. Throws for n < 0.
EBB_API Variable polygamma(std::int64_t n, const Variable& self);
/// log(x / (1 - x)), with x clamped to [eps, 1 - eps] if eps is given. Without eps, the result is NaN outside
/// [0, 1].
EBB_API Variable logit(const Variable& self, optional<double> eps = nullopt);
EBB_API Variable& logit_(const Variable& self, optional<double> eps = nullopt);
/// Replaces NaN by `nan` (default 0) and infinities by the given values (default: the dtype's largest and
/// lowest).
EBB_API Variable nan_to_num(const Variable& self, optional<double> nan = nullopt,
                            optional<double> posinf = nullopt, optional<double> neginf = nullopt);
EBB_API Variable& nan_to_num_(const Variable& self, optional<double> nan = nullopt,
                              optional<double> posinf = nullopt, optional<double> neginf = nullopt);
/// Returns self. Throws for Bool.
EBB_API Variable positive(const Variable& self);

/// True where x is NaN, as Bool.
EBB_API Variable isnan(const Variable& self);
/// True where x is infinite, as Bool.
EBB_API Variable isinf(const Variable& self);
/// True where x is finite, as Bool.
EBB_API Variable isfinite(const Variable& self);
/// True where x is +infinity, as Bool.
EBB_API Variable isposinf(const Variable& self);
/// True where x is -infinity, as Bool.
EBB_API Variable isneginf(const Variable& self);
/// True where the sign bit is set, as Bool.
EBB_API Variable signbit(const Variable& self);

}  // namespace ebb
