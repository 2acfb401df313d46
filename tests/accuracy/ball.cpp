// Ball arithmetic: real numbers with proven error bounds.
#include "accuracy/ball.h"

#include <acb.h>
#include <arb_hypgeom.h>

#include <algorithm>

namespace accuracy {
namespace {

constexpr double kFarthest = 0x1p21;  // largest exponent

Ball within_reach(const Ball& x) {
  if (arf_cmp_d(arb_midref(x.raw()), kFarthest) > 0) return kFarthest;
  if (arf_cmp_d(arb_midref(x.raw()), -kFarthest) < 0) return -kFarthest;
  return x;
}

Ball undefined() {
  Ball out;
  arb_indeterminate(out.raw());
  return out;
}

/// The real part of a complex function of a real number.
class Complex {
 public:
  Complex() { acb_init(z_); }
  explicit Complex(const Ball& x) : Complex() { acb_set_arb(z_, x.raw()); }
  Complex(const Complex&) = delete;
  Complex& operator=(const Complex&) = delete;
  ~Complex() { acb_clear(z_); }
  acb_ptr raw() { return z_; }
  Ball real() const {
    Ball out;
    arb_set(out.raw(), acb_realref(z_));
    return out;
  }

 private:
  acb_t z_;
};

}  // namespace

long Ball::exponent() const {
  constexpr long kMost = 1L << 60;
  if (arf_is_zero(arb_midref(x_))) return -kMost;
  fmpz_t e;
  fmpz_init(e);
  arf_abs_bound_lt_2exp_fmpz(e, arb_midref(x_));
  const long out = fmpz_fits_si(e) ? fmpz_get_si(e) : fmpz_sgn(e) * kMost;
  fmpz_clear(e);
  return std::clamp(out, -kMost, kMost);
}

bool Ball::decided() const {
  if (!finite()) return false;
  if (mag_is_zero(arb_radref(x_))) return true;
  const long from_middle = exponent() - 80, least = -1160;
  return mag_cmp_2exp_si(arb_radref(x_), from_middle > least ? from_middle : least) < 0;
}

double Ball::distance(double x, long exponent) const {
  const Ball gap = abs(*this - Ball(x));
  Ball scaled;
  arb_mul_2exp_si(scaled.raw(), gap.raw(), -exponent);
  return scaled.middle();
}

bool Ball::above(double x) const { return arf_cmp_d(arb_midref(x_), x) > 0; }

Ball exp(const Ball& x) { return call<arb_exp>(within_reach(x)); }
Ball expm1(const Ball& x) { return call<arb_expm1>(within_reach(x)); }

Ball lgamma(const Ball& x) {
  if (x.positive()) return call<arb_lgamma>(x);
  Complex out, z(x);
  acb_lgamma(out.raw(), z.raw(), Ball::precision);
  return out.real();
}

namespace {

/// Returns the n-th derivative of cot at the point where cot is c, n <= 4.
Ball derivative_of_cot(long n, const Ball& c) {
  const Ball square = c * c, slope = Ball(1.0) + square;
  switch (n) {
    case 0:
      return c;
    case 1:
      return -slope;
    case 2:
      return Ball(2.0) * c * slope;
    case 3:
      return -slope * (Ball(2.0) + Ball(6.0) * square);
    default:
      return c * slope * (Ball(16.0) + Ball(24.0) * square);
  }
}

}  // namespace

Ball polygamma(long n, const Ball& x) {
  const bool whole = x.finite() && arb_is_int(x.raw());
  if (whole && !x.positive()) return undefined();
  if (!x.above(-8)) {
    // By reflection, because Arb would shift to 0 in steps of 1.
    const Ball angle = Ball::pi() * x, cot = cos(angle) / sin(angle);
    Ball power = Ball::pi();
    for (long k = 0; k < n; ++k) power = power * Ball::pi();
    const Ball mirrored = polygamma(n, Ball(1.0) - x), sine = power * derivative_of_cot(n, cot);
    return n % 2 == 0 ? mirrored - sine : -mirrored - sine;
  }
  if (n == 0) return call<arb_digamma>(x);
  Complex out, order(Ball(static_cast<double>(n))), z(x);
  acb_polygamma(out.raw(), order.raw(), z.raw(), Ball::precision);
  return out.real();
}

Ball zeta(const Ball& s, const Ball& q) {
  // For negative q, integer exponents give real numbers; for very negative q, Arb would shift in steps of 1.
  if (!s.above(1) || !q.above(-40) || (!q.positive() && !arb_is_int(s.raw()))) return undefined();
  Complex out, a(s), b(q);
  acb_hurwitz_zeta(out.raw(), a.raw(), b.raw(), Ball::precision);
  return out.real();
}

Ball bessel_j(long order, const Ball& x) {
  return call<arb_hypgeom_bessel_j>(Ball(static_cast<double>(order)), x);
}
Ball bessel_y(long order, const Ball& x) {
  return call<arb_hypgeom_bessel_y>(Ball(static_cast<double>(order)), x);
}
Ball bessel_i(long order, const Ball& x, bool scaled) {
  const Ball nu(static_cast<double>(order));
  const Ball a = abs(x), size = scaled               ? call<arb_hypgeom_bessel_i_scaled>(nu, a)
                                : a.above(kFarthest) ? exp(a)
                                                     : call<arb_hypgeom_bessel_i>(nu, a);
  return order % 2 != 0 && x.negative() ? -size : size;
}
Ball bessel_k(long order, const Ball& x, bool scaled) {
  const Ball nu(static_cast<double>(order));
  if (scaled) return call<arb_hypgeom_bessel_k_scaled>(nu, x);
  return x.above(kFarthest) ? exp(-x) : call<arb_hypgeom_bessel_k>(nu, x);
}

namespace {

// Beyond these bounds, Arb would sum millions of terms.
constexpr double kFarGamma = 1e3, kNearGamma = 1e-30;

bool summable(const Ball& a, const Ball& x) {
  const auto within = [](const Ball& z) { return z.above(kNearGamma) && !z.above(kFarGamma); };
  return within(a) && within(x);
}

}  // namespace

Ball gamma_p(const Ball& a, const Ball& x) {
  if (!summable(a, x)) return undefined();
  Ball out;
  arb_hypgeom_gamma_lower(out.raw(), a.raw(), x.raw(), 1, Ball::precision);
  return out;
}
Ball gamma_q(const Ball& a, const Ball& x) {
  if (!summable(a, x)) return undefined();
  Ball out;
  arb_hypgeom_gamma_upper(out.raw(), a.raw(), x.raw(), 1, Ball::precision);
  return out;
}

}  // namespace accuracy
