// Formulas of logical and bitwise ops, shifts, gcd and lcm.
#pragma once

#include "ops/elementwise/formulas/arithmetic.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct LogicalAnd : Binary {
  static constexpr char kName[] = "logical_and";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return (a != T(0)) & (b != T(0));
  }
};

struct LogicalOr : Binary {
  static constexpr char kName[] = "logical_or";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return (a != T(0)) | (b != T(0));
  }
};

struct LogicalXor : Binary {
  static constexpr char kName[] = "logical_xor";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return (a != T(0)) != (b != T(0));
  }
};

struct BitwiseAnd : Binary {
  static constexpr char kName[] = "bitwise_and";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitwiseOr : Binary {
  static constexpr char kName[] = "bitwise_or";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitwiseXor : Binary {
  static constexpr char kName[] = "bitwise_xor";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

/// A shift by a count outside [0, bits) moves all bits out: the result is 0, or -1 for a right shift of a
/// negative number.
struct ShiftLeft : Binary {
  static constexpr char kName[] = "bitwise_left_shift";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a && !b;
    } else {
      if (b < 0 || static_cast<std::uint64_t>(b) >= sizeof(T) * 8) return 0;
      return static_cast<T>(static_cast<std::uint64_t>(a) << b);
    }
  }
};

struct ShiftRight : Binary {
  static constexpr char kName[] = "bitwise_right_shift";
  static constexpr Types kTypes = Types::integral_bool;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a && !b;
    } else {
      if (b < 0 || static_cast<std::uint64_t>(b) >= sizeof(T) * 8) return static_cast<T>(a < 0 ? -1 : 0);
      return static_cast<T>(a >> b);
    }
  }
};

/// gcd: the greatest common divisor of the magnitudes, by Euclid's algorithm.
struct Gcd : Binary {
  static constexpr char kName[] = "gcd";
  static constexpr Types kTypes = Types::integral;
  template <class T>
  EBB_HD T value(T a, T b) const {
    while (b != 0) {
      // The division of the smallest integer by -1 would trap.
      const T rest = b == T(-1) ? T(0) : static_cast<T>(a % b);
      a = b;
      b = rest;
    }
    return a < T(0) ? Sub().value(T(0), a) : a;
  }
};

/// lcm: the least common multiple of the magnitudes; 0 if either is 0.
struct Lcm : Binary {
  static constexpr char kName[] = "lcm";
  static constexpr Types kTypes = Types::integral;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if (a == 0 || b == 0) return 0;
    const T multiple = Mul().value(static_cast<T>(a / Gcd().value(a, b)), b);
    return multiple < T(0) ? Sub().value(T(0), multiple) : multiple;
  }
};

using LogicOps = List<LogicalAnd, LogicalOr, LogicalXor, BitwiseAnd, BitwiseOr, BitwiseXor, ShiftLeft,
                      ShiftRight, Gcd, Lcm>;

}  // namespace ebb::ops
#pragma GCC visibility pop
