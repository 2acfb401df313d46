// Formulas of comparisons, whose result is Bool, and of isclose.
#pragma once

#include "ops/elementwise/formulas/predicate.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Eq : Binary {
  static constexpr char kName[] = "eq";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return a == b;
  }
};

struct Ne : Binary {
  static constexpr char kName[] = "ne";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return a != b;
  }
};

struct Lt : Binary {
  static constexpr char kName[] = "lt";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return a < b;
  }
};

struct Le : Binary {
  static constexpr char kName[] = "le";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return a <= b;
  }
};

struct Gt : Binary {
  static constexpr char kName[] = "gt";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return a > b;
  }
};

struct Ge : Binary {
  static constexpr char kName[] = "ge";
  template <class T>
  EBB_HD bool value(T a, T b) const {
    return a >= b;
  }
};

/// isclose. Each step is rounded to the dtype of the tensors, because torch composes isclose of several ops.
/// A tolerance is therefore sufficient if it equals the difference after rounding to this dtype. Integers are
/// compared in double precision.
struct IsClose : Binary {
  static constexpr char kName[] = "isclose";
  double rtol, atol;
  bool equal_nan;
  DType dtype;
  template <class T>
  EBB_HD bool value(T a, T b) const {
    if (a == b) return true;
    if (is_nan(a) || is_nan(b)) return equal_nan && is_nan(a) && is_nan(b);
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

using CompareOps = List<Eq, Ne, Lt, Le, Gt, Ge, IsClose>;

}  // namespace ebb::ops
#pragma GCC visibility pop
