// Formulas of two and three operands beyond arithmetic, and the fused gradients, for host and device.
#pragma once

#include "ops/elementwise/math_unary.h"

#pragma GCC visibility push(default)
namespace ebb::ops {

struct Pow {
  static constexpr char kName[] = "pow";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::pow(a, b);
    } else if constexpr (std::is_same_v<T, bool>) {
      return a || !b;
    } else {
      if (b < 0) return a == 1 ? T(1) : a == T(-1) ? (b % 2 ? T(-1) : T(1)) : T(0);
      T r = 1;
      for (; b; b = static_cast<T>(b / 2), a = Mul()(a, a))
        if (b & 1) r = Mul()(r, a);
      return r;
    }
  }
};

struct Atan2 {
  static constexpr char kName[] = "atan2";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return std::atan2(a, b);
  }
};

struct Hypot {
  static constexpr char kName[] = "hypot";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return std::hypot(a, b);
  }
};

struct LogAddExp {
  static constexpr char kName[] = "logaddexp";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if (a == b && IsInf()(a)) return a;
    const T high = Maximum()(a, b);
    return high + std::log1p(std::exp(-std::fabs(a - b)));
  }
};

struct LogAddExp2 {
  static constexpr char kName[] = "logaddexp2";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if (a == b && IsInf()(a)) return a;
    constexpr T inverse_ln2 = T(1.4426950408889634074);
    return Maximum()(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) * inverse_ln2;
  }
};

/// a log(b), 0 where a is 0 (unless b is NaN).
struct Xlogy {
  static constexpr char kName[] = "xlogy";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if (b != b) return b;
    return a == 0 ? T(0) : a * std::log(b);
  }
};

struct CopySign {
  static constexpr char kName[] = "copysign";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
};

/// 0 below zero, 1 above, b at zero.
struct Heaviside {
  static constexpr char kName[] = "heaviside";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    return a == T(0) ? b : static_cast<T>(a > T(0));
  }
};

/// g (1 - y^2): the gradient of tanh from its result.
struct TanhGrad {
  static constexpr char kName[] = "tanh_backward";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T g, T y) const {
    return g * (T(1) - y * y);
  }
};

/// g y (1 - y): the gradient of sigmoid from its result.
struct SigmoidGrad {
  static constexpr char kName[] = "sigmoid_backward";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T g, T y) const {
    return g * ((T(1) - y) * y);
  }
};

/// Passes g where x > threshold (or x is NaN).
struct ThresholdGrad {
  static constexpr char kName[] = "threshold_backward";
  static constexpr Types kTypes = Types::numeric;
  Number threshold;
  template <class T>
  EBB_HD T operator()(T g, T x) const {
    return x <= threshold.as<T>() ? T(0) : g;
  }
};

/// g F(x) in one pass: the gradient of a function whose derivative is F.
template <class F>
struct Times {
  static constexpr char kName[] = "mul";
  static constexpr Types kTypes = Types::floating;
  F f;
  template <class T>
  EBB_HD T operator()(T g, T x) const {
    return g * f(x);
  }
};

struct Where {
  static constexpr char kName[] = "where";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(bool condition, T a, T b) const {
    // By bits: written as a choice the compiler makes it a branch around a load, which does not vectorise.
    if constexpr (sizeof(T) == 4)
      return pick<std::uint32_t>(condition, a, b);
    else if constexpr (sizeof(T) == 8)
      return pick<std::uint64_t>(condition, a, b);
    else
      return condition ? a : b;
  }

 private:
  template <class Bits, class T>
  EBB_HD static T pick(bool condition, T a, T b) {
    const Bits mask = Bits(0) - static_cast<Bits>(condition);
    return __builtin_bit_cast(T,
                              (__builtin_bit_cast(Bits, a) & mask) | (__builtin_bit_cast(Bits, b) & ~mask));
  }
};

/// a + weight (b - a), from the nearer end, so that weight 1 gives b.
struct Lerp {
  static constexpr char kName[] = "lerp";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T a, T b, T weight) const {
    return std::fabs(weight) < T(0.5) ? a + weight * (b - a) : b - (b - a) * (T(1) - weight);
  }
};

struct AddCMul {
  static constexpr char kName[] = "addcmul";
  static constexpr Types kTypes = Types::numeric;
  Number value;
  template <class T>
  EBB_HD T operator()(T x, T a, T b) const {
    return Add()(x, Mul()(Mul()(value.as<T>(), a), b));
  }
};

struct AddCDiv {
  static constexpr char kName[] = "addcdiv";
  static constexpr Types kTypes = Types::floating;
  Number value;
  template <class T>
  EBB_HD T operator()(T x, T a, T b) const {
    return x + value.as<T>() * a / b;
  }
};

/// min(max(x, low), high) where given; NaN stays.
struct Clamp {
  static constexpr char kName[] = "clamp";
  static constexpr Types kTypes = Types::all;
  Number low, high;
  bool has_low = false, has_high = false;
  template <class T>
  EBB_HD T operator()(T x) const {
    if (has_low) x = x < low.as<T>() ? low.as<T>() : x;
    if (has_high) x = x > high.as<T>() ? high.as<T>() : x;
    return x;
  }
};

/// The same between tensors; a NaN bound gives NaN.
struct ClampBetween {
  static constexpr char kName[] = "clamp";
  static constexpr Types kTypes = Types::all;
  template <class T>
  EBB_HD T operator()(T x, T low, T high) const {
    return Minimum()(Maximum()(x, low), high);
  }
};

/// Passes g where low <= x <= high.
struct ClampGrad {
  static constexpr char kName[] = "clamp_backward";
  static constexpr Types kTypes = Types::numeric;
  Number low, high;
  bool has_low = false, has_high = false;
  template <class T>
  EBB_HD T operator()(T g, T x) const {
    return (!has_low || x >= low.as<T>()) && (!has_high || x <= high.as<T>()) ? g : T(0);
  }
};

}  // namespace ebb::ops
#pragma GCC visibility pop
