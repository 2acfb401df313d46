// Numbers with first and second derivatives by two arguments: forward-mode differentiation over balls.
#pragma once

#include "accuracy/ball.h"

#include <array>

namespace accuracy {

/// The components of a jet: f, its derivatives by a and b, and its second derivatives.
enum Part { kValue, kByA, kByB, kByAA, kByAB, kByBB, kParts };

struct Jet {
  std::array<Ball, kParts> part;

  Jet(double constant) : Jet(Ball(constant)) {}
  Jet(const Ball& constant) { part[kValue] = constant; }
  /// Returns the first or the second argument as a jet.
  static Jet argument(double x, Part by) {
    Jet out(x);
    out.part[by] = Ball(1.0);
    return out;
  }
  const Ball& value() const { return part[kValue]; }
};

/// Returns g(u) for given g, g' and g'' at u.
Jet compose(const Jet& u, const Ball& g, const Ball& slope, const Ball& curvature);

Jet operator+(const Jet& a, const Jet& b);
Jet operator-(const Jet& a, const Jet& b);
Jet operator*(const Jet& a, const Jet& b);
Jet operator/(const Jet& a, const Jet& b);
Jet operator-(const Jet& a);

Jet abs(const Jet& u);
Jet reciprocal(const Jet& u);
Jet sqrt(const Jet& u);
Jet exp(const Jet& u);
Jet expm1(const Jet& u);
Jet log(const Jet& u);
Jet log1p(const Jet& u);
Jet sin(const Jet& u);
Jet cos(const Jet& u);
Jet tan(const Jet& u);
Jet asin(const Jet& u);
Jet acos(const Jet& u);
Jet atan(const Jet& u);
Jet sinh(const Jet& u);
Jet cosh(const Jet& u);
Jet tanh(const Jet& u);
Jet asinh(const Jet& u);
Jet acosh(const Jet& u);
Jet atanh(const Jet& u);
Jet sigmoid(const Jet& u);
Jet softplus(const Jet& u);
Jet erf(const Jet& u);
Jet erfc(const Jet& u);
Jet erfinv(const Jet& u);
/// e^(u^2) erfc(u), and log of the normal distribution function.
Jet erfcx(const Jet& u);
Jet log_ndtr(const Jet& u);
Jet lgamma(const Jet& u);
Jet polygamma(long n, const Jet& u);
/// zeta(s, q), differentiated by q.
Jet zeta(const Ball& s, const Jet& q);
Jet bessel_j(long order, const Jet& u);
Jet bessel_y(long order, const Jet& u);
Jet bessel_i(long order, const Jet& u);
Jet bessel_k(long order, const Jet& u);
/// e^-|u| times bessel_i.
Jet bessel_ie(long order, const Jet& u);
Jet airy_ai(const Jet& u);
/// P(a, u) and Q(a, u), differentiated by u.
Jet gamma_p(const Ball& a, const Jet& u);
Jet gamma_q(const Ball& a, const Jet& u);

}  // namespace accuracy
