// Formulas of abs, neg, sign, sgn, deg2rad and rad2deg, and of floor, ceil, round, trunc and frac.
#pragma once

#include "ops/elementwise/formula.h"
#include "ops/elementwise/formulas/arithmetic.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// Returns -1, 0 or 1.
template <class T>
  requires std::is_arithmetic_v<T>
EBB_HD T sgn(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return x;
  else
    return static_cast<T>((x > 0) - (x < 0));
}

struct Abs : PlainUnary {
  static constexpr char kName[] = "abs";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? Sub().value(T(0), x) : x;
    else
      return x;
  }
  static std::uint16_t half_bits(std::uint16_t x) { return x & 0x7fffu; }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return sgn(x);
  }
};

struct Neg : PlainUnary {
  static constexpr char kName[] = "neg";
  static constexpr Types kTypes = Types::numeric;
  static constexpr Saves kSaves = Saves::nothing;
  template <class T>
  EBB_HD T value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return Sub().value(T(0), x);
  }
  static std::uint16_t half_bits(std::uint16_t x) { return x ^ 0x8000u; }
  template <class X>
  EBB_HD X gradient(const X& g) const {
    return -g;
  }
};

struct Sign : PlainUnary {
  static constexpr char kName[] = "sign";
  static constexpr Types kTypes = Types::all;
  template <class X>
  EBB_HD X value(const X& x) const {
    return sgn(x);
  }
};

struct Sgn : Sign {
  static constexpr char kName[] = "sgn";
};

/// deg2rad: x pi / 180.
struct Deg2Rad : PlainUnary {
  static constexpr char kName[] = "deg2rad", kNode[] = "Deg2RadBackward0";
  static constexpr Saves kSaves = Saves::nothing;
  template <class X>
  EBB_HD X value(const X& x) const {
    return x * constant<X>(0.01745329251994329576924);
  }
  template <class X>
  EBB_HD X gradient(const X& g) const {
    return value(g);
  }
};

/// rad2deg: x 180 / pi.
struct Rad2Deg : PlainUnary {
  static constexpr char kName[] = "rad2deg", kNode[] = "Rad2DegBackward0";
  static constexpr Saves kSaves = Saves::nothing;
  template <class X>
  EBB_HD X value(const X& x) const {
    return x * constant<X>(57.2957795130823208767982);
  }
  template <class X>
  EBB_HD X gradient(const X& g) const {
    return value(g);
  }
};

/// floor. Of the rounding functions, all but frac have the gradient 0.
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
  static constexpr Saves kSaves = Saves::nothing;
  template <class T>
  EBB_HD T value(T x) const {
    return x - std::trunc(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g) const {
    return g;
  }
};

using SignAndRoundingOps =
    List<Abs, Neg, Sign, Sgn, Deg2Rad, Rad2Deg, Floor, Ceil, Round, RoundDecimals, Trunc, Frac>;

}  // namespace ebb::ops
#pragma GCC visibility pop
