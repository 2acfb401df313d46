// Formulas of floor, ceil, round, trunc and frac. The gradient of all but frac is 0.
#pragma once

#include "ops/elementwise/formula.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Floor : PlainUnary {
  static constexpr char kName[] = "floor";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::floor(x);
    else
      return x;
  }
};

struct Ceil : PlainUnary {
  static constexpr char kName[] = "ceil";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::ceil(x);
    else
      return x;
  }
};

/// round: ties round to the even neighbour.
struct Round : PlainUnary {
  static constexpr char kName[] = "round";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::nearbyint(x);
    else
      return x;
  }
};

/// round with decimals: rounds to multiples of 1 / scale, or of scale if `negative`. scale = 10^|decimals|.
struct RoundDecimals : PlainUnary {
  static constexpr char kName[] = "round";
  double scale;
  bool negative;
  template <class T>
  EBB_HD T value(T x) const {
    const T s = static_cast<T>(scale);
    return negative ? std::nearbyint(x / s) * s : std::nearbyint(x * s) / s;
  }
};

struct Trunc : PlainUnary {
  static constexpr char kName[] = "trunc";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::trunc(x);
    else
      return x;
  }
};

struct Frac : PlainUnary {
  static constexpr char kName[] = "frac";
  static constexpr Types kTypes = Types::strict_floating;
  static constexpr Keep kKeep = Keep::nothing;
  template <class T>
  EBB_HD T value(T x) const {
    return x - std::trunc(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g) const {
    return g;
  }
};

using RoundingOps = List<Floor, Ceil, Round, RoundDecimals, Trunc, Frac>;

}  // namespace ebb::ops
#pragma GCC visibility pop
