// Helpers for the rare cases of a formula, which are computed separately from the common case, for scalars
// and for vectors in registers.
#pragma once

#include "ops/elementwise/formula.h"

namespace ebb::ops {

/// Returns whether a condition holds for a scalar, or for any lane of a vector.
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

/// Applies f(a, b) to scalars, or to each lane of vectors.
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

/// True if X is float or a vector of floats, false for double.
template <class X>
constexpr bool carries_floats() {
  if constexpr (std::is_arithmetic_v<X>)
    return sizeof(X) == sizeof(float);
  else
    return sizeof(typename X::Element) == sizeof(float);
}

/// Returns f(x), where f is a function of doubles or of vectors of doubles.
template <class X, class F>
EBB_HD X in_double(const X& x, const F& f) {
  if constexpr (std::is_arithmetic_v<X>)
    return static_cast<X>(f(static_cast<double>(x)));
  else if constexpr (carries_floats<X>())
    return in_halves(x, f);
  else
    return f(x);
}

/// Returns whether a value is 0, infinite, or so close to 0 or infinity that products with it may lose
/// digits.
template <class X>
EBB_HD auto is_extreme(const X& x) {
  return (abs(x) < constant<X>(0x1p-100)) | (abs(x) > constant<X>(0x1p100));
}

}  // namespace ebb::ops
