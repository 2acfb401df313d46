// Samplers of the Poisson and binomial distributions, for host and device. `uniform()` returns doubles in [0,
// 1).
#pragma once

#include "kernel/convert.h"

#include <cmath>

namespace ebb::random {

/// Returns log(k!). On glibc it uses lgamma_r, because lgamma writes a global variable.
EBB_HD inline double log_factorial(double k) {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
  return std::lgamma(k + 1);
#else
  int sign;
  return ::lgamma_r(k + 1, &sign);
#endif
}

/// Returns a Poisson number of events with expectation `rate`. For rates below 10 it multiplies uniform
/// numbers (Knuth). Otherwise it uses transformed rejection, PTRS (Hoermann, Insurance: Mathematics and
/// Economics 12, 1993).
template <class Uniform>
EBB_HD double poisson(double rate, Uniform&& uniform) {
  if (!(rate > 0)) return rate == 0 ? 0 : rate;
  if (rate < 10) {
    const double end = std::exp(-rate);
    double product = uniform(), count = 0;
    for (; product > end; product *= uniform()) count += 1;
    return count;
  }
  const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), accepted = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = uniform() - 0.5, v = uniform(), from_end = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / from_end + b) * u + rate + 0.43);
    if (from_end >= 0.07 && v <= accepted) return k;
    if (k < 0 || (from_end < 0.013 && v > from_end)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (from_end * from_end) + b) <=
        k * log_rate - rate - log_factorial(k))
      return k;
  }
}

/// Returns log(k!) minus the value of Stirling's formula for log(k!).
EBB_HD inline double stirling_rest(double k) {
  if (k < 10)
    return log_factorial(k) -
           ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.91893853320467274178);  // log(2 pi) / 2
  const double r = 1 / ((k + 1) * (k + 1));
  return (1.0 / 12 - (1.0 / 360 - r / 1260) * r) / (k + 1);
}

/// Draws from the binomial distribution for n p >= 10 and p <= 1/2, with transformed rejection, BTRS
/// (Hoermann, J. Stat. Comput. Simul. 46, 1993).
template <class Uniform>
EBB_HD double binomial_by_rejection(double n, double p, Uniform&& uniform) {
  const double deviation = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation,
               a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = n * p + 0.5, accepted = 0.92 - 4.2 / b, r = p / (1 - p),
               alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((n + 1) * p);
  while (true) {
    const double u = uniform() - 0.5, v = uniform(), from_end = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / from_end + b) * u + c);
    if (from_end >= 0.07 && v <= accepted) return k;
    if (k < 0 || k > n) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (n - m + 1))) +
                         (n + 1) * std::log((n - m + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(r * (n - k + 1) / (k + 1)) + stirling_rest(m) +
                         stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k);
    if (std::log(v * alpha / (a / (from_end * from_end) + b)) <= bound) return k;
  }
}

/// Draws from the binomial distribution, for n p < 10. It draws the numbers of trials from each success to
/// the next, which have a geometric distribution.
template <class Uniform>
EBB_HD double binomial_by_waiting(double n, double p, Uniform&& uniform) {
  const double log_failure = std::log1p(-p);
  double trials = 0, successes = 0;
  while (true) {
    trials += std::ceil(std::log(uniform()) / log_failure);
    if (!(trials <= n)) return successes;
    successes += 1;
  }
}

/// Returns the number of successes in n trials, each with probability p.
template <class Uniform>
EBB_HD double binomial(double n, double p, Uniform&& uniform) {
  if (n != n || p != p) return n + p;
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  const double q = p <= 0.5 ? p : 1 - p;
  const double count =
      n * q >= 10 ? binomial_by_rejection(n, q, uniform) : binomial_by_waiting(n, q, uniform);
  return p <= 0.5 ? count : n - count;
}

}  // namespace ebb::random
