// The cosine and the sine of x - pi/4 for any x, accurate also near their zeros.
#pragma once

#include "ops/elementwise/formulas/special/twofold.h"

#include <cstdint>

namespace ebb::ops {

/// The reduction of x: x = quarters pi/2 + rest. `quarters` is modulo 4, and |rest| is at most about pi/4.
struct QuarterTurns {
  int quarters;
  Twofold rest;
};

/// Reduces large x with those digits of 2/pi whose products with x are not multiples of 4 (Payne and Hanek,
/// 1983).
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
