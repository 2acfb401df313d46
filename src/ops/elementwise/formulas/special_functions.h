// Formulas of torch.special: entr, ndtr, erfcx, log_ndtr, ndtri, Bessel and Airy functions, gamma and zeta
// functions, orthogonal polynomials.
#pragma once

#include "ops/elementwise/formulas/special/airy.h"
#include "ops/elementwise/formulas/special/bessel.h"
#include "ops/elementwise/formulas/special/bessel_modified.h"
#include "ops/elementwise/formulas/special/incomplete_gamma.h"
#include "ops/elementwise/formulas/special/normal.h"
#include "ops/elementwise/formulas/special/polynomials.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// entr: -x log(x), 0 at 0, -infinity below.
struct Entr : Unary {
  static constexpr char kName[] = "special_entr";
  template <class X>
  EBB_HD X value(const X& x) const {
    const X inside = where(x > 0, x, constant<X>(1));
    return where(x > 0, -(inside * log(inside)),
                 where(x == 0, constant<X>(0), where(x < 0, constant<X>(-kInfinity), x)));
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return -1 - log(x);
  }
};

/// Unary functions that share one kernel, in which all elements of a call take the same branch. Separate
/// kernels for each function, dtype, layout and device would be more code without a benefit.
enum class Special : std::uint8_t {
  airy_ai,
  bessel_j0,
  bessel_j1,
  bessel_y0,
  bessel_y1,
  erf,
  erfcx,
  erfinv,
  i0e,
  i1,
  i1e,
  k0,
  k0e,
  k1,
  k1e,
  log_ndtr,
  ndtr,
  ndtri,
  spherical_bessel_j0,
};

EBB_HD inline double special_value(Special kind, double x) {
  switch (kind) {
    case Special::airy_ai:
      return airy_ai(x);
    case Special::bessel_j0:
    case Special::bessel_j1:
      return bessel_j(kind == Special::bessel_j1, x);
    case Special::bessel_y0:
    case Special::bessel_y1:
      return bessel_y(kind == Special::bessel_y1, x);
    case Special::erfcx:
      return erfcx(x);
    case Special::i0e:
    case Special::i1e:
      return bessel_ie(kind == Special::i1e, x);
    case Special::k0:
    case Special::k0e:
      return bessel_k(0, x, kind == Special::k0e);
    case Special::k1:
    case Special::k1e:
      return bessel_k(1, x, kind == Special::k1e);
    case Special::log_ndtr:
      return log_ndtr(x);
    case Special::ndtr:
      return ndtr(x);
    case Special::ndtri:
      return ndtri(x);
    case Special::spherical_bessel_j0:
      return x == 0 ? 1 : std::fabs(x) == kInfinity ? 0 : std::sin(x) / x;
    default:  // functions with a separate kernel
      return x;
  }
}

/// Returns the n-th derivative (n = 1 or 2) of a function that the switch lists. The derivative is computed
/// directly. A composition of functions would lose digits by cancellation, overflow or vanish before the
/// derivative does.
EBB_HD inline double special_derivative(Special kind, int n, double x) {
  switch (kind) {
    case Special::bessel_j0:
      return -(n == 1 ? bessel_j(1, x) : bessel_j1_derivative(1, x));
    case Special::bessel_j1:
      return bessel_j1_derivative(n, x);
    case Special::bessel_y0:
      return -(n == 1 ? bessel_y(1, x) : bessel_y1_derivative(1, x));
    case Special::bessel_y1:
      return bessel_y1_derivative(n, x);
    case Special::erf:
      return n == 1 ? times_bell(kTwoOverRootPi, x, 1) : erf_second(x);
    case Special::erfcx:
      return erfcx_derivative(n, x);
    case Special::erfinv:
      return erfinv_derivative(n, x);
    case Special::i0e:
    case Special::i1e:
      return bessel_ie_derivative(kind == Special::i1e, n, x);
    case Special::i1:
      return bessel_i1_derivative(n, x);
    case Special::k0:
      return n == 1 ? -bessel_k(1, x, false) : -bessel_k1_derivative(1, x);
    case Special::k1:
      return bessel_k1_derivative(n, x);
    case Special::log_ndtr:
      return log_ndtr_derivative(n, x);
    case Special::ndtr:
      return n == 1 ? times_bell(kRootOneOver2Pi, x, 2) : ndtr_second(x);
    case Special::ndtri:
      return ndtri_derivative(n, x);
    default:
      return x;
  }
}

struct SpecialFunction : Unary {
  static constexpr char kName[] = "special_function";
  static constexpr Run kRun = Run::calls;
  Special kind = Special::erfcx;
  std::uint8_t derivative = 0;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(in_double(static_cast<double>(x)));
  }

 private:
  EBB_HD [[gnu::noinline]] double in_double(double x) const {
    return derivative == 0 ? special_value(kind, x) : special_derivative(kind, derivative, x);
  }
};

/// xlog1py: a log(1 + b), 0 if a is 0 (unless b is NaN).
template <class T>
  requires std::is_floating_point_v<T>
EBB_HD T xlog1py(T a, T b) {
  if (b != b) return b;
  return a == 0 ? T(0) : a * std::log1p(b);
}

/// xlog1py. If a = 0 and b <= -1, the gradient of a is 0, because the function is 0 for all such b.
struct Xlog1py : Binary {
  static constexpr char kName[] = "special_xlog1py";
  static constexpr char kNode[] = "SpecialXlog1PyBackward0";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return xlog1py(a, b);
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const SavedValues<X>& k) const {
    return where((k.a == 0) & (k.b <= -1), constant<X>(0), g * log1p(k.b));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const SavedValues<X>& k) const {
    return g * k.a / (k.b + 1);
  }
};

/// Returns log Gamma_p(x) = p (p - 1) / 4 log(pi) + the sum over i < p of log Gamma(x - i / 2), or its n-th
/// derivative.
EBB_HD inline double multivariate_gamma(int n, double x, double p) {
  double sum = n == 0 ? p * (p - 1) / 4 * 1.14472988584940017414 : 0;
  for (double i = 0; i < p; i += 1) {
    // If x - i / 2 is inexact near a pole, Gamma is computed at a larger argument y and reduced by Gamma(y -
    // k) = Gamma(y) / ((y - 1) ... (y - k)).
    const double there = x - i / 2, above = std::fmod(i, 2.0) == 0 ? x : x + 0.5;
    const bool steps = x < 1 && exact_sum(x, -i / 2).low != 0;
    const double at = steps ? above : there;
    sum += n == 0 ? log_gamma(at) : n == 1 ? digamma(at) : polygamma(n - 1, at);
    for (double k = 1; steps && k < i / 2 + 1; k += 1) {
      double step = n == 0 ? std::log(std::fabs(above - k)) : 1 / (above - k);
      for (int j = 1; j < n; ++j) step *= -j / (above - k);
      sum -= step;
    }
  }
  return sum;
}

/// Binary functions that share one kernel: the gamma functions P and Q of (a, x), Hurwitz's zeta of (s, q),
/// polynomials of (x, degree), and log Gamma_p of (x, p). If n > 0, the result is the n-th derivative with
/// respect to x or q, which polynomials do not have.
struct SpecialBinary : Binary {
  enum class Kind : std::uint8_t { igamma, igammac, zeta, polynomial, mvlgamma };
  static constexpr char kName[] = "special_function";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  Kind kind = Kind::zeta;
  Polynomial polynomial = Polynomial::chebyshev_t;
  int n = 0;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return static_cast<T>(in_double(static_cast<double>(a), static_cast<double>(b)));
  }

 private:
  EBB_HD [[gnu::noinline]] double in_double(double a, double b) const {
    switch (kind) {
      case Kind::igamma:
        return n == 0 ? incomplete_gamma(a, b, false) : gamma_density(n, a, b);
      case Kind::igammac:
        return n == 0 ? incomplete_gamma(a, b, true) : -gamma_density(n, a, b);
      case Kind::zeta:
        return zeta_derivative(n, a, b);
      case Kind::polynomial:
        return orthogonal_polynomial(polynomial, a, b);
      default:
        return multivariate_gamma(n, a, b);
    }
  }
};

using SpecialFunctionOps = List<Entr, SpecialFunction, Xlog1py, SpecialBinary>;

}  // namespace ebb::ops
#pragma GCC visibility pop
