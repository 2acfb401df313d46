// The logarithm of the gamma function, and its derivative digamma.
#pragma once

#include "ops/elementwise/formulas/special/numerics.h"

namespace ebb::ops {

/// Returns x minus the nearest integer, for x <= 0. There is no rounding error.
template <class X>
EBB_HD X from_integer(const X& x) {
  using std::trunc;
  const X rest = x - trunc(x);
  return where(rest < constant<X>(-0.5), rest + 1, rest);
}

/// Returns log |Gamma(x)|. Calls the variant of lgamma that does not write the sign to a global variable, if
/// there is one.
template <class T>
EBB_HD T log_gamma(T x) {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
  return std::lgamma(x);
#else
  int sign;
  return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
#endif
}

/// Returns log |Gamma(x)| for vectors of doubles. Between 1 and 5 it is a quotient of polynomials times the
/// factors of its zeros 1 and 2. Larger x use Stirling's series, smaller x the argument x + 1, and negative x
/// the reflection Gamma(x) Gamma(1 - x) = pi / sin(pi x). If kExact and the terms of the reflection cancel,
/// the scalar function computes the element; a result that is rounded to float is exact enough without it.
template <bool kExact, class X>
X log_gamma_lanes(const X& x) {
  constexpr double p[] = {4.3972272637864626e-10, 7.336869717857704e-07, 7.39579857344747e-05,
                          0.002346131329099374,   0.03295293066719249,   0.23873772277482982,
                          0.9638860519156621,     2.2375941218600373,    2.9512838617457358,
                          2.0462794182319275,     0.5772156649015329};
  constexpr double q[] = {1.4913560696009588e-07,
                          2.214590062921633e-05,
                          0.0009555511239821721,
                          0.01785845115756685,
                          0.1718942159790595,
                          0.9336687448917702,
                          3.000061094062028,
                          5.781683137828269,
                          6.530472427610364,
                          3.969973315165345,
                          1};
  constexpr double stirling[] = {0.0036903634280840815,  -0.001788521804257058, 0.0008384708154491549,
                                 -0.0005951938894220408, 0.0007936505051684339, -0.002777777777064221,
                                 0.08333333333333304};
  constexpr double sine[] = {-6.7270425170826265e-06, 0.00014832827396380304, -0.002346059829910968,
                             0.026147845336487233,    -0.19075182396433998,   0.8117424252784269,
                             -1.6449340668481678,     0.9999999999999999};  // sin(pi t) / (pi t)
  const auto below = x < constant<X>(1), negative = x < constant<X>(0);
  const X size = abs(x), from_one = where(below, size, x - 1);
  X out = fma(from_one, from_one, -from_one) * polynomial(from_one, p) / polynomial(from_one, q);
  const auto large = from_one > constant<X>(4);
  if (any<X>(large)) {
    const X at = where(large, where(negative, size + 1, x), constant<X>(5));
    const X tail = polynomial(1 / (at * at), stirling) / at;
    // The constant is (log(2 pi) - 1) / 2.
    const X sum = (at - constant<X>(0.5)) * (log(at) - 1) + (tail + constant<X>(0.41893853320467274178));
    out = where(large, sum, out);
  }
  if (!any<X>(below)) return out;
  X factor = where(below, size, constant<X>(1));
  if (any<X>(negative)) {
    const X t = from_integer(where(negative, x, constant<X>(-0.5)));
    factor = where(negative, abs(t * polynomial(t * t, sine)), factor);
  }
  X sum = where(negative, -out, out) - log(factor);
  if constexpr (kExact) {
    const auto cancels = negative & (abs(sum) < out * constant<X>(0.75));
    if (any<X>(cancels))
      sum = one_by_one(x, where(cancels, constant<X>(kInfinity), sum),
                       [](auto at, auto other) { return other == kInfinity ? log_gamma(at) : other; });
  }
  out = where(below, sum, out);
  return where((factor == constant<X>(0)) | (size == constant<X>(kInfinity)), constant<X>(kInfinity), out);
}

/// Returns psi(x), for a double or a vector of doubles. Up to 6 it is a quotient of polynomials times the
/// factors of its zero and its pole. Larger x use the asymptotic series, and negative x the reflection
/// psi(x) = psi(1 - x) - pi cot(pi x).
template <class X>
EBB_HD X digamma_of(const X& x) {
  constexpr double p[] = {6.034980291731908e-10, 2.2071753786313398e-07, 1.968640550919938e-05,
                          0.0007046270762885858, 0.012385623179401995,   0.1180190099798762,
                          0.6369260483061018,    1.9504531039779371,     3.238395270168535,
                          2.5684143205799415,    0.6841666717870696};
  constexpr double q[] = {8.099472391286858e-11,
                          4.129178765920016e-08,
                          4.624227812262191e-06,
                          0.00020052853644237693,
                          0.004207381171228002,
                          0.04766912137693573,
                          0.3074218870066785,
                          1.1421096080191482,
                          2.371040002709643,
                          2.4926945958681164,
                          1};
  constexpr double asymptotic[] = {-0.2297854245497472,   0.0751835876696361,    -0.020916085217393375,
                                   0.0075735577568517305, -0.004166651522951171, 0.003968253916496818,
                                   -0.008333333333265424, 0.08333333333333331};
  constexpr double cotangent_p[] = {3.699615619207746e-05, -0.005448833773817454, 0.11503503652484373,
                                    -0.6761096738563748, 1};
  constexpr double cotangent_q[] = {0.0008149644281946897, -0.03814175488262544, 0.4235683307942,
                                    -1.386241540159922, 1};
  using std::fma;
  constexpr double zero = 1.4616321449683622, zero_rest = 9.549995429965697e-17;
  const auto negative = x < constant<X>(0);
  const X at = where(negative, 1 - x, x);
  X out = ((at - constant<X>(zero)) - constant<X>(zero_rest)) * polynomial(at, p) / (polynomial(at, q) * at);
  const auto large = at > constant<X>(6);
  if (any<X>(large)) {
    const X inverse = 1 / at, square = inverse * inverse;
    const X tail = fma(polynomial(square, asymptotic), square, inverse * constant<X>(0.5));
    out = where(large, log(where(large, at, constant<X>(6))) - tail, out);
  }
  if (!any<X>(negative)) return out;
  // pi cot(pi t) = (1 - 4 t^2) / t times a function of t^2, which is 1 at 0.
  const X t = from_integer(x), square = t * t, even = (1 - (t + t)) * (1 + (t + t));
  const X cotangent = even * polynomial(square, cotangent_p) / (polynomial(square, cotangent_q) * t);
  const X reflected = where(t == constant<X>(0), constant<X>(quiet_nan<double>()), out - cotangent);
  return where(negative, reflected, out);
}
EBB_HD inline double digamma(double x) { return digamma_of(x); }

}  // namespace ebb::ops
