// Rounding to the formats of PTX. It shares no code with ebb's own conversions, which the kernels use.
#pragma once

#include "instruction.h"

namespace ebb::ptx {

/// Sets the rounding mode of the processor during its lifetime. Arithmetic inside must read its operands from
/// memory and write its results to memory, so that no compiler moves it outside.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
};

/// A 16-bit float as bits.
struct Half {
  u16 bits;
};
struct Brain {
  u16 bits;
};
double value_of(Half number);
double value_of(Brain number);
inline double value_of(float number) { return number; }
inline double value_of(double number) { return number; }

/// Rounds once to the format in the rounding mode, with ties to even. NaN becomes the canonical NaN of the
/// format.
Half to_half(double number, Rounding rounding = Rounding::nearest);
Brain to_brain(double number, Rounding rounding = Rounding::nearest);
template <class T>
T rounded(double number, Rounding rounding = Rounding::nearest);

/// a + b rounded to odd: the last bit is set if the sum is not exact, so that rounding it again to a shorter
/// format equals rounding the exact sum once.
double sum_to_odd(double a, double b);

/// Subnormal values become 0 with the same sign.
float flushed(float number);
inline double flushed(double number) { return number; }
/// Clamps to [0, 1]; NaN becomes 0.
template <class T>
T saturated(T number) {
  return number >= T(1) ? T(1) : number > T(0) ? number : T(0);
}

/// min and max of PTX: -0 is less than 0, and NaN is ignored unless keep_nan is set.
double least(double a, double b, bool keep_nan);
double greatest(double a, double b, bool keep_nan);

}  // namespace ebb::ptx
