// Numerics of the special functions of this folder. Chebyshev series approximate a function if no other
// series is short. Twofold is a number of about 106 bits, the sum of two doubles. The coefficients of the
// series were computed from values of the functions with 45 digits.
#pragma once

#include "ops/elementwise/formulas/rare.h"

#include <cmath>

namespace ebb::ops {

constexpr double kInfinity = __builtin_inf();

/// Returns the sum of c[k] T_k(t) for t in [-1, 1], by Clenshaw's recurrence (1955).
template <int N>
EBB_HD inline double chebyshev_sum(double t, const double (&c)[N]) {
  double b = 0, next = 0;
  for (int k = N - 1; k > 0; --k) {
    const double sum = 2 * t * b - next + c[k];
    next = b;
    b = sum;
  }
  return std::fma(t, b, c[0] - next);
}

/// Returns a polynomial, by Horner's rule. The coefficients begin with that of the highest power.
template <class X, int N>
EBB_HD X polynomial(const X& x, const double (&c)[N]) {
  using std::fma;
  X sum = constant<X>(c[0]);
  for (int k = 1; k < N; ++k) sum = fma(sum, x, constant<X>(c[k]));
  return sum;
}

/// The sum high + low; `high` is the rounded value. Twofold is for differences in which doubles lose digits,
/// and for products with small or large exponentials.
struct Twofold {
  double high = 0, low = 0;
  Twofold() = default;
  EBB_HD Twofold(double number, double rest = 0) : high(number), low(rest) {}
};

/// Returns a + b without a rounding error (Knuth).
EBB_HD inline Twofold exact_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
EBB_HD inline Twofold exact_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

EBB_HD inline Twofold operator+(const Twofold& a, const Twofold& b) {
  const Twofold sum = exact_sum(a.high, b.high);
  return exact_sum(sum.high, sum.low + (a.low + b.low));
}
EBB_HD inline Twofold operator-(const Twofold& a, const Twofold& b) { return a + Twofold(-b.high, -b.low); }
EBB_HD inline Twofold operator*(const Twofold& a, const Twofold& b) {
  const Twofold product = exact_product(a.high, b.high);
  return exact_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
EBB_HD inline Twofold operator/(const Twofold& a, double b) {
  const double quotient = a.high / b;
  return exact_sum(quotient, (std::fma(-quotient, b, a.high) + a.low) / b);
}

EBB_HD inline Twofold operator/(const Twofold& a, const Twofold& b) {
  const double quotient = a.high / b.high;
  const Twofold rest = a - b * quotient;
  return exact_sum(quotient, rest.high / b.high);
}

/// Returns log(x) for x > 0, where x = m 2^exponent. It uses the series of artanh((m - 1) / (m + 1)).
EBB_HD inline Twofold exact_log(double x) {
  int exponent;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) m *= 2, --exponent;
  const Twofold ratio = Twofold(m - 1) / exact_sum(m, 1), square = ratio * ratio;
  double tail = 0;
  for (int k = 20; k > 9; --k) tail = tail * square.high + 1.0 / (2 * k + 1);
  Twofold sum = tail;
  for (int k = 9; k >= 0; --k) sum = sum * square + Twofold(1) / (2.0 * k + 1);
  return sum * ratio * 2 + Twofold(0.6931471805599453, 2.3190468138462996e-17) * exponent;
}

/// Returns factor * e^(high + low), where `low` is tiny. If e^high could overflow or underflow before the
/// result does, `factor` is multiplied by e^(high / 2) twice.
EBB_HD inline double times_exp(double factor, double high, double low = 0) {
  const bool wide = std::fabs(high) > 700;
  const double root = std::exp(wide ? high / 2 : high), power = std::fma(root, low, root);
  return wide ? factor * power * root : factor * power;
}

/// Returns factor * e^-(x^2 / divisor), with divisor 1 or 2, without the rounding error of the square.
EBB_HD inline double times_bell(double factor, double x, double divisor) {
  if (std::fabs(x) > 40) return 0 * factor;
  const Twofold square = exact_product(x, x);
  return times_exp(factor, -square.high / divisor, -square.low / divisor);
}

}  // namespace ebb::ops
