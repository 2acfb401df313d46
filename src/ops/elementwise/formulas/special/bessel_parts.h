// Parts of the Bessel functions: the power series that J, Y and I share, and the phase of J and Y for large
// x.
#pragma once

#include "ops/elementwise/formulas/special/numerics.h"

#include <cstdint>

namespace ebb::ops {

/// The sums s_n = sum over k of (sign x^2 / 4)^k / (k! (k + n)!). (x / 2)^n s_n is I_n(x) for sign 1 and
/// J_n(x) for sign -1 (DLMF 10.25.2, 10.2.2). The sums are Twofold numbers, which keep enough digits for x up
/// to 30 (I) and 25 (J).
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

/// Y_0(x) and Y_1(x) for 0 < x <= 25: a logarithm times J_0 or J_1, plus a power series (DLMF 10.8.1).
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

/// The reduction x = quarters pi / 2 + rest. `quarters` is reduced modulo 4, and |rest| is at most about pi /
/// 4.
struct QuarterTurns {
  int quarters;
  Twofold rest;
};

/// Reduces large x. It uses only those digits of 2/pi whose products with x are not multiples of 4 (Payne and
/// Hanek, 1983).
EBB_HD inline QuarterTurns quarter_turns_far(double x) {
  constexpr std::uint32_t digits[] = {
      0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u,
      0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u,
      0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu,
      0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu,
      0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u};
  int exponent;
  const auto whole = static_cast<std::uint64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const int shift = exponent - 53, first = shift > 2 ? (shift - 2) / 32 : 0;  // x = whole 2^shift
  constexpr std::uint64_t limb = 0xffffffffu;
  std::uint64_t carry = 0;
  Twofold turns;
  for (int i = 0; i < 8; ++i) {  // multiplies `whole` by six digits, from the lowest digit on
    std::uint64_t sum = carry;
    carry = 0;
    const auto add = [&](std::uint64_t product) {
      sum += product & limb;
      carry += product >> 32;
    };
    if (i < 6) add((whole & limb) * digits[first + 5 - i]);
    if (i > 0 && i < 7) add((whole >> 32) * digits[first + 6 - i]);
    carry += sum >> 32;
    const double digit = std::ldexp(static_cast<double>(sum & limb), 32 * (i - 6 - first) + shift);
    turns = Twofold(std::fmod(digit, 4.0)) + turns;
  }
  const double nearest = std::rint(turns.high);
  const Twofold half_pi(1.5707963267948966, 6.123233995736766e-17);
  return {static_cast<int>(nearest) & 3, (turns - nearest) * half_pi};
}

EBB_HD inline QuarterTurns quarter_turns(double x) {
  if (x > 1e5) return quarter_turns_far(x);
  const double nearest = std::rint(x * 0.63661977236758134308);
  const Twofold near = Twofold(x) - exact_product(nearest, 1.5707963267948966);
  const Twofold rest = near - exact_product(nearest, 6.123233995736766e-17);
  return {static_cast<int>(nearest) & 3, rest + nearest * 1.4973849048591698e-33};
}

/// The cosine and the sine of x - pi/4 for any x, accurate also near their zeros.
struct EighthPhase {
  double cosine, sine;
  EBB_HD explicit EighthPhase(double x) {
    const QuarterTurns turns = quarter_turns(x);
    const bool right = turns.rest.high > 0;
    const Twofold eighth(0.7853981633974483, 3.061616997868383e-17);
    const Twofold angle = right ? turns.rest - eighth : turns.rest + eighth;
    const double s = std::sin(angle.high), c = std::cos(angle.high);
    const double u = std::fma(-angle.low, s, c), v = std::fma(angle.low, c, s);
    const int quarters = (turns.quarters + (right ? 0 : 3)) & 3;
    cosine = quarters == 0 ? u : quarters == 1 ? -v : quarters == 2 ? -u : v;
    sine = quarters == 0 ? v : quarters == 1 ? u : quarters == 2 ? -v : -u;
  }
};

}  // namespace ebb::ops
