// The functions of torch.special that no other group has: entropies, the normal distribution, Bessel, Airy,
// gamma and zeta functions, orthogonal polynomials.
#pragma once

#include "ops/elementwise/formulas/special/airy.h"
#include "ops/elementwise/formulas/special/bessel.h"
#include "ops/elementwise/formulas/special/bessel_k.h"
#include "ops/elementwise/formulas/special/incomplete_gamma.h"
#include "ops/elementwise/formulas/special/normal.h"
#include "ops/elementwise/formulas/special/polynomials.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// -x log(x); 0 at 0, -infinity below.
struct Entr : Unary {
  static constexpr char kName[] = "special_entr";
  template <class X>
  EBB_HD X value(const X& x) const {
    const X inside = where(x > 0, x, constant<X>(1));
    return where(x > 0, -(inside * log(inside)),
                 where(x == 0, constant<X>(0), where(x < 0, constant<X>(-kInfinity), x)));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return -1 - log(x);
  }
};

/// The functions of one number that share one kernel, whose branch is the same for all elements: each alone
/// would cost a kernel a dtype and layout on either device, for nothing.
enum class Special : std::uint8_t {
  airy_ai,
  bessel_j0,
  bessel_j1,
  bessel_y0,
  bessel_y1,
  erfcx,
  i0e,
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

EBB_HD [[gnu::noinline]] inline double special_function(Special kind, double x) {
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
  }
  return x;
}

struct SpecialFunction : Unary {
  static constexpr char kName[] = "special_function";
  static constexpr Run kRun = Run::calls;
  Special kind = Special::erfcx;
  template <class T>
  EBB_HD T value(T x) const {
    return static_cast<T>(special_function(kind, static_cast<double>(x)));
  }
};

/// a log(1 + b), 0 where a is 0 (unless b is NaN).
template <class T>
requires std::is_floating_point_v<T> EBB_HD T xlog1py(T a, T b) {
  if (b != b) return b;
  return a == 0 ? T(0) : a * std::log1p(b);
}

/// Where a = 0 and b <= -1 it is 0 all around, and so is the gradient of a.
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
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return where((k.a == 0) & (k.b <= -1), constant<X>(0), g * log1p(k.b));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return g * k.a / (k.b + 1);
  }
};

/// Functions of two numbers that share one kernel, as those of one number do: gamma functions P and Q of (a,
/// x), Hurwitz's zeta of (s, q), and polynomials of (x, degree).
struct SpecialBinary : Binary {
  enum class Kind : std::uint8_t { igamma, igammac, zeta, polynomial };
  static constexpr char kName[] = "special_function";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  Kind kind = Kind::zeta;
  Polynomial polynomial = Polynomial::chebyshev_t;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return static_cast<T>(in_double(static_cast<double>(a), static_cast<double>(b)));
  }

 private:
  EBB_HD double in_double(double a, double b) const {
    if (kind == Kind::polynomial) return orthogonal_polynomial(polynomial, a, b);
    return kind == Kind::zeta ? hurwitz_zeta(a, b) : incomplete_gamma(a, b, kind == Kind::igammac);
  }
  EBB_HD [[gnu::noinline]] static double hurwitz_zeta(double s, double q) { return zeta(s, q); }
};

using SpecialFunctionOps = List<Entr, SpecialFunction, Xlog1py, SpecialBinary>;

}  // namespace ebb::ops
#pragma GCC visibility pop
