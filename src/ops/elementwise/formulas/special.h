// Formulas of erf, erfc, erfinv, lgamma, digamma, polygamma, logit, sinc, i0 and special_i1.
#pragma once

#include "ops/elementwise/formula.h"
#include "ops/elementwise/formulas/special/bessel_modified.h"
#include "ops/elementwise/formulas/special/erfinv.h"
#include "ops/elementwise/formulas/special/gamma.h"
#include "ops/elementwise/formulas/special/zeta.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

constexpr double kTwoOverRootPi = 1.12837916709551257390;

struct Erf : Unary {
  static constexpr char kName[] = "erf";
  template <class X>
  EBB_HD X value(const X& x) const {
    return erf(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return exp(-(x * x)) * constant<X>(kTwoOverRootPi);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
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
  EBB_HD X derivative(const X& x) const {
    return exp(-(x * x)) * constant<X>(-kTwoOverRootPi);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return -g * erf_derivative(2, x);
  }
};

struct Erfinv : Unary {
  static constexpr char kName[] = "erfinv";
  static constexpr bool kFuses = false;
  template <class X>
  EBB_HD X value(const X& x) const {
    return inverse_erf(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return erfinv_derivative(1, x);
  }
};

struct Lgamma : Unary {
  static constexpr char kName[] = "lgamma";
  static constexpr bool kFuses = false;
  template <class X>
  EBB_HD X value(const X& x) const {
    if constexpr (std::is_arithmetic_v<X>)
      return log_gamma(x);
    else
      return in_double(x, [](const auto& at) { return log_gamma_lanes<!carries_floats<X>()>(at); });
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return digamma(x);
  }
};

struct Digamma : Unary {
  static constexpr char kName[] = "digamma";
  static constexpr bool kFuses = false;
  template <class X>
  EBB_HD X value(const X& x) const {
    return in_double(x, [](const auto& at) { return digamma_of(at); });
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
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
  EBB_HD X derivative(const X& x) const {
    return polygamma(n + 1, x);
  }
};

/// logit: log(x / (1 - x)). With eps >= 0, x is clamped to [eps, 1 - eps], and the gradient is 0 outside of
/// this interval. Without eps, the gradient is NaN outside of [0, 1].
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
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * (x * 2 - 1) / (x * (1 - x)), x);
  }
};

/// sin(pi x) and cos(pi x) for x >= 0. First x is reduced modulo 2, which is exact. Then the sine is computed
/// from the distance of x to the nearest zero of the sine.
template <class X>
struct HalfTurns {
  X turn;  // in [0, 2)
  EBB_HD explicit HalfTurns(const X& x) {
    using std::trunc;
    turn = x - 2 * trunc(x * constant<X>(0.5));
  }
  EBB_HD X sine() const {
    const auto half = constant<X>(0.5);
    return sin(constant<X>(kPi) * where(turn < half, turn, where(turn < half * 3, 1 - turn, turn - 2)));
  }
  EBB_HD X cosine() const {
    return sin(constant<X>(kPi) * (constant<X>(0.5) - where(turn < constant<X>(1), turn, 2 - turn)));
  }
};

/// Returns the n-th derivative of f(x) = sin(pi x) / (pi x), n >= 2. Near 0 it uses the power series. For
/// larger x, where the terms of the series would cancel, it uses the recurrence x f^(n) + n f^(n-1) =
/// pi^(n-1) sin(pi x + n pi / 2), which begins with f itself.
EBB_HD [[gnu::noinline]] inline double sinc_derivative(int n, double x) {
  const double size = std::fabs(x);
  if (size == __builtin_inf()) return 0;
  double out = 0;
  if (size < (n + 1) * 0.25) {
    double term = n % 2 ? size / (n + 2) : 1.0 / (n + 1);
    for (int i = 0; i < (n + 1) / 2; ++i) term *= -kPi * kPi;
    for (double k = (n + 1) / 2; std::fabs(term) > 1e-18 * std::fabs(out); ++k) {
      out += term;
      term *= -kPi * size * (kPi * size) * (2 * k + 1) / ((2 * k + 3) * (2 * k - n + 1) * (2 * k - n + 2));
    }
  } else {
    const HalfTurns<double> at(size);
    const double sine = at.sine(), cosine = at.cosine(), wave[] = {sine, cosine, -sine, -cosine};
    out = sine / (kPi * size);
    double power = 1;
    for (int i = 1; i <= n; ++i, power *= kPi) out = (power * wave[i % 4] - i * out) / size;
  }
  return n % 2 && x < 0 ? -out : out;
}

/// sinc: sin(pi x) / (pi x), 1 at 0 and 0 at infinity.
struct Sinc : Unary {
  static constexpr char kName[] = "sinc";
  template <class X>
  EBB_HD X value(const X& x) const {
    const X size = abs(x), zero = constant<X>(0), one = constant<X>(1);
    const X out = HalfTurns<X>(size).sine() / (size * constant<X>(kPi));
    return where(size == zero, one,
                 where(size == constant<X>(static_cast<double>(__builtin_inff())), zero, out));
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const X size = abs(x);
    const HalfTurns<X> at(size);
    const X far = (at.cosine() - at.sine() / (size * constant<X>(kPi))) / x;
    const X beside = where(size == constant<X>(static_cast<double>(__builtin_inff())), constant<X>(0), far);
    return where(size < constant<X>(0.5), x * series(x * x), beside);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return g * sinc_derivative(2, x);
  }

 private:
  // Term k is (-1)^k 2k pi^(2k) / (2k + 1)!.
  template <class X>
  EBB_HD static X series(const X& square) {
    constexpr double kTerms[] = {-7.3658937770969467e-11, 3.4330769499642866e-9,  -1.3148481279991995e-7,
                                 4.0499478466192442e-6,   -9.7662231263189327e-5, 0.0017811455163728520,
                                 -0.023460810354558236,   0.20918278254123840,    -1.1445109447325053,
                                 3.2469697011334146,      -3.2898681336964529};
    X sum = constant<X>(1.3217901389162317e-12);
    for (const double term : kTerms) sum = sum * square + constant<X>(term);
    return sum;
  }
};

/// The n-th derivative of sinc, n >= 2. It has no vector kernel.
struct SincDerivative : Unary {
  static constexpr char kName[] = "sinc_derivative";
  static constexpr Run kRun = Run::calls;
  int n = 2;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(sinc_derivative(n, static_cast<double>(x)));
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return sinc_derivative(n + 1, x);
  }
};

/// i0: the modified Bessel function of the first kind of order 0.
struct BesselI0 : Unary {
  static constexpr char kName[] = "i0";
  static constexpr bool kFuses = false;
  template <class X>
  EBB_HD X value(const X& x) const {
    return in_double(x, [](const auto& at) { return bessel_i(0, at); });
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return special_i1(x);
  }
};

struct BesselI1 : Unary {
  static constexpr char kName[] = "special_i1";
  static constexpr bool kFuses = false;
  template <class X>
  EBB_HD X value(const X& x) const {
    return in_double(x, [](const auto& at) { return bessel_i(1, at); });
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return bessel_i1_derivative(1, x);
  }
};

using SpecialOps =
    List<Erf, Erfc, Erfinv, Lgamma, Digamma, Polygamma, Logit, Sinc, SincDerivative, BesselI0, BesselI1>;

}  // namespace ebb::ops
#pragma GCC visibility pop
