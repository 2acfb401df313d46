// The regularised incomplete gamma functions.
#pragma once

#include "ops/elementwise/formulas/special/numerics.h"

namespace ebb::ops {

/// Returns m - log(1 + m) for |m| <= 0.3, with the series of artanh(m / (2 + m)).
EBB_HD inline double minus_log1p(double m) {
  const double r = m / (2 + m), square = r * r;
  double sum = 0;
  for (int k = 11; k >= 0; --k) sum = sum * square + 1.0 / (2 * k + 3);
  return r * (m - 2 * square * sum);
}

/// Returns log Gamma(1 + a) for 0 <= a <= 1.3, accurate near 0 (DLMF 5.7.3).
EBB_HD inline double lgamma_of_1_plus(double a) {
  constexpr double c[] = {0.3224670334241132,     -0.0673523010531981,     0.020580808427784546,
                          -0.007385551028673986,  0.0028905103307415234,   -0.001192753911703261,
                          0.0005096695247430425,  -0.00022315475845357939, 9.945751278180853e-05,
                          -4.492623673813314e-05, 2.050721277567069e-05,   -9.439488275268397e-06,
                          4.374866789907488e-06,  -2.039215753801366e-06,  9.55141213040742e-07,
                          -4.492469198764566e-07, 2.1207184805554665e-07,  -1.0043224823968099e-07,
                          4.7698101693639804e-08, -2.2711094608943164e-08, 1.0838659214896955e-08,
                          -5.183475041970047e-09, 2.4836745438024785e-09,  -1.1921401405860912e-09,
                          5.731367241678862e-10,  -2.7595228851242334e-10, 1.330476437424449e-10,
                          -6.4229645638381e-11};  // (-1)^k (zeta(k) - 1) / k
  if (a > 0.5) return std::log(std::tgamma(1 + a));
  double sum = 0;
  for (int k = 27; k >= 0; --k) sum = sum * a + c[k];
  return a * (0.42278433509846713939 + a * sum) - std::log1p(a);
}

/// Returns x^a e^-x / Gamma(a + 1).
EBB_HD inline double gamma_term(double a, double x) {
  if (a <= 100 && x < 1400) {
    const double root = std::exp(-x / 2);  // as two factors, so that neither overflows
    // For a >= 1, Gamma(a + 1) is computed as Gamma(a) a, because the rounding of a + 1 would lose digits.
    return std::pow(x, a) * root / (a < 1 ? std::tgamma(a + 1) : std::tgamma(a) * a) * root;
  }
  // For a > 100, Gamma(a + 1) is computed by Stirling's series. For smaller a and large x the logarithms are
  // added, because x^a could overflow.
  const double m = (x - a) / a, r = 1 / (a * a);
  const double stirling = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / a;
  if (a <= 100) return std::exp(a * std::log(x) - x - std::log(std::tgamma(a + 1)));
  const double exponent = std::fabs(m) <= 0.3 ? minus_log1p(m) : m - std::log1p(m);
  return std::exp(-a * exponent - stirling) * 0.39894228040143267794 / std::sqrt(a);
}

/// Returns P(a, x) by its power series (DLMF 8.11.4), for x up to about a.
EBB_HD inline double gamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (double k = a + 1; term > 1e-17 * sum; k += 1) sum += term *= x / k;
  return gamma_term(a, x) * sum;
}

/// Returns Q(a, x) by its continued fraction (DLMF 8.9.2) with Lentz's method, for x > a and x > 1.
EBB_HD inline double gamma_fraction(double a, double x) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, product = d;
  for (int k = 1; k < 100000; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    const double factor = c * d;
    product *= factor;
    if (std::fabs(factor - 1) < 1e-16) break;
  }
  return gamma_term(a, x) * a * product;
}

/// Returns Q(a, x) for small a and x (DLMF 8.7.1), where 1 - P would cancel.
EBB_HD inline double gamma_complement(double a, double x) {
  double term = 1, sum = 0;
  for (int k = 1; std::fabs(term) > 1e-18; ++k) {
    term *= -x / k;
    sum += term / (a + k);
  }
  const double exponent = a * std::log(x) - lgamma_of_1_plus(a);
  return -std::expm1(exponent) - a * std::exp(exponent) * sum;
}

/// Returns P(a, x) or Q(a, x) by Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979; DLMF 8.12), for a
/// >= 200 and |x - a| <= 0.3 a.
EBB_HD inline double gamma_uniform(double a, double x, bool upper) {
  constexpr double c[] = {
      -0.3333333333333333,    0.08333333333333333,     -0.014814814814814815,   0.0011574074074074073,
      0.0003527336860670194,  -0.0001787551440329218,  3.919263178522438e-05,   -2.185448510679992e-06,
      -1.85406221071516e-06,  8.296711340953087e-07,   -1.7665952736826078e-07, 6.707853543401498e-09,
      1.0261809784240309e-08, -4.382036018453353e-09,  9.14769958223679e-10,    -2.5514193994946248e-11,
      -5.830772132550426e-11, -0.001851851851851852,   -0.003472222222222222,   0.0026455026455026454,
      -0.0009902263374485596, 0.00020576131687242798,  -4.018775720164609e-07,  -1.8098550334489977e-05,
      7.64916091608111e-06,   -1.6120900894563446e-06, 4.647127802807434e-09,   1.378633446915721e-07,
      -5.752545603517705e-08, 1.1951628599778148e-08,  -1.7543241719747647e-11, -1.0091543710600413e-09,
      0.004133597883597883,   -0.0026813271604938273,  0.0007716049382716049,   2.0093878600823047e-06,
      -0.0001073665322636516, 5.2923448829120125e-05,  -1.2760635188618728e-05, 3.423578734096138e-08,
      1.3721957309062934e-06, -6.298992138380055e-07,  1.4280614206064242e-07,  0.0006494341563786008,
      0.00022947209362139917, -0.0004691894943952557,  0.00026772063206283885,  -7.561801671883977e-05,
      -2.396505113867297e-07, 1.1082654115347302e-05,  -5.6749528269915965e-06, 1.4230900732435883e-06,
      -0.0008618882909167117, 0.0007840392217200666,   -0.0002990724803031902,  -1.4638452578843418e-06,
      6.641498215465122e-05,  -3.968365047179435e-05,  1.1375726970678419e-05,  -0.00033679855336635813,
      -6.972813758365857e-05, 0.0002772753244959392,   -0.00019932570516188847, 6.797780477937208e-05,
      0.0005313079364639922,  -0.0005921664373536939};
  constexpr int starts[] = {0, 17, 32, 43, 52, 59, 64, 66};
  const double m = (x - a) / a, half = minus_log1p(m), size = std::sqrt(2 * half), eta = m < 0 ? -size : size;
  double sum = 0;
  for (int k = 6; k >= 0; --k) {
    double inner = 0;
    for (int n = starts[k + 1] - 1; n >= starts[k]; --n) inner = inner * eta + c[n];
    sum = sum / a + inner;
  }
  const double rest = std::exp(-a * half) * 0.39894228040143267794 / std::sqrt(a) * sum;
  const double main = std::erfc((upper ? eta : -eta) * std::sqrt(a / 2)) / 2;
  return upper ? main + rest : main - rest;
}

/// Returns P(a, x) = gamma(a, x) / Gamma(a) or, if `upper`, Q(a, x) = 1 - P(a, x). It chooses the method that
/// keeps most digits. The result is NaN for negative arguments and for (0, 0).
EBB_HD [[gnu::noinline]] inline double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == kInfinity && x == kInfinity))
    return quiet_nan<double>();
  if (a == 0 || x == kInfinity) return upper ? 0 : 1;
  if (x == 0 || a == kInfinity) return upper ? 1 : 0;
  if (a >= 200 && std::fabs(x - a) <= 0.3 * a) return gamma_uniform(a, x, upper);
  if (x > 1.1 && x > a) {
    const double q = gamma_fraction(a, x);
    return upper ? q : 1 - q;
  }
  if (upper && x <= 1.1 && (x <= 0.5 ? a <= -0.4 / std::log(x) : a <= 1.1 * x)) return gamma_complement(a, x);
  const double p = gamma_series(a, x);
  return upper ? 1 - p : p;
}

/// Returns the n-th derivative of P(a, x) with respect to x. For n = 1 it is x^(a - 1) e^-x / Gamma(a); for n
/// = 2 it is this times (a - 1) / x - 1. The logarithm of the first derivative is a sum of large terms, so it
/// is computed with Twofold numbers. Gamma is computed with Stirling's series at a + k.
EBB_HD [[gnu::noinline]] inline double gamma_density(int n, double a, double x) {
  if (!(a >= 0 && x >= 0)) return quiet_nan<double>();
  if (a == 0 || a == kInfinity || x == kInfinity) return 0;
  if (x == 0) {
    if (n == 1) return a < 1 ? kInfinity : a == 1 ? 1 : 0;
    return a < 1 ? -kInfinity : a == 1 ? -1 : a < 2 ? kInfinity : a == 2 ? 1 : 0;
  }
  Twofold from = a, rising = 1;
  for (double k = 1; from.high < 20; k += 1) {
    rising = rising * from;
    from = exact_sum(a, k);
  }
  const double r = 1 / (from.high * from.high);
  const double tail =
      (1.0 / 12 -
       r * (1.0 / 360 -
            r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188 - r * (691.0 / 360360 - r / 156)))))) /
      from.high;
  const Twofold log_from = exact_log(from.high) + from.low / from.high, less_1 = exact_sum(a, -1);
  double factor = 0.39894228040143267794 * rising.high;
  if (n == 2) factor *= (less_1 - x).high / x;
  if (a > 1e12) {  // the large terms are combined: x^a e^(a - x) / a^a
    const double m = (x - a) / a, size = std::fabs(m) <= 0.3 ? minus_log1p(m) : m - std::log1p(m);
    return times_exp(factor / x * std::sqrt(a), -a * size - tail);
  }
  // The logarithms of x^(a - 1) e^-x, and of Gamma(from) without sqrt(2 pi).
  const Twofold power = less_1 * exact_log(x) - x, gamma = (from - 0.5) * log_from - from + tail;
  const Twofold exponent = power - gamma;
  return times_exp(factor, exponent.high, exponent.low);
}

}  // namespace ebb::ops
