// Ball arithmetic with Arb: a real number as a midpoint and a radius that encloses the exact value.
#pragma once

#include <arb.h>

#include <utility>

namespace accuracy {

/// A real number that is within a radius of a midpoint. Every operation rounds to Ball::precision bits and
/// adds the rounding error to the radius.
class Ball {
 public:
  /// The precision in bits of all midpoints that are computed from now on.
  static inline long precision = 128;

  Ball() { arb_init(x_); }
  Ball(double x) : Ball() { arb_set_d(x_, x); }
  Ball(const Ball& other) : Ball() { arb_set(x_, other.x_); }
  Ball(Ball&& other) noexcept : Ball() { arb_swap(x_, other.x_); }
  Ball& operator=(Ball other) noexcept { return arb_swap(x_, other.x_), *this; }
  ~Ball() { arb_clear(x_); }

  static Ball pi() {
    Ball out;
    arb_const_pi(out.x_, precision);
    return out;
  }
  /// Returns the exact quotient of two integers, which a double might not represent.
  static Ball ratio(long a, long b) {
    Ball out;
    arb_set_si(out.x_, a);
    arb_div_si(out.x_, out.x_, b, precision);
    return out;
  }

  arb_ptr raw() { return x_; }
  arb_srcptr raw() const { return x_; }

  bool finite() const { return arb_is_finite(x_); }
  bool positive() const { return arb_is_positive(x_); }
  bool negative() const { return arb_is_negative(x_); }
  bool zero() const { return arb_is_zero(x_); }
  /// Returns the midpoint, rounded.
  double middle() const { return arf_get_d(arb_midref(x_), ARF_RND_NEAR); }
  /// Returns whether the radius is so small that it cannot change the rounding to double.
  bool decided() const;
  /// Returns |this - x| in units of 2^exponent.
  double distance(double x, long exponent) const;
  /// Returns the exponent e of the midpoint: 2^(e-1) <= |midpoint| < 2^e; very negative for 0.
  long exponent() const;
  /// Returns whether the midpoint is greater than x.
  bool above(double x) const;

 private:
  arb_t x_;
};

/// Calls f(x) or f(a, b) of Arb as a function of balls.
template <void (*F)(arb_ptr, arb_srcptr, long)>
Ball call(const Ball& x) {
  Ball out;
  F(out.raw(), x.raw(), Ball::precision);
  return out;
}
template <void (*F)(arb_ptr, arb_srcptr, arb_srcptr, long)>
Ball call(const Ball& a, const Ball& b) {
  Ball out;
  F(out.raw(), a.raw(), b.raw(), Ball::precision);
  return out;
}

inline Ball operator+(const Ball& a, const Ball& b) { return call<arb_add>(a, b); }
inline Ball operator-(const Ball& a, const Ball& b) { return call<arb_sub>(a, b); }
inline Ball operator*(const Ball& a, const Ball& b) { return call<arb_mul>(a, b); }
inline Ball operator/(const Ball& a, const Ball& b) { return call<arb_div>(a, b); }
inline Ball operator-(const Ball& x) {
  Ball out;
  arb_neg(out.raw(), x.raw());
  return out;
}
inline Ball abs(const Ball& x) {
  Ball out;
  arb_abs(out.raw(), x.raw());
  return out;
}
inline Ball sqrt(const Ball& x) { return call<arb_sqrt>(x); }
inline Ball log(const Ball& x) { return call<arb_log>(x); }
inline Ball log1p(const Ball& x) { return call<arb_log1p>(x); }
inline Ball sin(const Ball& x) { return call<arb_sin>(x); }
inline Ball cos(const Ball& x) { return call<arb_cos>(x); }

/// Returns e^x. Beyond 2^21 in magnitude, it returns that of 2^21, because no dtype can distinguish them.
Ball exp(const Ball& x);
/// Returns e^x - 1 with the same limit.
Ball expm1(const Ball& x);
/// Returns log |gamma(x)|, and the n-th derivative of the digamma function.
Ball lgamma(const Ball& x);
Ball polygamma(long n, const Ball& x);
/// Returns the sum of (q + k)^-s over k >= 0, continued to negative q.
Ball zeta(const Ball& s, const Ball& q);
/// Bessel functions of integer order; I and K are multiplied by e^-|x| and e^x if scaled.
Ball bessel_j(long order, const Ball& x);
Ball bessel_y(long order, const Ball& x);
Ball bessel_i(long order, const Ball& x, bool scaled = false);
Ball bessel_k(long order, const Ball& x, bool scaled = false);
/// Regularized incomplete gamma functions: P(a, x), and Q(a, x) = 1 - P(a, x).
Ball gamma_p(const Ball& a, const Ball& x);
Ball gamma_q(const Ball& a, const Ball& x);

}  // namespace accuracy
