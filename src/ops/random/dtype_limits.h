// The limits of dtypes, and conversions of random numbers to dtypes. The converted numbers are finite and
// inside the range of their distribution.
#pragma once

#include "kernel/convert.h"

#include <limits>

namespace ebb::random {

/// The largest number of T, the smallest positive one, and the number of bits of the mantissa.
template <class T>
struct DtypeLimits {
  static constexpr double largest = static_cast<double>(std::numeric_limits<T>::max()),
                          least = std::numeric_limits<T>::denorm_min();
  static constexpr int digits = std::numeric_limits<T>::digits;
};
template <>
struct DtypeLimits<Half> {
  static constexpr double largest = 65504, least = 0x1p-24;
  static constexpr int digits = 11;
};
template <>
struct DtypeLimits<BFloat16> {
  static constexpr double largest = 0x1.fep127, least = 0x1p-133;
  static constexpr int digits = 8;
};

/// Returns the largest number of T below x.
template <class T>
EBB_HD T before(T x) {
  using Word = std::conditional_t<sizeof(T) == 8, std::int64_t,
                                  std::conditional_t<sizeof(T) == 4, std::int32_t, std::int16_t>>;
  constexpr Word sign = std::numeric_limits<Word>::min();
  const Word word = __builtin_bit_cast(Word, x);
  return __builtin_bit_cast(T, static_cast<Word>((word & ~sign) == 0 ? sign + 1
                                                 : word > 0          ? word - 1
                                                                     : word + 1));
}

/// Converts x to T. The result is finite even if x exceeds the range of T.
template <class T, class W>
EBB_HD T finite(W x) {
  constexpr W largest = static_cast<W>(DtypeLimits<T>::largest);
  if constexpr (std::is_integral_v<T>)
    return x < largest ? convert<T>(x) : std::numeric_limits<T>::max();
  else
    return convert<T>(x > largest ? largest : x < -largest ? -largest : x);
}
/// Converts x, a value of a distribution over positive numbers. The result is positive and finite.
template <class T, class W>
EBB_HD T positive(W x) {
  constexpr W least = static_cast<W>(DtypeLimits<T>::least);
  return finite<T>(x < least ? least : x);
}

}  // namespace ebb::random
