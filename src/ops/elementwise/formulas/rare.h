// How formulas keep cases that are rare off the common path, whatever carries the numbers.
#pragma once

#include "ops/elementwise/formula.h"

namespace ebb::ops {

/// Whether a condition holds for a number, or for one of several in a register.
template <class X, class Condition>
EBB_HD bool any(const Condition& condition) {
  if constexpr (std::is_arithmetic_v<X>) {
    return condition;
  } else {
    constexpr int kWords = sizeof(Condition) / sizeof(std::uint64_t);
    struct Words {
      std::uint64_t word[kWords];
    };
    const Words words = __builtin_bit_cast(Words, condition);
    std::uint64_t all = 0;
    for (int i = 0; i < kWords; ++i) all |= words.word[i];
    return all != 0;
  }
}

/// f(a, b) of a number, or of each of several in a register.
template <class X, class F>
EBB_HD X one_by_one(const X& a, const X& b, const F& f) {
  if constexpr (std::is_arithmetic_v<X>) {
    return f(a, b);
  } else {
    X out = a;
    for (int i = 0; i < X::kCount; ++i) out.v[i] = f(a.v[i], b.v[i]);
    return out;
  }
}

/// Whether X carries floats, not doubles.
template <class X>
constexpr bool carries_floats() {
  if constexpr (std::is_arithmetic_v<X>)
    return sizeof(X) == sizeof(float);
  else
    return sizeof(typename X::Element) == sizeof(float);
}

/// Whether a number is so close to 0 or to infinity, or there, that products of it may lose digits.
template <class X>
EBB_HD auto is_extreme(const X& x) {
  return (abs(x) < constant<X>(0x1p-100)) | (abs(x) > constant<X>(0x1p100));
}

}  // namespace ebb::ops
