// Rounding to the formats of PTX.
#include "rounding.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

namespace ebb::ptx {
namespace {

int mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return FE_TOWARDZERO;
    case Rounding::down:
      return FE_DOWNWARD;
    case Rounding::up:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

// The bits of the number in a 16-bit format with that many mantissa bits. `bias` is the exponent bias.
u16 to_format(double number, int mantissa, int bias, Rounding rounding) {
  const u64 bits = std::bit_cast<u64>(number);
  const u16 sign = static_cast<u16>(bits >> 63 << 15);
  const u16 infinity = static_cast<u16>((2 * bias + 1) << mantissa);
  if (std::isnan(number)) return 0x7fff;
  if (std::isinf(number)) return static_cast<u16>(sign | infinity);
  if (number == 0) return sign;
  // The number is significand * 2^(exponent - 52); the unit in the last place of the format is 2^unit.
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);  // in [0.5, 1)
  --exponent;
  const u64 significand = static_cast<u64>(std::ldexp(fraction, 53));
  const int unit = std::max(exponent, 1 - bias) - mantissa;
  const int dropped = unit - (exponent - 52);  // bits below the unit, at least 42
  u64 kept = dropped > 63 ? 0 : significand >> dropped;
  const u64 rest = dropped > 63 ? 1 : significand & ((u64{1} << dropped) - 1);
  const u64 half = dropped > 63 ? 2 : u64{1} << (dropped - 1);
  const bool up = rounding == Rounding::nearest ? rest > half || (rest == half && (kept & 1) != 0)
                  : rounding == Rounding::up    ? rest != 0 && sign == 0
                  : rounding == Rounding::down  ? rest != 0 && sign != 0
                                                : false;
  if (up) ++kept;
  // A carry out of the mantissa increments the exponent.
  const int stored = std::max(exponent, 1 - bias) + bias;
  const u64 hidden = u64{1} << mantissa;
  u64 result = kept < hidden ? kept : (static_cast<u64>(stored) << mantissa) + kept - hidden;
  if (result >= infinity) {
    const bool overflows = rounding == Rounding::nearest || (rounding == Rounding::up && sign == 0) ||
                           (rounding == Rounding::down && sign != 0);
    result = overflows ? infinity : infinity - 1U;
  }
  return static_cast<u16>(sign | result);
}

}  // namespace

RoundingScope::RoundingScope(Rounding rounding) { std::fesetround(mode_of(rounding)); }
RoundingScope::~RoundingScope() { std::fesetround(FE_TONEAREST); }

double value_of(Half number) {
  const int exponent = number.bits >> 10 & 31, mantissa = number.bits & 1023;
  const double size = exponent == 31  ? (mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                       : std::numeric_limits<double>::infinity())
                      : exponent == 0 ? std::ldexp(mantissa, -24)
                                      : std::ldexp(mantissa + 1024, exponent - 25);
  return (number.bits & 0x8000) != 0 ? -size : size;
}

double value_of(Brain number) { return std::bit_cast<float>(u32{number.bits} << 16); }

Half to_half(double number, Rounding rounding) { return {to_format(number, 10, 15, rounding)}; }
Brain to_brain(double number, Rounding rounding) { return {to_format(number, 7, 127, rounding)}; }

template <>
Half rounded<Half>(double number, Rounding rounding) {
  return to_half(number, rounding);
}
template <>
Brain rounded<Brain>(double number, Rounding rounding) {
  return to_brain(number, rounding);
}
template <>
float rounded<float>(double number, Rounding rounding) {
  if (std::isnan(number)) return std::bit_cast<float>(u32{0x7fffffff});
  if (rounding == Rounding::nearest) return static_cast<float>(number);
  const RoundingScope scope(rounding);
  const volatile double read = number;
  const volatile float written = static_cast<float>(read);
  return written;
}
template <>
double rounded<double>(double number, Rounding) {
  return number;
}

double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double b_part = sum - a;  // the error of the sum (Knuth's TwoSum)
  const double error = (a - (sum - b_part)) + (b - b_part);
  const u64 bits = std::bit_cast<u64>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  // The exact sum is beyond `sum`, or between it and the previous value, which is odd.
  return std::bit_cast<double>((error < 0) == (sum < 0) ? bits + 1 : bits - 1);
}

float flushed(float number) {
  return std::fpclassify(number) == FP_SUBNORMAL ? std::copysign(0.0F, number) : number;
}

double least(double a, double b, bool keep_nan) {
  if (std::isnan(a) || std::isnan(b)) return keep_nan || std::isnan(b) ? (keep_nan ? std::nan("") : a) : b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double greatest(double a, double b, bool keep_nan) { return -least(-a, -b, keep_nan); }

}  // namespace ebb::ptx
