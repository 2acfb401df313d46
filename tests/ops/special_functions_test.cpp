// Polygamma functions, the inverse of erf and Bessel functions: known values, recurrences, both ends of
// series.
#include "check.h"

#include <ebb/ops/special.h>

using namespace op_tests;
using namespace ebb;

namespace {

// The digamma function by a different way than ebb's: the derivative of lgamma, by Richardson extrapolation.
double slope_of_lgamma(double x) {
  const auto slope = [x](double h) { return (std::lgamma(x + h) - std::lgamma(x - h)) / (2 * h); };
  return (4 * slope(1e-3) - slope(2e-3)) / 3;
}

}  // namespace

TEST_CASE("digamma, polygamma and erfinv meet known values and recurrences") {
  for (double x : {0.1, 0.7, 1.0, 1.4616321449683623, 3.5, 12.0, -0.5, -2.3}) {
    INFO(x);
    const double got = ebb::digamma(ebb::full({}, x, ebb::kDouble)).item<double>();
    CHECK(std::fabs(got - slope_of_lgamma(x)) <= 1e-8 * (1 + std::fabs(got)));
  }
  // Known values: -gamma, pi^2/6, -2 zeta(3), and one far below zero.
  const auto poly = [](int n, double x) {
    return ebb::polygamma(n, ebb::full({}, x, ebb::kDouble)).item<double>();
  };
  CHECK(std::fabs(poly(0, 1) + 0.57721566490153286) < 1e-14);
  CHECK(std::fabs(poly(1, 1) - M_PI * M_PI / 6) < 1e-13);
  CHECK(std::fabs(poly(2, 1) + 2.4041138063191886) < 1e-12);
  CHECK(std::fabs(poly(1, -0.5) - (M_PI * M_PI / 2 + 4)) < 1e-12);
  CHECK(std::fabs(poly(3, 2.5) - (poly(3, 1.5) - 6 / std::pow(1.5, 4))) < 1e-11);
  // psi_n(x) = psi_n(x + 1) - (-1)^n n! x^-(n+1), and no long way up from far below zero.
  for (const int n : {1, 2, 3}) {
    for (const double x : {-0.25, -1e-20, -2.5, -19.75}) {
      const double step = (n % 2 ? -1 : 1) * std::tgamma(n + 1) * std::pow(x, -(n + 1));
      CHECK(std::fabs(poly(n, x) - (poly(n, x + 1) - step)) < 1e-11 * std::fabs(poly(n, x)));
    }
    CHECK(std::fabs(poly(n, -1e15 - 0.25) - poly(n, -1e9 - 0.25)) < 1e-8 * std::fabs(poly(n, -1e9 - 0.25)));
  }
  CHECK(std::isinf(poly(2, -3)));
  for (double y : {-0.999999, -0.9, -0.3, 1e-9, 0.2, 0.77, 0.99999999}) {
    const double x = ebb::erfinv(ebb::full({}, y, ebb::kDouble)).item<double>();
    CHECK(std::fabs(std::erf(x) - y) <= 3e-16 * (1 + std::fabs(y)));
  }
}

TEST_CASE("i0 and its derivative have the tabulated values at both ends of the series") {
  // Abramowitz and Stegun, tables 9.8 and 9.11.
  const Variable x = tensor({0.0, 1.0, -2.0, 5.0, 20.0, 50.0}, kDouble);
  const double zero[] = {1,
                         1.2660658777520084,
                         2.2795853023360673,
                         27.239871823604442,
                         4.355828255955353e7,
                         2.93255378384933633e20};
  const double one[] = {0,
                        0.5651591039924851,
                        -1.5906368546373291,
                        24.335642142450530,
                        4.245497338512777e7,
                        2.90307859010355681e20};
  for (int i = 0; i < 6; ++i) {
    CHECK(ebb::i0(x)[i].item<double>() == Approx(zero[i]).epsilon(1e-14));
    CHECK(special_i1(x)[i].item<double>() == Approx(one[i]).epsilon(1e-14).margin(0));
  }
  // Where the two series meet they agree.
  const Variable below = tensor({std::nextafter(20.0, 0.0)}, kDouble), above = tensor({20.0}, kDouble);
  CHECK(ebb::i0(below).item<double>() == Approx(ebb::i0(above).item<double>()).epsilon(1e-14));
  CHECK(std::isinf(ebb::i0(tensor({800.0}, kDouble)).item<double>()));
  CHECK(std::isfinite(ebb::i0(tensor({713.0}, kDouble)).item<double>()));
  CHECK(std::isnan(ebb::i0(tensor({NAN}, kDouble)).item<double>()));
  CHECK(ebb::i0(longs({0, 1})).dtype() == kFloat);
  CHECK(gradgradcheck([](const Variable& t) { return ebb::i0(t); },
                      {tensor({-2.0, 0.0, 3.0}, kDouble).requires_grad_()}));
}

TEST_CASE("sinc is smooth at 0") {
  const Variable x = ebb::zeros({1}, ebb::kDouble).requires_grad_();
  const Variable slope = ebb::autograd::grad({ebb::sinc(x).sum()}, {x}, {}, true, true)[0];
  CHECK(slope.item<double>() == 0);
  const Variable bend = ebb::autograd::grad({slope.sum()}, {x})[0];
  CHECK(std::fabs(bend.item<double>() + M_PI * M_PI / 3) < 1e-14);
}

TEST_CASE("a power with exponent 0 has a mixed second derivative, and a power of 0 gives no NaN there") {
  const auto derivatives = [](double base, double exponent) {
    const Variable x = full({}, base, kDouble).set_requires_grad(true),
                   e = full({}, exponent, kDouble).set_requires_grad(true);
    const variable_list first = autograd::grad({pow(x, e)}, {x, e}, {}, true, true);
    std::vector<double> second;
    for (const Variable& g : first)
      for (const Variable& h : autograd::grad({g}, {x, e}, {}, true, false, true))
        second.push_back(h.defined() ? h.item<double>() : 0);
    return second;
  };
  // d2/dx2 = e (e - 1) x^(e-2), d2/dxde = x^(e-1) (1 + e log x), d2/de2 = x^e log^2 x
  for (const double base : {0.5, 2.0})
    for (const double exponent : {0.0, 1.0, 2.0, -1.5}) {
      INFO(base << " to the power " << exponent);
      const double power = std::pow(base, exponent), l = std::log(base);
      const std::vector<double> got = derivatives(base, exponent);
      REQUIRE(got.size() == 4);
      CHECK(std::fabs(got[0] - exponent * (exponent - 1) * power / (base * base)) < 1e-13);
      CHECK(std::fabs(got[1] - power / base * (1 + exponent * l)) < 1e-13);
      CHECK(std::fabs(got[1] - got[2]) < 1e-13);
      CHECK(std::fabs(got[3] - power * l * l) < 1e-13);
    }
  CHECK(derivatives(0, 0) == std::vector<double>{0, 0, 0, 0});
  CHECK(derivatives(0, 3) == std::vector<double>{0, 0, 0, 0});
  CHECK(derivatives(0, 2)[3] == 0);
}

TEST_CASE("a power with exponent 0 gives its base the gradient 0, whatever the base and the gradient are") {
  for (const double base : Values{2, -3, 0, 1e-310, -1e-310, 1e300, INFINITY, NAN})
    for (const double upstream : Values{1, 1e-5, 1e300, INFINITY, NAN}) {
      INFO(base << " with the gradient " << upstream);
      const Variable x = full({}, base, kDouble).set_requires_grad(true);
      const Variable g = autograd::grad({pow(x, zeros({}, kDouble))}, {x}, {full({}, upstream, kDouble)})[0];
      CHECK(g.item<double>() == 0);
    }
}

TEST_CASE("special functions and their derivatives have their limits at 0, at poles and at both infinities") {
  constexpr double inf = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max();
  struct Limits {
    const char* name;
    Variable (*f)(const Variable&);
    double x, value, slope = 0, bend = 0;
  };
  const Limits table[] = {
      {"erf", ebb::erf, inf, 1, 0, -0.0},
      {"erf", ebb::erf, -most, -1, 0, 0},
      {"erfc", ebb::erfc, inf, 0, -0.0, 0},
      {"erfcx", ebb::special_erfcx, -inf, inf, -inf, inf},
      {"erfcx", ebb::special_erfcx, -1e15, inf, -inf, inf},
      {"erfcx", ebb::special_erfcx, inf, 0, -0.0, 0},
      {"erfinv", ebb::erfinv, 1, inf, inf, inf},
      {"erfinv", ebb::erfinv, -1, -inf, inf, -inf},
      {"ndtr", ebb::special_ndtr, -inf, 0, 0, 0},
      {"log_ndtr", ebb::special_log_ndtr, -inf, -inf, inf, -1},
      {"log_ndtr", ebb::special_log_ndtr, inf, -0.0, 0, -0.0},
      {"ndtri", ebb::special_ndtri, 0, -inf, inf, -inf},
      {"ndtri", ebb::special_ndtri, 1, inf, inf, inf},
      {"i0", ebb::i0, -inf, inf, -inf, inf},
      {"i1", ebb::special_i1, -most, -inf, inf, -inf},
      {"i1", ebb::special_i1, 0, 0, 0.5, 0},
      {"i0e", ebb::special_i0e, inf, 0, -0.0, 0},
      {"i1e", ebb::special_i1e, -inf, -0.0, -0.0, -0.0},
      {"j0", ebb::special_bessel_j0, 0, 1, -0.0, -0.5},
      {"j1", ebb::special_bessel_j1, 0, 0, 0.5, -0.0},
      {"y0", ebb::special_bessel_y0, 0, -inf, inf, -inf},
      {"y1", ebb::special_bessel_y1, 0, -inf, inf, -inf},
      {"k0", ebb::special_modified_bessel_k0, 0, inf, -inf, inf},
      {"k1", ebb::special_modified_bessel_k1, 5e-324, inf, -inf, inf},
      {"laguerre", [](const Variable& x) { return ebb::special_laguerre_polynomial_l(x, 3); }, 1e200, -inf},
      {"legendre", [](const Variable& x) { return ebb::special_legendre_polynomial_p(x, 31); }, -inf, -inf},
      {"degree", [](const Variable& x) { return ebb::special_hermite_polynomial_h(x, -0.5); }, 3, 1},
  };
  const auto is = [](const Variable& got, double expected) {
    return got.item<double>() == expected && std::signbit(got.item<double>()) == std::signbit(expected);
  };
  for (const Limits& at : table) {
    INFO(at.name << " at " << at.x);
    const Variable x = ebb::full({}, at.x, ebb::kDouble).requires_grad_(), y = at.f(x);
    CHECK(is(y, at.value));
    if (!y.requires_grad()) continue;
    const Variable slope = ebb::autograd::grad({y}, {x}, {}, true, true)[0];
    CHECK(is(slope, at.slope));
    CHECK(is(ebb::autograd::grad({slope}, {x})[0], at.bend));
  }
}
