// Rows of torch.special: special functions against the standard library, recurrences and integrals; Bessel
// functions and divisors.
#include <ebb/ops/special.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

// torch.special: against the special functions of the standard library, recurrences and integrals.

namespace optable {
namespace {

constexpr double kInf = INFINITY, kNan = NAN;
const char* const kNoDerivative = "PyTorch has no derivative of it either";

Row& real(const char* name, Variable (*f)(V)) {
  return unary(name, f).accurate(3e-13, 1e-6).given_integers(Gives::floating);
}

/// Returns the x for which f(x) = y, where f is increasing.
double inverse_of(double (*f)(double), double y) {
  if (y == 1) return kInf;
  double low = -9, high = 9;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (f(middle) < y ? low : high) = middle;
  }
  return low;
}

double normal(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

void distributions() {
  real("special_entr", ebb::special_entr)
      .range(0.2, 3)
      .reference([](double x) { return -x * std::log(x); })
      .at({0}, 0, {kInf})
      .at({1}, 0, {-1})
      .at({-2}, -kInf)
      .at({kNan}, kNan)
      .node("SpecialEntrBackward0");
  real("special_erfcx", ebb::special_erfcx)
      .range(-2, 4)
      .reference([](double x) { return std::exp(x * x) * std::erfc(x); })
      .at({0}, 1, {-2 / std::sqrt(M_PI)}, 1e-15)
      .at({kInf}, 0)
      .at({-kInf}, kInf)
      .node("SpecialErfcxBackward0");
  real("special_ndtr", ebb::special_ndtr)
      .range(-4, 4)
      .finite()
      .reference(normal)
      .at({kInf}, 1)
      .at({-kInf}, 0);
  real("special_log_ndtr", ebb::special_log_ndtr)
      .range(-4, 4)
      .reference([](double x) { return std::log(normal(x)); })
      .at({-kInf}, -kInf)
      .at({kInf}, 0)
      .node("SpecialLogNdtrBackward0");
  real("special_ndtri", ebb::special_ndtri)
      .range(0.05, 0.95)
      .reference([](double p) { return inverse_of(normal, p); })
      .at({0.5}, 0, {std::sqrt(2 * M_PI)}, 1e-15)
      .at({0}, -kInf)
      .at({1}, kInf)
      .at({1.5}, kNan)
      .node("SpecialNdtriBackward0");
}

double over_magnitude(double x, double f) { return std::exp(-std::fabs(x)) * f; }

void bessel() {
  real("special_bessel_j0", ebb::special_bessel_j0)
      .range(0.1, 12)
      .finite()
      .reference([](double x) { return std::cyl_bessel_j(0, x); })
      .at({0}, 1, {0})
      .at({kInf}, 0)
      .node("SpecialBesselJ0Backward0");
  real("special_bessel_j1", ebb::special_bessel_j1)
      .range(0.1, 12)
      .finite()
      .reference([](double x) { return std::cyl_bessel_j(1, x); })
      .at({0}, 0, {0.5})
      .node("SpecialBesselJ1Backward0");
  real("special_bessel_y0", ebb::special_bessel_y0)
      .range(0.5, 12)
      .reference([](double x) { return std::cyl_neumann(0, x); })
      .at({0}, -kInf)
      .at({-1}, kNan)
      .node("SpecialBesselY0Backward0");
  real("special_bessel_y1", ebb::special_bessel_y1)
      .range(0.5, 12)
      .reference([](double x) { return std::cyl_neumann(1, x); })
      .at({0}, -kInf)
      .at({-1}, kNan)
      .node("SpecialBesselY1Backward0");
  real("special_i0e", ebb::special_i0e)
      .range(-25, 25)
      .kinks({0})
      .reference([](double x) { return over_magnitude(x, std::cyl_bessel_i(0, std::fabs(x))); })
      .at({0}, 1, {0})
      .at({kInf}, 0)
      .node("SpecialI0EBackward0");
  real("special_i1e", ebb::special_i1e)
      .range(-25, 25)
      .kinks({0})
      .reference(
          [](double x) { return std::copysign(over_magnitude(x, std::cyl_bessel_i(1, std::fabs(x))), x); })
      .at({0}, 0, {0.5})
      .node("SpecialI1EBackward0");
  real("special_modified_bessel_k0", ebb::special_modified_bessel_k0)
      .range(0.3, 4)
      .reference([](double x) { return std::cyl_bessel_k(0, x); })
      .at({0}, kInf)
      .at({-1}, kNan)
      .node("SpecialModifiedBesselK0Backward0");
  real("special_modified_bessel_k1", ebb::special_modified_bessel_k1)
      .range(0.3, 4)
      .reference([](double x) { return std::cyl_bessel_k(1, x); })
      .at({0}, kInf)
      .at({-1}, kNan)
      .node("SpecialModifiedBesselK1Backward0");
  real("special_scaled_modified_bessel_k0", ebb::special_scaled_modified_bessel_k0)
      .range(0.3, 12)
      .order(0, kNoDerivative)
      .reference([](double x) { return std::exp(x) * std::cyl_bessel_k(0, x); })
      .at({kInf}, 0);
  real("special_scaled_modified_bessel_k1", ebb::special_scaled_modified_bessel_k1)
      .range(0.3, 12)
      .order(0, kNoDerivative)
      .reference([](double x) { return std::exp(x) * std::cyl_bessel_k(1, x); });
  real("special_spherical_bessel_j0", ebb::special_spherical_bessel_j0)
      .range(-9, 9)
      .order(0, kNoDerivative)
      .reference([](double x) { return std::sph_bessel(0, std::fabs(x)); })
      .at({0}, 1)
      .at({-kInf}, 0);
  // DLMF 9.6.1 and 9.6.6.
  real("special_airy_ai", ebb::special_airy_ai)
      .range(-9, 6)
      .kinks({0})
      .order(0, kNoDerivative)
      .reference([](double x) {
        const double a = std::fabs(x), zeta = 2 * a * std::sqrt(a) / 3, third = 1.0 / 3;
        if (x > 0) return std::sqrt(x / 3) / M_PI * std::cyl_bessel_k(third, zeta);
        const double minus = std::cos(M_PI / 3) * std::cyl_bessel_j(third, zeta) -
                             std::sin(M_PI / 3) * std::cyl_neumann(third, zeta);
        return std::sqrt(a) / 3 * (std::cyl_bessel_j(third, zeta) + minus);
      })
      .at({kInf}, 0)
      .at({-kInf}, 0);
}

// Computes P(a, x) with Simpson's rule after the substitution x = t^2, for a >= 1: the integrand is smooth.
double lower_gamma(double a, double x) {
  const int n = 4000;
  const double h = std::sqrt(x) / n;
  double sum = 0;
  for (int i = 0; i <= n; ++i) {
    const double t = i * h, f = t == 0 ? (a == 0.5 ? 2 : 0) : 2 * std::exp((2 * a - 1) * std::log(t) - t * t);
    sum += f * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
  }
  return sum * h / 3 / std::tgamma(a);
}

// Sums the first terms directly, and adds an integral with its first corrections for the rest.
double hurwitz(double s, double q) {
  double sum = 0;
  for (int k = 0; k < 200; ++k) sum += std::pow(q + k, -s);
  const double end = q + 200;
  return sum + std::pow(end, 1 - s) / (s - 1) + std::pow(end, -s) / 2 + s * std::pow(end, -s - 1) / 12;
}

double multivariate(double x) {
  return 1.5 * std::log(M_PI) + std::lgamma(x) + std::lgamma(x - 0.5) + std::lgamma(x - 1);
}

void gammas() {
  binary("igamma", ebb::igamma)
      .range(1.5, 4)
      .range(0.5, 5)
      .constant(0)
      .accurate(1e-11, 1e-6)
      .reference(lower_gamma)
      .node("IgammaBackward0")
      .error("floating-point", [] { ebb::igamma(ebb::ones({2}, ebb::kLong), ebb::ones({2}, ebb::kLong)); })
      .error("by self is not implemented", [] {
        const Variable a = ebb::ones({2}).requires_grad_();
        ebb::igamma(a, ebb::ones({2})).sum().backward();
      });
  binary("igammac", ebb::igammac)
      .range(1.5, 4)
      .range(0.5, 5)
      .constant(0)
      .accurate(1e-11, 1e-6)
      .reference([](double a, double x) { return 1 - lower_gamma(a, x); })
      .node("IgammacBackward0");
  const char* const by_self = "PyTorch has no derivative by the first argument either";
  binary("igamma.in_place", ebb::igamma)
      .range(1.5, 4)
      .range(0.5, 5)
      .accurate(1e-11, 1e-6)
      .order(0, by_self)
      .reference(lower_gamma)
      .in_place([](In x) { return ebb::igamma_(x[0], x[1]); });
  binary("igammac.in_place", ebb::igammac)
      .range(1.5, 4)
      .range(0.5, 5)
      .accurate(1e-11, 1e-6)
      .order(0, by_self)
      .reference([](double a, double x) { return 1 - lower_gamma(a, x); })
      .in_place([](In x) { return ebb::igammac_(x[0], x[1]); });
  unary("mvlgamma", [](V x) { return ebb::mvlgamma(x, 3); })
      .composed()
      .range(1.3, 5)
      .accurate(1e-13, 1e-5)
      .reference(multivariate)
      .in_place([](In x) { return ebb::mvlgamma_(x[0], 3); })
      .given_integers(Gives::floating)
      .error("greater than or equal to 1", [] { ebb::mvlgamma(ebb::ones({2}), 0); });
  binary("special_zeta", [](V s, V q) { return ebb::special_zeta(s, q); })
      .range(1.5, 6)
      .range(0.5, 5)
      .constant(0)
      .accurate(1e-11, 1e-6)
      .reference(hurwitz)
      .node("SpecialZetaBackward0")
      .at({1, 2}, kInf)
      .at({0.5, 2}, kNan)
      .at({2, -1}, kInf)
      .error("by self is not implemented",
             [] { ebb::special_zeta(ebb::full({2}, 2.0).requires_grad_(), 1).sum().backward(); });
  unary("special_zeta.number", [](V s) { return ebb::special_zeta(s, 1); })
      .range(1.5, 6)
      .order(0, "PyTorch has no derivative by the exponent either")
      .accurate(1e-13, 1e-6)
      .reference([](double s) { return std::riemann_zeta(s); });
  unary("special_zeta.number_first", [](V q) { return ebb::special_zeta(2.5, q); })
      .range(0.5, 5)
      .accurate(1e-11, 1e-6)
      .reference([](double q) { return hurwitz(2.5, q); });
  binary("special_xlog1py", [](V a, V b) { return ebb::special_xlog1py(a, b); })
      .range(-2, 2)
      .range(-0.8, 3)
      .kinks({0})
      .reference([](double a, double b) { return a * std::log1p(b); })
      .at({0, -1}, 0)
      .at({0, -3}, 0)
      .at({0, kNan}, kNan)
      .at({2, 0}, 0, {0, 2})
      .node("SpecialXlog1PyBackward0");
  unary("special_xlog1py.number", [](V x) { return ebb::special_xlog1py(x, 1.5); }).reference([](double x) {
    return x * std::log(2.5);
  });
  unary("special_xlog1py.number_first", [](V x) { return ebb::special_xlog1py(2.5, x); })
      .range(-0.7, 2)
      .reference([](double x) { return 2.5 * std::log1p(x); });
}

Row& polynomial(const char* name, Variable (*f)(V, V), double (*reference)(double, double), double low,
                double high) {
  return binary(name, f)
      .range(low, high)
      .range(0, 12.99)
      .order(0, kNoDerivative)
      .accurate(2e-11, 1e-5)
      .no_half("a 16-bit degree may be rounded to the next")
      .reference(reference)
      .at({0.25, 0}, 1)
      .at({0.25, -1}, 0);
}

double times(double n, double x) { return std::floor(n) * std::acos(x); }
double second_kind(double x, double n) {
  return std::sin(times(n, x) + std::acos(x)) / std::sin(std::acos(x));
}
double third_kind(double x, double n) {
  return std::cos(times(n, x) + std::acos(x) / 2) / std::cos(std::acos(x) / 2);
}
double fourth_kind(double x, double n) {
  return std::sin(times(n, x) + std::acos(x) / 2) / std::sin(std::acos(x) / 2);
}
double physicists(double x, double n) { return std::hermite(static_cast<unsigned>(n), x); }

void polynomials() {
  polynomial(
      "special_chebyshev_polynomial_t", ebb::special_chebyshev_polynomial_t,
      [](double x, double n) { return std::cos(times(n, x)); }, -0.95, 0.95)
      .at({1, 5}, 1)
      .at({-1, 5}, -1)
      .at({2, 3}, 26)
      .at({-1.5, 9}, -2889.0, {}, 1e-14)
      .error("special_chebyshev_polynomial_t",
             [] { ebb::special_chebyshev_polynomial_t(ebb::ones({2}), ebb::ones({3})); });
  polynomial("special_chebyshev_polynomial_u", ebb::special_chebyshev_polynomial_u, second_kind, -0.95, 0.95)
      .at({1, 5}, 6)
      .at({-1, 5}, -6)
      .at({2, 3}, 56);
  polynomial("special_chebyshev_polynomial_v", ebb::special_chebyshev_polynomial_v, third_kind, -0.95, 0.95)
      .at({1, 5}, 1)
      .at({-1, 5}, -11)
      .at({2, 3}, 41);
  polynomial("special_chebyshev_polynomial_w", ebb::special_chebyshev_polynomial_w, fourth_kind, -0.95, 0.95)
      .at({1, 5}, 11)
      .at({-1, 5}, -1)
      .at({2, 3}, 71);
  polynomial("special_hermite_polynomial_h", ebb::special_hermite_polynomial_h, physicists, -2, 2)
      .at({2, 3}, 40);
  polynomial(
      "special_hermite_polynomial_he", ebb::special_hermite_polynomial_he,
      [](double x, double n) {
        return std::pow(2.0, -std::floor(n) / 2) * physicists(x / std::sqrt(2.0), n);
      },
      -2, 2)
      .at({2, 3}, 2);
  polynomial(
      "special_laguerre_polynomial_l", ebb::special_laguerre_polynomial_l,
      [](double x, double n) { return std::laguerre(static_cast<unsigned>(n), x); }, 0.1, 4)
      .at({0, 7}, 1)
      .at({2, 2}, -1);
  polynomial(
      "special_legendre_polynomial_p", ebb::special_legendre_polynomial_p,
      [](double x, double n) { return std::legendre(static_cast<unsigned>(n), x); }, -1, 1)
      .at({1, 7}, 1)
      .at({2, 3}, 17);
  polynomial(
      "special_shifted_chebyshev_polynomial_t", ebb::special_shifted_chebyshev_polynomial_t,
      [](double x, double n) { return std::cos(times(n, 2 * x - 1)); }, 0.05, 0.95)
      .at({1.5, 3}, 26);
  polynomial(
      "special_shifted_chebyshev_polynomial_u", ebb::special_shifted_chebyshev_polynomial_u,
      [](double x, double n) { return second_kind(2 * x - 1, n); }, 0.05, 0.95)
      .at({1.5, 3}, 56);
  polynomial(
      "special_shifted_chebyshev_polynomial_v", ebb::special_shifted_chebyshev_polynomial_v,
      [](double x, double n) { return third_kind(2 * x - 1, n); }, 0.05, 0.95)
      .at({1.5, 3}, 41);
  polynomial(
      "special_shifted_chebyshev_polynomial_w", ebb::special_shifted_chebyshev_polynomial_w,
      [](double x, double n) { return fourth_kind(2 * x - 1, n); }, 0.05, 0.95)
      .at({1.5, 3}, 71);
}

}  // namespace

void register_special() {
  family("elementwise");
  distributions();
  bessel();
  gammas();
  polynomials();
}

// Bessel functions, divisors, powers in double, membership, and other ops of ported programs.

namespace {

using Integers = Variable (*)(V, V);
using IntegersTwin = Variable& (*)(V, V);

// Computes the integral (1 / pi) of e^(x cos t) cos(n t) from 0 to pi with the trapezoid rule, which is exact
// to rounding here.
double bessel(int n, double x) {
  constexpr int steps = 200;
  double sum = 0;
  for (int k = 0; k <= steps; ++k) {
    const double t = M_PI * k / steps;
    sum += (k == 0 || k == steps ? 0.5 : 1) * std::exp(x * std::cos(t)) * std::cos(n * t);
  }
  return sum / steps;
}

Row& divisors(const char* name, Integers f, IntegersTwin twin, double (*reference)(double, double)) {
  return binary(name, f)
      .order(0, "integers have no derivative")
      .integers(0, -30, 30)
      .integers(1, -12, 12)
      .reference(reference)
      .in_place([twin](In x) { return twin(x[0], x[1]); })
      .error("integer dtype", [f] { f(ebb::ones({2}), ebb::ones({2})); });
}

void elementwise() {
  unary("i0", [](V x) {
    return ebb::i0(x);
  }).in_place([](In x) {
      return ebb::i0_(x[0]);
    }).reference([](double x) { return bessel(0, x); });
  unary("special_i1", [](V x) { return ebb::special_i1(x); }).reference([](double x) {
    return bessel(1, x);
  });
  divisors("gcd", ebb::gcd, ebb::gcd_, [](double a, double b) { return double(std::gcd(long(a), long(b))); });
  divisors("lcm", ebb::lcm, ebb::lcm_, [](double a, double b) { return double(std::lcm(long(a), long(b))); });
  binary("float_power", [](V a, V b) { return ebb::float_power(a, b); })
      .in_place([](In x) { return ebb::float_power_(x[0], x[1]); })
      .range(0.4, 2.5)
      .double_only("the result is double for every input dtype")
      .reference([](double a, double b) { return std::pow(a, b); })
      .error("float_power_", [] { ebb::float_power_(ebb::ones({2}), ebb::ones({2})); });
  unary("rrelu.evaluation", [](V x) { return ebb::rrelu(x, 0.1, 0.3); })
      .in_place([](In x) { return ebb::rrelu_(x[0], 0.1, 0.3); })
      .kinks({0})
      .reference([](double x) { return x > 0 ? x : 0.2 * x; })
      .error("lower", [] { ebb::rrelu(ebb::ones({2}), 0.4, 0.3); });
}

}  // namespace

void register_bessel_and_divisors() {
  family("elementwise");
  elementwise();
  family("reduce");
  unary("frobenius_norm", [](V x) { return ebb::frobenius_norm(x, {0, 1}); })
      .shapes({{{3, 4}}})
      .roundings(4)
      .reference(whole(length));
  family("sort");
  binary("isin", [](V x, V among) { return ebb::isin(x, among); })
      .integers(0, 0, 9)
      .integers(1, 0, 9)
      .shapes({{{3, 4}, {3}}, {{5}, {0}}, {{}, {2, 2}}})
      .order(0, "a Bool has no derivative")
      .reference([](const Arrays& in) {
        Array found{in[0].sizes, {}};
        for (const double x : in[0].values)
          found.values.push_back(double(std::count(in[1].values.begin(), in[1].values.end(), x) > 0));
        return Arrays{found};
      })
      .error("Bool", [] { ebb::isin(ebb::ones({2}, ebb::kBool), ebb::ones({2})); });
  family("shape");
  unary("narrow_copy", [](V x) { return ebb::narrow_copy(x, 1, 1, 2); })
      .shapes({{{3, 4}}})
      .reference(picked({3, 2}, [](const Index& i) { return Index{i[0], 1 + i[1]}; }))
      .error("narrow", [] { ebb::narrow_copy(ebb::ones({3}), 0, 2, 2); });
}

}  // namespace optable
