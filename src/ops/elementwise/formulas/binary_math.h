// Formulas of atan2 and hypot with their derivatives, logaddexp, logaddexp2, xlogy, copysign and heaviside.
#pragma once

#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/formulas/extremes.h"
#include "ops/elementwise/formulas/power.h"
#include "ops/elementwise/formulas/predicate.h"
#include "ops/elementwise/formulas/rare.h"
#include "ops/elementwise/formulas/smooth.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Atan2 : Binary {
  static constexpr char kName[] = "atan2";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::lanes;
  template <class T>
  EBB_HD T value(T a, T b) const {
    using std::atan2;
    return atan2(a, b);
  }
};

struct Hypot : Binary {
  static constexpr char kName[] = "hypot";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return std::hypot(a, b);
  }
};

/// First and second derivatives of hypot(a, b) and of the angle atan2(a, b). Each Kind is named after the
/// function and the operands of the derivative: hypot_ab is the derivative with respect to a and b. The other
/// derivatives follow by exchange of a and b. All are 0 at the origin.
/// If a^2 + b^2 is extremely large or small, the point is first scaled by a power of two, so that its
/// distance from the origin is near 1. For floats, the computation in double is enough.
struct PlaneDerivative : Binary {
  enum class Kind : std::uint8_t { hypot_a, hypot_aa, hypot_ab, angle_a, angle_aa, angle_ab };
  static constexpr char kName[] = "plane_derivative";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::lanes;
  Kind kind = Kind::hypot_a;

  template <class X>
  EBB_HD X value(const X& a, const X& b) const {
    const X square = a * a + b * b;
    const auto extreme = is_extreme(square) | is_tiny(a) | is_tiny(b);
    if (!any<X>(extreme)) return near(a, b, square);
    const X slow = one_by_one(a, b, [this](auto x, auto y) {
      if constexpr (sizeof(x) == sizeof(double)) {
        const double scale = scale_of(x, y);
        return far(x * scale, y * scale, scale);
      } else {
        return static_cast<float>(far(static_cast<double>(x), static_cast<double>(y), 1));
      }
    });
    return where(extreme, slow, near(a, b, square));
  }

 private:
  template <class X>
  EBB_HD X near(const X& a, const X& b, const X& square) const {
    const X size = sqrt(square);
    switch (kind) {
      case Kind::hypot_a:
        return a / size;
      case Kind::hypot_aa:
        return b / square * (b / size);
      case Kind::hypot_ab:
        return -a / square * (b / size);
      case Kind::angle_a:
        return b / square;
      case Kind::angle_aa:
        return a / square * -2 * (b / square);
      default:
        return (a - b) / square * ((a + b) / square);
    }
  }

  /// Returns whether the quotient of x and the distance from the origin may be subnormal or 0.
  template <class X>
  EBB_HD static auto is_tiny(const X& x) {
    return (abs(x) < constant<X>(0x1p-70)) & (abs(x) > constant<X>(0));
  }

  /// Returns 2^-e for the exponent e of the larger argument, limited to normal powers of two.
  EBB_HD static double scale_of(double a, double b) {
    const double x = std::fabs(a), y = std::fabs(b);
    const auto exponent = static_cast<std::int64_t>(__builtin_bit_cast(std::uint64_t, x > y ? x : y) >> 52);
    const std::int64_t opposite = exponent < 2045 ? 2046 - exponent : 1;
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(opposite) << 52);
  }

  /// Returns the derivative at (x, y) / scale.
  EBB_HD [[gnu::noinline]] double far(double x, double y, double scale) const {
    constexpr double kEnd = __builtin_inf();
    const bool x_ends = std::fabs(x) == kEnd, y_ends = std::fabs(y) == kEnd;
    if (x_ends || y_ends) {
      x = x_ends ? std::copysign(1.0, x) : x * 0;
      y = y_ends ? std::copysign(1.0, y) : y * 0;
      scale = 0;
    }
    const double square = x * x + y * y, size = std::sqrt(square);
    if (square == 0) return 0;
    const bool steep = std::fabs(x) < std::fabs(y);
    const double least = steep ? x : y, most = steep ? y : x;
    switch (kind) {
      case Kind::hypot_a:
        return x / size;
      case Kind::hypot_aa:
        return scaled(y, y / (square * size), scale);
      case Kind::hypot_ab:
        return -scaled(least, most / (square * size), scale);
      case Kind::angle_a:
        return scaled(y, 1 / square, scale);
      case Kind::angle_aa:
        return scaled(least, most * -2 / (square * square), scale) * scale;
      default:
        return (x - y) * (x + y) / (square * square) * scale * scale;
    }
  }

  /// Returns tiny * factor * scale. A tiny number is multiplied by the scale first, because its product with
  /// the factor would underflow.
  EBB_HD static double scaled(double tiny, double factor, double scale) {
    return std::fabs(tiny) < 0x1p-500 ? tiny * scale * factor : tiny * factor * scale;
  }
};

struct LogAddExp : Binary {
  static constexpr char kName[] = "logaddexp";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if (a == b && IsInf().value(a)) return a;
    const T high = Maximum().value(a, b);
    return high + std::log1p(std::exp(-std::fabs(a - b)));
  }
};

struct LogAddExp2 : Binary {
  static constexpr char kName[] = "logaddexp2";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if (a == b && IsInf().value(a)) return a;
    constexpr T inverse_ln2 = T(1.4426950408889634074);
    return Maximum().value(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) * inverse_ln2;
  }
};

/// The derivative of logaddexp or logaddexp2 with respect to the first operand, sigmoid((a - b) log(base)),
/// or, if `second`, its second derivative with respect to this operand. The exponential amplifies the
/// rounding error of its argument, so this error is corrected.
struct LogAddExpDerivative : Binary {
  static constexpr char kName[] = "logaddexp_derivative";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::lanes;
  bool base_two = false, second = false;
  template <class X>
  EBB_HD X value(const X& a, const X& b) const {
    constexpr double kLn2Rest = 2.3190468138462996e-17;
    const X ln2 = constant<X>(kLn2), ln2_rest = constant_rest<X>(kLn2, kLn2Rest);
    X x = a - b;
    const X back = x - a;
    X rest = (a - (x - back)) - (b + back);
    if (base_two) {
      const X scaled = x * ln2;
      rest = fma(x, ln2, -scaled) + x * ln2_rest + rest * ln2;
      x = scaled;
    }
    rest = where(abs(rest) < 1, rest, constant<X>(0));  // if it is not small, the derivative is 0 or 1
    const X share = sigmoid(x);
    if (!second) return fma(rest * (1 - share), share, share);
    const X turned = rest * (1 - share * 2);
    return logistic_gradient(base_two ? ln2 + (ln2_rest + ln2 * turned) : 1 + turned, x);
  }
};

/// xlogy: a log(b), 0 if a is 0 (unless b is NaN).
template <class T>
  requires std::is_floating_point_v<T>
EBB_HD T xlogy(T a, T b) {
  if (b != b) return b;
  return a == 0 ? T(0) : a * std::log(b);
}

/// xlogy. If a = 0 and b <= 0, the gradient of a is 0, because the function is 0 for all such b.
struct Xlogy : Binary {
  static constexpr char kName[] = "xlogy";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return xlogy(a, b);
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const SavedValues<X>& k) const {
    return where((k.a == 0) & (k.b <= 0), constant<X>(0), xlogy(g, k.b));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const SavedValues<X>& k) const {
    return g * k.a / k.b;
  }
};

struct CopySign : Binary {
  static constexpr char kName[] = "copysign";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return std::copysign(a, b);
  }
};

/// heaviside: 0 below zero, 1 above, b at zero.
struct Heaviside : Binary {
  static constexpr char kName[] = "heaviside";
  template <class T>
  EBB_HD T value(T a, T b) const {
    return a == T(0) ? b : static_cast<T>(a > T(0));
  }
};

using BinaryMathOps = List<Pow, PowDerivative, PowBaseDerivative, Ldexp, Atan2, Hypot, PlaneDerivative,
                           LogAddExp, LogAddExp2, LogAddExpDerivative, Xlogy, CopySign, Heaviside>;

}  // namespace ebb::ops
#pragma GCC visibility pop
