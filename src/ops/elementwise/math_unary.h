// Formulas of one operand: signs, powers, exponentials, trigonometry, rounding, for host and device.
#pragma once

#include "ops/elementwise/math_arith.h"

#pragma GCC visibility push(default)
namespace ebb::ops {

struct Abs {
  static constexpr char kName[] = "abs";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? Sub()(T(0), x) : x;
    else
      return x;
  }
};

struct Neg {
  static constexpr char kName[] = "neg";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return Sub()(T(0), x);
  }
};

struct Sign {
  static constexpr char kName[] = "sign";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>)
      return x;
    else
      return static_cast<T>((x > 0) - (x < 0));
  }
};

struct Square {
  static constexpr char kName[] = "square";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T x) const {
    return Mul()(x, x);
  }
};

struct Cube {
  static constexpr char kName[] = "pow";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x * x * x;
  }
};

struct Signbit {
  static constexpr char kName[] = "signbit";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::copysign(T(1), x) < 0;
    else
      return x < T(0);
  }
};

struct IsNan {
  static constexpr char kName[] = "isnan";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T x) const {
    return detail::is_nan(x);
  }
};

struct IsInf {
  static constexpr char kName[] = "isinf";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x) == static_cast<T>(__builtin_inff());
    else
      return false;
  }
};

struct IsFinite {
  static constexpr char kName[] = "isfinite";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x) < static_cast<T>(__builtin_inff());
    else
      return true;
  }
};

struct IsPosInf {
  static constexpr char kName[] = "isposinf";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T x) const {
    return IsInf()(x) && x > T(0);
  }
};

struct IsNegInf {
  static constexpr char kName[] = "isneginf";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T x) const {
    return IsInf()(x) && x < T(0);
  }
};

struct NanToNum {
  static constexpr char kName[] = "nan_to_num";
  static constexpr Types kTypes = Types::all;
  double nan = 0, posinf = 0, neginf = 0;
  bool has_posinf = false, has_neginf = false;
  template <class T>
  EBB_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (x != x) return static_cast<T>(nan);
      if (IsPosInf()(x)) return static_cast<T>(posinf);
      if (IsNegInf()(x)) return static_cast<T>(neginf);
    }
    return x;
  }
};

struct Reciprocal {
  static constexpr char kName[] = "reciprocal";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return T(1) / x;
  }
};

struct Sqrt {
  static constexpr char kName[] = "sqrt";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::sqrt(x);
  }
};

struct Rsqrt {
  static constexpr char kName[] = "rsqrt";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};

struct Exp {
  static constexpr char kName[] = "exp";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::exp(x);
  }
};

struct Exp2 {
  static constexpr char kName[] = "exp2";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::exp2(x);
  }
};

struct Expm1 {
  static constexpr char kName[] = "expm1";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::expm1(x);
  }
};

struct Log {
  static constexpr char kName[] = "log";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::log(x);
  }
};

struct Log2 {
  static constexpr char kName[] = "log2";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::log2(x);
  }
};

struct Log10 {
  static constexpr char kName[] = "log10";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::log10(x);
  }
};

struct Log1p {
  static constexpr char kName[] = "log1p";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::log1p(x);
  }
};

struct Sin {
  static constexpr char kName[] = "sin";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::sin(x);
  }
};

struct Cos {
  static constexpr char kName[] = "cos";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::cos(x);
  }
};

struct Tan {
  static constexpr char kName[] = "tan";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::tan(x);
  }
};

struct Asin {
  static constexpr char kName[] = "asin";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::asin(x);
  }
};

struct Acos {
  static constexpr char kName[] = "acos";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::acos(x);
  }
};

struct Atan {
  static constexpr char kName[] = "atan";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::atan(x);
  }
};

struct Sinh {
  static constexpr char kName[] = "sinh";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::sinh(x);
  }
};

struct Cosh {
  static constexpr char kName[] = "cosh";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::cosh(x);
  }
};

struct Tanh {
  static constexpr char kName[] = "tanh";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::tanh(x);
  }
};

struct Asinh {
  static constexpr char kName[] = "asinh";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::asinh(x);
  }
};

struct Acosh {
  static constexpr char kName[] = "acosh";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::acosh(x);
  }
};

struct Atanh {
  static constexpr char kName[] = "atanh";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return std::atanh(x);
  }
};

struct Floor {
  static constexpr char kName[] = "floor";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::floor(x);
    else
      return x;
  }
};

struct Ceil {
  static constexpr char kName[] = "ceil";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::ceil(x);
    else
      return x;
  }
};

/// Halves go to the even neighbour.
struct Round {
  static constexpr char kName[] = "round";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::nearbyint(x);
    else
      return x;
  }
};

/// To `scale` = 10^|decimals|; to tens and hundreds when `negative`.
struct RoundDecimals {
  static constexpr char kName[] = "round";
  static constexpr Types kTypes = Types::floating;
  double scale;
  bool negative;
  template <class T>
  EBB_HD T operator()(T x) const {
    const T s = static_cast<T>(scale);
    return negative ? std::nearbyint(x / s) * s : std::nearbyint(x * s) / s;
  }
};

struct Trunc {
  static constexpr char kName[] = "trunc";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::trunc(x);
    else
      return x;
  }
};

struct Frac {
  static constexpr char kName[] = "frac";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x - std::trunc(x);
  }
};

}  // namespace ebb::ops
#pragma GCC visibility pop
