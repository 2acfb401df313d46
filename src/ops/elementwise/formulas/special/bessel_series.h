// The power series that J, Y and I share.
#pragma once

#include "ops/elementwise/formulas/special/twofold.h"

namespace ebb::ops {

/// s_n = sum (sign x^2 / 4)^k / (k! (k + n)!), so that (x / 2)^n s_n is I_n(x) for sign 1 and J_n(x) for sign
/// -1 (DLMF 10.25.2, 10.2.2). The sums are Twofold numbers, which keep enough digits for x up to 30 (I) and
/// 25 (J).
struct BesselSeries {
  Twofold square, s0, s1, s2, s3;  // square: x^2 / 4

  EBB_HD BesselSeries(double x, double sign) {
    square = exact_product(x / 2, x / 2);
    const Twofold step = sign < 0 ? Twofold() - square : square;
    Twofold term2 = 0.5, term3 = Twofold(1) / 6;
    for (double k = 1;; k += 1) {
      s2 = s2 + term2;
      s3 = s3 + term3;
      if (std::fabs(term2.high) < 1e-26 * (1 + std::fabs(s2.high))) break;
      term2 = term2 * step / (k * (k + 2));
      term3 = term3 * step / (k * (k + 3));
    }
    s1 = s2 + s2 + step * s3;
    s0 = s1 + step * s2;
  }
};

/// Y_0(x) and Y_1(x) for 0 < x <= 25, with the series without the logarithm (DLMF 10.8.1).
struct BesselYSeries {
  Twofold y0, y1;

  EBB_HD explicit BesselYSeries(double x) {
    const BesselSeries j(x, -1);
    const Twofold euler(0.5772156649015329, -4.942915152430645e-18);
    const Twofold log_2(0.6931471805599453, 2.3190468138462996e-17);
    const Twofold two_over_pi(0.6366197723675814, -3.935735335036497e-17);
    Twofold term = 1, harmonic, sum0, sum1;
    for (double k = 0; std::fabs(term.high) > 1e-28; k += 1) {
      const Twofold next = Twofold(1) / (k + 1);
      sum0 = sum0 - harmonic * term;
      sum1 = sum1 + (harmonic + harmonic + next) * term * next;
      harmonic = harmonic + next;
      term = (Twofold() - term) * j.square * next * next;
    }
    const Twofold logarithm = exact_log(x) - log_2 + euler;
    y0 = two_over_pi * (logarithm * j.s0 + sum0);
    y1 = two_over_pi * ((logarithm * j.s1 - sum1 / 2) * (x / 2) - Twofold(1) / x);
  }
};

}  // namespace ebb::ops
