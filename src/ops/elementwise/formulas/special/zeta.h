// The Hurwitz zeta function, and polygamma, which is computed from it.
#pragma once

#include "ops/elementwise/formulas/special/numerics.h"

namespace ebb::ops {

/// Returns factor * q^-s, accurate also if q^-s alone underflows.
EBB_HD inline double zeta_power(const Twofold& s, const Twofold& q, double factor) {
  double power = std::pow(q.high, -s.high);
  if (power < 1e-290) {
    const double root = std::pow(q.high, -s.high / 2);
    power = root == 0 ? std::copysign(0.0, factor) : root * factor * root;  // factor may be infinite
  } else {
    power *= factor;
  }
  if (q.low == 0 && s.low == 0) return power;
  const double rest = s.high * (q.low / q.high) + s.low * std::log(q.high);
  return power * (std::fabs(rest) < 1e-8 ? 1 - rest : std::exp(-rest));
}

/// Returns factor * ((q + gap)^-s - q^-s) for a small gap.
EBB_HD inline double zeta_step(const Twofold& s, const Twofold& q, double gap, double factor) {
  return zeta_power(s, q, factor) * std::expm1(-s.high * std::log1p(gap / q.high));
}

/// Returns factor * zeta(s, q) for s > 1 and q > 0, where zeta is the Hurwitz zeta function, the sum over k
/// of (q + k)^-s, and q is `from`. The function adds terms until q + k >= s + 10 or until they do not change
/// the sum. It then adds the Euler-Maclaurin remainder (DLMF 25.11.5), whose successive terms decrease by a
/// factor of about 40. If gap is not 0, it returns factor * (zeta(s, q + gap) - zeta(s, q)).
EBB_HD [[gnu::noinline]] inline double zeta_right(const Twofold& s, const Twofold& from, double factor,
                                                  double gap = 0) {
  const auto power = [&](const Twofold& by, const Twofold& q, double times) {
    return gap == 0 ? zeta_power(by, q, times) : zeta_step(by, q, gap, times);
  };
  double sum = 0, lost = 0;  // lost: the accumulated rounding errors of the sum
  const auto add = [&](double term) {
    const Twofold next = exact_sum(sum, term);
    sum = next.high;
    lost += next.low;
  };
  Twofold q = from;
  for (double k = 1; q.high < s.high + 10; k += 1) {
    const double direct = power(s, q, factor);
    if (!(std::fabs(direct) < kInfinity)) return direct;
    add(direct);
    if (std::fabs(direct) <= 1e-17 * std::fabs(sum)) return sum;
    q = from + k;
  }
  // The coefficients B_2k / (2k)!.
  constexpr double bernoulli[] = {1.0 / 12,
                                  -1.0 / 720,
                                  1.0 / 30240,
                                  -1.0 / 1209600,
                                  1.0 / 47900160,
                                  -5.2841901386874932e-10,
                                  1.3382536530684679e-11,
                                  -3.3896802963225829e-13,
                                  8.5860620562778446e-15,
                                  -2.1748686985580619e-16,
                                  5.5090028283602295e-18,
                                  -1.3954464685812523e-19};
  add(power(s - 1, q, factor / ((s.high - 1) + s.low)));
  add(power(s, q, factor / 2));
  double rising = factor * s.high;
  for (int k = 0; k < 12; ++k) {
    const double term = bernoulli[k] * power(s + (2 * k + 1), q, rising);
    lost += term;
    if (std::fabs(term) <= 1e-18 * std::fabs(sum)) break;
    rising *= (s.high + 2 * k + 1) * (s.high + 2 * k + 2);
  }
  return std::fabs(sum) < kInfinity ? sum + lost : sum;
}

/// Returns factor * zeta(s, q) for any s and q. The result is infinite at s = 1 and at the poles q = 0, -1,
/// ..., and NaN for s < 1. Terms with negative q + k are computed as a mirrored sum of terms at positive
/// arguments, so that the cost does not grow with -q.
EBB_HD inline double zeta(const Twofold& s, double q, double factor = 1) {
  if (!(s.high > 1)) return s.high == 1 ? std::copysign(kInfinity, factor) : quiet_nan<double>();
  if (!(q < kInfinity)) return q == q ? 0 * factor : q;
  if (s.high == kInfinity) return q > 0 ? factor * std::pow(q, -s.high) : quiet_nan<double>();
  if (q > 0) return zeta_right(s, q, factor);
  if (q == std::floor(q)) return std::copysign(kInfinity, factor);
  if (s.high != std::floor(s.high) || s.low != std::floor(s.low)) return quiet_nan<double>();
  const double to_right = q - std::floor(q), to_left = std::ceil(q) - q, gap = 1 - (to_left + to_left);
  const double beyond = zeta_right(s, exact_sum(1, -q), factor);
  if (std::fmod(std::fmod(s.high, 2.0) + std::fmod(s.low, 2.0), 2.0) == 0)
    return zeta_right(s, to_right, factor) + zeta_right(s, to_left, factor) - beyond;
  // Half-way between two poles the two sides cancel.
  if (s.high * std::fabs(gap) < to_left) return (gap == 0 ? 0 : zeta_right(s, to_left, factor, gap)) + beyond;
  const double right = zeta_right(s, to_right, factor), left = zeta_right(s, to_left, factor);
  if (right == left) return std::copysign(kInfinity, gap > 0 ? -factor : factor);  // both overflow
  return right - left + beyond;
}

/// Returns the n-th derivative of digamma, n >= 1: (-1)^(n+1) n! zeta(n + 1, x).
EBB_HD inline double polygamma(int n, double x) {
  Twofold factorial = 1;
  for (int i = 2; i <= n; ++i) factorial = factorial * i;
  return zeta(n + 1.0, x, n % 2 ? factorial.high : -factorial.high);
}

/// Returns the n-th derivative of zeta(s, q) with respect to q: (-1)^n s (s + 1) ... (s + n - 1) zeta(s + n,
/// q).
EBB_HD inline double zeta_derivative(int n, double s, double q) {
  double factor = 1;
  for (int k = 0; k < n; ++k) factor *= -(s + k);
  return zeta(exact_sum(s, n), q, factor);
}

}  // namespace ebb::ops
