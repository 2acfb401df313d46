// Formulas of erf, erfc, erfinv, lgamma, digamma, polygamma, i0 and logit.
#pragma once

#include "ops/elementwise/formulas/special/bessel_i.h"
#include "ops/elementwise/formulas/special/sinc.h"
#include "ops/elementwise/formulas/special/zeta.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// The inverse of erf. It starts with Winitzki's approximation and refines it by Newton's method on erf, or
/// on erfc if that is more accurate.
EBB_HD inline double erfinv(double y) {
  const double a = std::fabs(y);
  if (!(a < 1)) return a == 1 ? std::copysign(static_cast<double>(__builtin_inff()), y) : quiet_nan<double>();
  if (a == 0) return y;
  const double tail = 1 - a, log_term = std::log(tail * (1 + a)), half = 2 / (kPi * 0.147) + log_term / 2;
  double x = std::sqrt(std::sqrt(half * half - log_term / 0.147) - half);
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(x) - a : tail - std::erfc(x);
    const double step = error * 0.88622692545275801365 * std::exp(x * x);  // divided by erf'(x)
    x -= step / (1 + x * step);                                            // Halley's correction
  }
  return std::copysign(x, y);
}

constexpr double kTwoOverRootPi = 1.12837916709551257390;

struct Erf : Unary {
  static constexpr char kName[] = "erf";
  template <class X>
  EBB_HD X value(const X& x) const {
    return erf(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return exp(-(x * x)) * constant<X>(kTwoOverRootPi);
  }
  template <class X>
  X bend(const X& g, const X& x) const {
    return g * erf_derivative(2, x);
  }
};

struct Erfc : Unary {
  static constexpr char kName[] = "erfc";
  template <class X>
  EBB_HD X value(const X& x) const {
    return erfc(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return exp(-(x * x)) * constant<X>(-kTwoOverRootPi);
  }
  template <class X>
  X bend(const X& g, const X& x) const {
    return -g * erf_derivative(2, x);
  }
};

struct Erfinv : Unary {
  static constexpr char kName[] = "erfinv";
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(erfinv(static_cast<double>(x)));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return erfinv_derivative(1, x);
  }
};

/// Returns log |Gamma(x)|. It uses the variant that does not write the sign to a global variable.
template <class T>
EBB_HD T log_gamma(T x) {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
  return std::lgamma(x);
#else
  int sign;
  return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
#endif
}

struct Lgamma : Unary {
  static constexpr char kName[] = "lgamma";
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
    return log_gamma(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return digamma(x);
  }
};

struct Digamma : Unary {
  static constexpr char kName[] = "digamma";
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(digamma(static_cast<double>(x)));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return polygamma(1, x);
  }
};

struct Polygamma : Unary {
  static constexpr char kName[] = "polygamma";
  static constexpr Run kRun = Run::calls;
  int n = 1;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(polygamma(n, static_cast<double>(x)));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return polygamma(n + 1, x);
  }
};

/// logit: log(x / (1 - x)). With eps >= 0, x is clamped to [eps, 1 - eps], and the gradient outside is 0.
/// Without eps, the gradient outside of [0, 1] is NaN.
struct Logit : Unary {
  static constexpr char kName[] = "logit";
  double eps = -1;
  template <class X>
  EBB_HD X value(X x) const {
    if (eps >= 0) {
      const auto low = constant<X>(eps), high = constant<X>(1 - eps);
      x = where(x < low, low, where(x > high, high, x));
    }
    return log(x / (1 - x));
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    const auto low = constant<X>(eps >= 0 ? eps : 0), high = constant<X>(eps >= 0 ? 1 - eps : 1);
    return where((x >= low) & (x <= high), g / (x * (1 - x)),
                 constant<X>(eps >= 0 ? 0 : quiet_nan<double>()));
  }
  template <class X>
  X bend(const X& g, const X& x) const {
    return gradient_of(*this, g * (x * 2 - 1) / (x * (1 - x)), x);
  }
};

/// i0: the modified Bessel function of the first kind of order 0.
struct BesselI0 : Unary {
  static constexpr char kName[] = "i0";
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(bessel_i(0, static_cast<double>(x)));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return special_i1(x);
  }
};

struct BesselI1 : Unary {
  static constexpr char kName[] = "special_i1";
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(bessel_i(1, static_cast<double>(x)));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return bessel_i1_derivative(1, x);
  }
};

using SpecialOps =
    List<Erf, Erfc, Erfinv, Lgamma, Digamma, Polygamma, Logit, Sinc, SincDerivative, BesselI0, BesselI1>;

}  // namespace ebb::ops
#pragma GCC visibility pop
