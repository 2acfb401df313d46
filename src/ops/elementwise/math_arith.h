// Formulas of arithmetic, comparison and logic, for host and device.
#pragma once

#include <cmath>

#include "kernel/wrapping.h"
#include "ops/elementwise/functor.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

namespace detail {

template <class T>
EBB_HD bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else
    return false;
}

template <class T>
EBB_HD T quiet_nan() {
  return static_cast<T>(__builtin_nanf(""));
}

}  // namespace detail

struct Add {
  static constexpr char kName[] = "add";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return wrapping_add(a, b);
  }
};

/// a + alpha b
struct AddScaled {
  static constexpr char kName[] = "add";
  static constexpr Types kTypes = Types::all;
  Number alpha;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || (alpha.as<bool>() && b);
    else
      return Add()(a, wrapping_multiply(alpha.as<T>(), b));
  }
};

struct Sub {
  static constexpr char kName[] = "sub";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};

/// b - alpha a
struct RsubScaled {
  static constexpr char kName[] = "rsub";
  static constexpr Types kTypes = Types::numeric;
  Number alpha;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return Sub()(b, wrapping_multiply(alpha.as<T>(), a));
  }
};

struct Mul {
  static constexpr char kName[] = "mul";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else
      return wrapping_multiply(a, b);
  }
};

struct Div {
  static constexpr char kName[] = "div";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return a / b;
  }
};

/// Rounds the quotient towards zero. Integer division by zero is refused by the caller.
struct DivTrunc {
  static constexpr char kName[] = "div";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return Sub()(T(0), a);  // the smallest integer has no negative: wraps
      return static_cast<T>(a / b);
    } else {
      return std::trunc(a / b);
    }
  }
};

/// Rounds the quotient down, as Python's // does: consistent with the remainder, exact for large quotients.
struct DivFloor {
  static constexpr char kName[] = "floor_divide";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      const T q = DivTrunc()(a, b);
      if constexpr (std::is_signed_v<T>)
        if (b != T(-1) && a % b != 0 && ((a < 0) != (b < 0))) return static_cast<T>(q - 1);
      return q;
    } else {
      if (b == 0) return a / b;
      const T mod = std::fmod(a, b);
      T q = (a - mod) / b;
      if (mod != 0 && (b < 0) != (mod < 0)) q -= 1;
      if (q == 0) return std::copysign(T(0), a / b);
      T down = std::floor(q);
      if (q - down > T(0.5)) down += 1;
      return down;
    }
  }
};

/// The remainder with the dividend's sign.
struct Fmod {
  static constexpr char kName[] = "fmod";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return 0;
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

/// The remainder with the divisor's sign.
struct Remainder {
  static constexpr char kName[] = "remainder";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    T r = Fmod()(a, b);
    if (r != 0 && ((b < 0) != (r < 0))) r = static_cast<T>(r + b);
    return r;
  }
};

struct Maximum {
  static constexpr char kName[] = "maximum";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a > b || a != a ? a : b;  // NaN wins
    else
      return a > b ? a : b;
  }
};

struct Minimum {
  static constexpr char kName[] = "minimum";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || a != a ? a : b;
    else
      return a < b ? a : b;
  }
};

/// NaN loses.
struct Fmax {
  static constexpr char kName[] = "fmax";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a > b || b != b ? a : b;
    else
      return a > b ? a : b;
  }
};

struct Fmin {
  static constexpr char kName[] = "fmin";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || b != b ? a : b;
    else
      return a < b ? a : b;
  }
};

struct Eq {
  static constexpr char kName[] = "eq";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return a == b;
  }
};

struct Ne {
  static constexpr char kName[] = "ne";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return a != b;
  }
};

struct Lt {
  static constexpr char kName[] = "lt";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return a < b;
  }
};

struct Le {
  static constexpr char kName[] = "le";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct Gt {
  static constexpr char kName[] = "gt";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return a > b;
  }
};

struct Ge {
  static constexpr char kName[] = "ge";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return a >= b;
  }
};

/// Compares as torch's ops would one after another: every step is rounded to the tensors' own dtype, which a
/// tolerance of the same decimals then meets. Integers are compared in double precision.
struct IsClose {
  static constexpr char kName[] = "isclose";
  static constexpr Types kTypes = Types::all;
  double rtol, atol;
  bool equal_nan;
  DType dtype;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    if (a == b) return true;
    if (detail::is_nan(a) || detail::is_nan(b)) return equal_nan && detail::is_nan(a) && detail::is_nan(b);
    using C = std::conditional_t<std::is_floating_point_v<T>, T, double>;
    const C y = static_cast<C>(b), error = rounded(std::fabs(static_cast<C>(a) - y));
    const C allowed = rounded(static_cast<C>(atol) + rounded(std::fabs(static_cast<C>(rtol) * y)));
    return std::isfinite(error) && error <= allowed;
  }

 private:
  template <class C>
  EBB_HD C rounded(C x) const {
    if (dtype == DType::Half) return static_cast<C>(static_cast<float>(Half(static_cast<float>(x))));
    if (dtype == DType::BFloat16) return static_cast<C>(static_cast<float>(BFloat16(static_cast<float>(x))));
    return x;
  }
};

struct LogicalAnd {
  static constexpr char kName[] = "logical_and";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return (a != T(0)) & (b != T(0));
  }
};

struct LogicalOr {
  static constexpr char kName[] = "logical_or";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return (a != T(0)) | (b != T(0));
  }
};

struct LogicalXor {
  static constexpr char kName[] = "logical_xor";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a, T b) const {
    return (a != T(0)) != (b != T(0));
  }
};

struct LogicalNot {
  static constexpr char kName[] = "logical_not";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD bool operator()(T a) const {
    return a == T(0);
  }
};

struct BitwiseAnd {
  static constexpr char kName[] = "bitwise_and";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitwiseOr {
  static constexpr char kName[] = "bitwise_or";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitwiseXor {
  static constexpr char kName[] = "bitwise_xor";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct BitwiseNot {
  static constexpr char kName[] = "bitwise_not";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};

/// Shifts by a count outside [0, bits) give 0 (or -1 for a negative number to the right): what an endless
/// shift would.
struct ShiftLeft {
  static constexpr char kName[] = "bitwise_left_shift";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a && !b;
    } else {
      if (b < 0 || static_cast<std::uint64_t>(b) >= sizeof(T) * 8) return 0;
      return static_cast<T>(static_cast<std::uint64_t>(a) << b);
    }
  }
};

struct ShiftRight {
  static constexpr char kName[] = "bitwise_right_shift";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a && !b;
    } else {
      if (b < 0 || static_cast<std::uint64_t>(b) >= sizeof(T) * 8) return static_cast<T>(a < 0 ? -1 : 0);
      return static_cast<T>(a >> b);
    }
  }
};

/// The greatest common divisor, by Euclid, of the magnitudes.
struct Gcd {
  static constexpr char kName[] = "gcd";
  static constexpr Types kTypes = Types::integral;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    while (b != 0) {
      const T rest = b == T(-1) ? T(0) : static_cast<T>(a % b);  // the lowest number over -1 would trap
      a = b;
      b = rest;
    }
    return a < T(0) ? Sub()(T(0), a) : a;
  }
};

/// The least common multiple of the magnitudes; 0 if either is 0.
struct Lcm {
  static constexpr char kName[] = "lcm";
  static constexpr Types kTypes = Types::integral;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if (a == 0 || b == 0) return 0;
    const T multiple = Mul()(static_cast<T>(a / Gcd()(a, b)), b);
    return multiple < T(0) ? Sub()(T(0), multiple) : multiple;
  }
};

}  // namespace ebb::ops
#pragma GCC visibility pop
