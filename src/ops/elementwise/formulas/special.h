// Error functions, gamma functions, Bessel functions, logit.
#pragma once

#include "ops/elementwise/formulas/special/sinc.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// psi(x): reflection for negative x, recurrence up to 10, then the asymptotic series.
EBB_HD inline double digamma(double x) {
  if (x == 0) return std::copysign(static_cast<double>(__builtin_inff()), -x);
  double reflected = 0;
  if (x < 0) {
    if (x == std::floor(x)) return quiet_nan<double>();
    const double from_pole = x - std::rint(x);  // exact
    reflected = std::fabs(from_pole) < 1e-8 ? kPi * kPi / 3 * from_pole - 1 / from_pole
                                            : -kPi / std::tan(kPi * from_pole);
    x = 1 - x;
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double r = 1 / (x * x);
  const double tail =
      r *
      (1.0 / 12 -
       r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 - r / 12))))));
  return reflected + sum + std::log(x) - 0.5 / x - tail;
}

/// The Hurwitz zeta function sum (q + k)^-s for s > 1 and q > 0: direct terms while they count, then Euler
/// and Maclaurin's remainder (DLMF 25.11.5), whose terms shrink by 40 each once q > s.
EBB_HD [[gnu::noinline]] inline double zeta_right(double s, double q) {
  double sum = 0;
  for (; q < s + 10; q += 1) {
    const double direct = std::pow(q, -s);
    sum += direct;
    if (direct <= 1e-17 * sum) return sum;
  }
  // B_2k / (2k)!
  constexpr double bernoulli[] = {1.0 / 12,
                                  -1.0 / 720,
                                  1.0 / 30240,
                                  -1.0 / 1209600,
                                  1.0 / 47900160,
                                  -5.2841901386874932e-10,
                                  1.3382536530684679e-11,
                                  -3.3896802963225829e-13,
                                  8.5860620562778446e-15,
                                  -2.1748686985580619e-16,
                                  5.5090028283602295e-18,
                                  -1.3954464685812523e-19};
  const double power = std::pow(q, -s);
  // The integral is a normal number for longer than the power is.
  sum += (power > 1e-290 ? power * q : std::pow(q, 1 - s)) / (s - 1) + power / 2;
  double term = power / q * s;
  for (int k = 0; k < 12; ++k) {
    sum += bernoulli[k] * term;
    term *= (s + 2 * k + 1) / q * ((s + 2 * k + 2) / q);
  }
  return sum;
}

/// The same for any s and q; infinite at s = 1 and at the poles q = 0, -1, ..., NaN for s < 1. The terms left
/// of 0 are a sum to the right of it, mirrored: no long way up from far below.
EBB_HD inline double zeta(double s, double q) {
  if (!(s > 1)) return s == 1 ? static_cast<double>(__builtin_inff()) : quiet_nan<double>();
  if (!(q < __builtin_inf())) return q == q ? 0 : q;
  if (q > 0) return zeta_right(s, q);
  if (q == std::floor(q)) return static_cast<double>(__builtin_inff());
  if (s != std::floor(s)) return quiet_nan<double>();
  // First what may cancel, half-way between two poles wholly.
  const double right = zeta_right(s, q - std::floor(q)), left = zeta_right(s, std::ceil(q) - q);
  const double beyond = zeta_right(s, 1 - q);
  return std::fmod(s, 2.0) == 0 ? right + left - beyond : right - left + beyond;
}

/// The n-th derivative of digamma, n >= 1: (-1)^(n+1) n! zeta(n + 1, x).
EBB_HD inline double polygamma(int n, double x) {
  double factorial = 1;
  for (int i = 2; i <= n; ++i) factorial *= i;
  return (n % 2 ? 1 : -1) * factorial * zeta(n + 1.0, x);
}

/// Winitzki's approximation polished by Newton's method on erf, in terms of erfc where that is more exact.
EBB_HD inline double erfinv(double y) {
  const double a = std::fabs(y);
  if (!(a < 1)) return a == 1 ? std::copysign(static_cast<double>(__builtin_inff()), y) : quiet_nan<double>();
  if (a == 0) return y;
  const double tail = 1 - a, log_term = std::log(tail * (1 + a)), half = 2 / (kPi * 0.147) + log_term / 2;
  double x = std::sqrt(std::sqrt(half * half - log_term / 0.147) - half);
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(x) - a : tail - std::erfc(x);
    const double step = error * 0.88622692545275801365 * std::exp(x * x);  // over erf'(x)
    x -= step / (1 + x * step);                                            // Halley's correction
  }
  return std::copysign(x, y);
}

/// The modified Bessel function I_order(x) for order 0 or 1, times e^-|x| if scaled: the power series, whose
/// terms are all positive, and from 20 on the asymptotic one, which has reached double precision there.
EBB_HD inline double bessel_i(int order, double x, bool scaled = false) {
  const double a = std::fabs(x);
  if (a != a) return a;
  double sum = 1, term = 1;
  if (a < 20) {
    const double square = a * a / 4;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= square / (k * (k + order));
    if (order == 1) sum *= a / 2;
    if (scaled) sum *= std::exp(-a);
  } else {
    for (int k = 1; k < 30; ++k) {
      const double odd = 2 * k - 1;
      const double next = term * (odd * odd - 4 * order) / (8 * a * k);
      if (std::fabs(next) > std::fabs(term) || std::fabs(next) < 1e-17 * sum) break;
      sum += term = next;
    }
    // In two factors: e^a overflows before the result does.
    const double root = scaled ? 1 : std::exp(a / 2);
    sum = root * (sum / (std::sqrt(2 * kPi) * std::sqrt(a))) * root;
  }
  return order == 1 && x < 0 ? -sum : sum;
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
};

struct Erfinv : Unary {
  static constexpr char kName[] = "erfinv";
  static constexpr Keep kKeep = Keep::result;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(erfinv(static_cast<double>(x)));
  }
  template <class X>
  EBB_HD X slope(const X& y) const {
    return exp(y * y) * constant<X>(1 / kTwoOverRootPi);
  }
};

/// log |Gamma(x)|, through the variant that leaves no sign behind in a global.
struct Lgamma : Unary {
  static constexpr char kName[] = "lgamma";
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
    return std::lgamma(x);
#else
    int sign;
    return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
#endif
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

/// log(x / (1 - x)); with eps of x clamped to [eps, 1 - eps], where the gradient stops, and NaN outside [0,
/// 1] without.
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

/// The modified Bessel functions of the first kind.
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
  /// I0 - I1 / x, which is 1/2 at 0.
  template <class X>
  EBB_HD X slope(const X& x) const {
    const auto zero = x == 0;
    const X divisor = where(zero, constant<X>(1), x);
    return where(zero, constant<X>(0.5), i0(divisor) - special_i1(divisor) / divisor);
  }
};

using SpecialOps =
    List<Erf, Erfc, Erfinv, Lgamma, Digamma, Polygamma, Logit, Sinc, SincDerivative, BesselI0, BesselI1>;

}  // namespace ebb::ops
#pragma GCC visibility pop
