// Formulas of predicates of one element (isnan, isinf, signbit, logical_not and others) and of nan_to_num.
#pragma once

#include "ops/elementwise/formula.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

template <class T>
EBB_HD bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else
    return false;
}

struct Signbit : PlainUnary {
  static constexpr char kName[] = "signbit";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::copysign(T(1), x) < 0;
    else
      return x < T(0);
  }
};

struct IsNan : PlainUnary {
  static constexpr char kName[] = "isnan";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool value(T x) const {
    return is_nan(x);
  }
};

struct IsInf : PlainUnary {
  static constexpr char kName[] = "isinf";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x) == static_cast<T>(__builtin_inff());
    else
      return false;
  }
};

struct IsFinite : PlainUnary {
  static constexpr char kName[] = "isfinite";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x) < static_cast<T>(__builtin_inff());
    else
      return true;
  }
};

struct IsPosInf : PlainUnary {
  static constexpr char kName[] = "isposinf";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool value(T x) const {
    return IsInf().value(x) && x > T(0);
  }
};

struct IsNegInf : PlainUnary {
  static constexpr char kName[] = "isneginf";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool value(T x) const {
    return IsInf().value(x) && x < T(0);
  }
};

template <class T>
  requires std::is_arithmetic_v<T>
EBB_HD bool isfinite(T x) {
  return IsFinite().value(x);
}

struct NanToNum : PlainUnary {
  static constexpr char kName[] = "nan_to_num";
  static constexpr Types kTypes = Types::all;
  double nan = 0, posinf = 0, neginf = 0;
  template <class T>
  EBB_HD T value(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (x != x) return static_cast<T>(nan);
      if (IsPosInf().value(x)) return static_cast<T>(posinf);
      if (IsNegInf().value(x)) return static_cast<T>(neginf);
    }
    return x;
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return where(isfinite(x), g, constant<X>(0));
  }
};

struct LogicalNot : PlainUnary {
  static constexpr char kName[] = "logical_not";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool value(T a) const {
    return a == T(0);
  }
};

struct BitwiseNot : PlainUnary {
  static constexpr char kName[] = "bitwise_not";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T value(T a) const {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};

using PredicateOps =
    List<Signbit, IsNan, IsInf, IsFinite, IsPosInf, IsNegInf, LogicalNot, BitwiseNot, NanToNum>;

}  // namespace ebb::ops
#pragma GCC visibility pop
