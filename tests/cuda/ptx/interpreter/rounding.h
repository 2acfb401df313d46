// Rounding to the formats of PTX. It shares nothing with ebb's own conversions, which kernels are tested by.
#pragma once

#include "instruction.h"

namespace ebb::ptx {

/// Sets the processor's rounding mode for a lifetime. Arithmetic between must read its operands from memory
/// and write its results there, so that no compiler moves it out.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
};

/// A 16-bit float: its bits.
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

/// The nearest number of the format, by the rounding mode; ties go to even. Rounded once. NaN becomes the
/// format's canonical NaN.
Half to_half(double number, Rounding rounding = Rounding::nearest);
Brain to_brain(double number, Rounding rounding = Rounding::nearest);
template <class T>
T rounded(double number, Rounding rounding = Rounding::nearest);

/// a + b with the last bit set where the sum is not exact (rounded to odd), so that rounding it again to a
/// shorter format gives what rounding the exact sum once would.
double sum_to_odd(double a, double b);

/// Subnormal numbers become 0 of their sign.
float flushed(float number);
inline double flushed(double number) { return number; }
/// Into [0, 1]; NaN becomes 0.
template <class T>
T saturated(T number) {
  return number >= T(1) ? T(1) : number > T(0) ? number : T(0);
}

/// min and max of PTX: -0 is less than 0; a NaN loses against a number unless it is to be kept.
double least(double a, double b, bool keep_nan);
double greatest(double a, double b, bool keep_nan);

}  // namespace ebb::ptx
