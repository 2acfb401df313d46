// Forward-mode differentiation over balls: each function computes value, first and second derivative at a
// ball.
#include "accuracy/jet.h"

#include <arb_hypgeom.h>

namespace accuracy {

Jet compose(const Jet& u, const Ball& g, const Ball& slope, const Ball& curvature) {
  const auto& p = u.part;
  Jet out(g);
  out.part[kByA] = slope * p[kByA];
  out.part[kByB] = slope * p[kByB];
  out.part[kByAA] = curvature * p[kByA] * p[kByA] + slope * p[kByAA];
  out.part[kByAB] = curvature * p[kByA] * p[kByB] + slope * p[kByAB];
  out.part[kByBB] = curvature * p[kByB] * p[kByB] + slope * p[kByBB];
  return out;
}

Jet operator+(const Jet& a, const Jet& b) {
  Jet out(0.0);
  for (int i = 0; i < kParts; ++i) out.part[i] = a.part[i] + b.part[i];
  return out;
}
Jet operator-(const Jet& a) {
  Jet out(0.0);
  for (int i = 0; i < kParts; ++i) out.part[i] = -a.part[i];
  return out;
}
Jet operator-(const Jet& a, const Jet& b) { return a + (-b); }
Jet operator*(const Jet& a, const Jet& b) {
  const auto &p = a.part, &q = b.part;
  Jet out(p[kValue] * q[kValue]);
  for (const Part by : {kByA, kByB}) out.part[by] = p[by] * q[kValue] + p[kValue] * q[by];
  const auto second = [&](Part both, Part i, Part j) {
    out.part[both] = p[both] * q[kValue] + p[i] * q[j] + p[j] * q[i] + p[kValue] * q[both];
  };
  second(kByAA, kByA, kByA);
  second(kByAB, kByA, kByB);
  second(kByBB, kByB, kByB);
  return out;
}
Jet operator/(const Jet& a, const Jet& b) { return a * reciprocal(b); }

Jet abs(const Jet& u) { return u.value().negative() ? -u : u; }

Jet reciprocal(const Jet& u) {
  const Ball r = Ball(1.0) / u.value();
  return compose(u, r, -r * r, Ball(2.0) * r * r * r);
}
Jet sqrt(const Jet& u) {
  const Ball root = sqrt(u.value()), slope = Ball(0.5) / root;
  return compose(u, root, slope, Ball(-0.5) * slope / u.value());
}
Jet exp(const Jet& u) {
  const Ball e = exp(u.value());
  return compose(u, e, e, e);
}
Jet expm1(const Jet& u) {
  const Ball e = exp(u.value());
  return compose(u, expm1(u.value()), e, e);
}
Jet log(const Jet& u) {
  const Ball r = Ball(1.0) / u.value();
  return compose(u, log(u.value()), r, -r * r);
}
Jet log1p(const Jet& u) {
  const Ball r = Ball(1.0) / (Ball(1.0) + u.value());
  return compose(u, log1p(u.value()), r, -r * r);
}
Jet sin(const Jet& u) {
  const Ball s = sin(u.value());
  return compose(u, s, cos(u.value()), -s);
}
Jet cos(const Jet& u) {
  const Ball c = cos(u.value());
  return compose(u, c, -sin(u.value()), -c);
}
Jet tan(const Jet& u) { return sin(u) / cos(u); }

Jet asin(const Jet& u) {
  const Ball &x = u.value(), inside = (Ball(1.0) - x) * (Ball(1.0) + x), slope = Ball(1.0) / sqrt(inside);
  return compose(u, call<arb_asin>(x), slope, x * slope / inside);
}
Jet acos(const Jet& u) {
  const Ball &x = u.value(), inside = (Ball(1.0) - x) * (Ball(1.0) + x), slope = Ball(-1.0) / sqrt(inside);
  return compose(u, call<arb_acos>(x), slope, x * slope / inside);
}
Jet atan(const Jet& u) {
  const Ball &x = u.value(), slope = Ball(1.0) / (Ball(1.0) + x * x);
  return compose(u, call<arb_atan>(x), slope, Ball(-2.0) * x * slope * slope);
}
Jet sinh(const Jet& u) {
  const Ball plus = exp(u.value()), minus = exp(-u.value());
  const Ball s =
      u.value().finite() && u.value().exponent() < 5 ? call<arb_sinh>(u.value()) : (plus - minus) / Ball(2.0);
  return compose(u, s, (plus + minus) / Ball(2.0), s);
}
Jet cosh(const Jet& u) {
  const Jet s = sinh(u);
  const Ball c = (exp(u.value()) + exp(-u.value())) / Ball(2.0);
  const Ball slope =
      u.value().exponent() < 5 ? call<arb_sinh>(u.value()) : (exp(u.value()) - exp(-u.value())) / Ball(2.0);
  return compose(u, c, slope, c);
}
Jet tanh(const Jet& u) {
  // sech^2 from e^(-2|x|), which preserves the digits of small values.
  const Ball e = exp(Ball(-2.0) * abs(u.value())), one(1.0),
             size = -expm1(Ball(-2.0) * abs(u.value())) / (one + e), t = u.value().negative() ? -size : size,
             slope = Ball(4.0) * e / ((one + e) * (one + e));
  return compose(u, t, slope, Ball(-2.0) * t * slope);
}
Jet asinh(const Jet& u) {
  const Ball &x = u.value(), inside = Ball(1.0) + x * x, slope = Ball(1.0) / sqrt(inside);
  return compose(u, call<arb_asinh>(x), slope, -x * slope / inside);
}
Jet acosh(const Jet& u) {
  const Ball &x = u.value(), inside = (x - Ball(1.0)) * (x + Ball(1.0)), slope = Ball(1.0) / sqrt(inside);
  return compose(u, call<arb_acosh>(x), slope, -x * slope / inside);
}
Jet atanh(const Jet& u) {
  const Ball &x = u.value(), slope = Ball(1.0) / ((Ball(1.0) - x) * (Ball(1.0) + x));
  return compose(u, call<arb_atanh>(x), slope, Ball(2.0) * x * slope * slope);
}

Jet sigmoid(const Jet& u) {
  const Ball one(1.0), e = exp(-abs(u.value())), small = e / (one + e), large = one / (one + e);
  const bool negative = u.value().negative();
  return compose(u, negative ? small : large, small * large,
                 small * large * (negative ? large - small : small - large));
}
Jet softplus(const Jet& u) {
  const Jet s = sigmoid(Jet::argument(0, kByA) + Jet(u.value()));
  const Ball above = u.value().negative() ? Ball(0.0) : u.value();
  return compose(u, above + log1p(exp(-abs(u.value()))), s.part[kValue], s.part[kByA]);
}

Jet erf(const Jet& u) {
  const Ball &x = u.value(), slope = Ball(2.0) / sqrt(Ball::pi()) * exp(-x * x);
  return compose(u, call<arb_hypgeom_erf>(x), slope, Ball(-2.0) * x * slope);
}
Jet erfc(const Jet& u) {
  const Ball &x = u.value(), slope = Ball(-2.0) / sqrt(Ball::pi()) * exp(-x * x);
  return compose(u, call<arb_hypgeom_erfc>(x), slope, Ball(-2.0) * x * slope);
}
Jet erfinv(const Jet& u) {
  const Ball y = call<arb_hypgeom_erfinv>(u.value()), slope = sqrt(Ball::pi()) / Ball(2.0) * exp(y * y);
  return compose(u, y, slope, Ball(2.0) * y * slope * slope);
}
Jet erfcx(const Jet& u) {
  const Ball& x = u.value();
  const Ball two_over_root = Ball(2.0) / sqrt(Ball::pi());
  // For large x, erfc underflows even here, and the asymptotic series is exact.
  if (x.above(1e3)) {
    const Ball r = Ball(1.0) / (Ball(2.0) * x * x), first = two_over_root / (Ball(2.0) * x);
    Ball sum(1.0), slope(1.0), curvature(2.0), term(1.0);
    for (long k = 1; k < 24; ++k) {
      term = -term * r * Ball(2.0 * k - 1);
      sum = sum + term;
      slope = slope + term * Ball(2.0 * k + 1);
      curvature = curvature + term * Ball((2.0 * k + 1) * (2 * k + 2));
    }
    return compose(u, first * sum, -first / x * slope, first / x / x * curvature);
  }
  const Ball f = exp(x * x) * call<arb_hypgeom_erfc>(x), slope = Ball(2.0) * x * f - two_over_root;
  return compose(u, f, slope, Ball(2.0) * (f + x * slope));
}
Jet log_ndtr(const Jet& u) {
  const Ball &x = u.value(), root_two = sqrt(Ball(2.0));
  const Ball density = exp(-x * x / Ball(2.0)) / sqrt(Ball(2.0) * Ball::pi());
  if (!x.negative()) {
    const Ball below = call<arb_hypgeom_erfc>(x / root_two) / Ball(2.0);
    const Ball slope = density / (Ball(1.0) - below);
    return compose(u, log1p(-below), slope, -slope * (x + slope));
  }
  const Jet scaled = erfcx(Jet(-x / root_two));
  const Ball slope = sqrt(Ball(2.0) / Ball::pi()) / scaled.value();
  return compose(u, log(scaled.value() / Ball(2.0)) - x * x / Ball(2.0), slope, -slope * (x + slope));
}

Jet lgamma(const Jet& u) {
  return compose(u, lgamma(u.value()), polygamma(0, u.value()), polygamma(1, u.value()));
}
Jet polygamma(long n, const Jet& u) {
  return compose(u, polygamma(n, u.value()), polygamma(n + 1, u.value()), polygamma(n + 2, u.value()));
}
Jet zeta(const Ball& s, const Jet& q) {
  const Ball one(1.0);
  return compose(q, zeta(s, q.value()), -s * zeta(s + one, q.value()),
                 s * (s + one) * zeta(s + one + one, q.value()));
}

// f_n' = (f_(n-1) -+ f_(n+1)) / 2 up to signs, and the same again for the second derivative.
Jet bessel_j(long n, const Jet& u) {
  const Ball &x = u.value(), two(2.0);
  const Ball f = bessel_j(n, x), below = bessel_j(n - 1, x), above = bessel_j(n + 1, x);
  const Ball curvature = (bessel_j(n - 2, x) - two * f + bessel_j(n + 2, x)) / Ball(4.0);
  return compose(u, f, (below - above) / two, curvature);
}
Jet bessel_y(long n, const Jet& u) {
  const Ball &x = u.value(), two(2.0);
  const Ball f = bessel_y(n, x), below = bessel_y(n - 1, x), above = bessel_y(n + 1, x);
  const Ball curvature = (bessel_y(n - 2, x) - two * f + bessel_y(n + 2, x)) / Ball(4.0);
  return compose(u, f, (below - above) / two, curvature);
}
Jet bessel_i(long n, const Jet& u) {
  const Ball &x = u.value(), two(2.0);
  const Ball f = bessel_i(n, x), below = bessel_i(n - 1, x), above = bessel_i(n + 1, x);
  const Ball curvature = (bessel_i(n - 2, x) + two * f + bessel_i(n + 2, x)) / Ball(4.0);
  return compose(u, f, (below + above) / two, curvature);
}
Jet bessel_k(long n, const Jet& u) {
  const Ball &x = u.value(), two(2.0);
  const Ball f = bessel_k(n, x), below = bessel_k(n - 1, x), above = bessel_k(n + 1, x);
  const Ball curvature = (bessel_k(n - 2, x) + two * f + bessel_k(n + 2, x)) / Ball(4.0);
  return compose(u, f, -(below + above) / two, curvature);
}
Jet bessel_ie(long n, const Jet& u) {
  const Ball &x = u.value(), two(2.0), sign = x.negative() ? -1.0 : 1.0;
  const auto scaled = [&](long order) { return bessel_i(order < 0 ? -order : order, x, true); };
  const Ball f = scaled(n), slope = (scaled(n - 1) + scaled(n + 1)) / two;
  const Ball curvature = (scaled(n - 2) + two * f + scaled(n + 2)) / Ball(4.0);
  return compose(u, f, slope - sign * f, curvature - two * sign * slope + f);
}

Jet airy_ai(const Jet& u) {
  Ball f, slope;
  arb_hypgeom_airy(f.raw(), slope.raw(), nullptr, nullptr, u.value().raw(), Ball::precision);
  return compose(u, f, slope, u.value() * f);
}

Jet gamma_p(const Ball& a, const Jet& u) {
  const Ball p = gamma_p(a, u.value());
  if (!p.finite()) return compose(u, p, p, p);
  const Ball &x = u.value(), one(1.0), density = exp((a - one) * log(x) - x - lgamma(a));
  return compose(u, p, density, density * ((a - one) / x - one));
}
Jet gamma_q(const Ball& a, const Jet& u) {
  const Jet p = gamma_p(a, u);
  Jet out = -p;
  out.part[kValue] = gamma_q(a, u.value());
  return out;
}

}  // namespace accuracy
