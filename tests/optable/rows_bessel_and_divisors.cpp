// Bessel functions, divisors, powers in double, membership, and other ops that ported programs call.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace optable {
namespace {

using Integers = Variable (*)(V, V);
using IntegersTwin = Variable& (*)(V, V);

// The integral (1 / pi) of e^(x cos t) cos(n t) from 0 to pi, by the trapezoid rule, which is exact to
// rounding here.
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
      .order(0, "integers have no slope")
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
      .double_only("the result is double whatever goes in")
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
  unary("frobenius_norm",
        [](V x) {
          return ebb::frobenius_norm(x, {0, 1});
        })
      .shapes({{{3, 4}}})
      .roundings(4)
      .reference(whole(length));
  family("sort");
  binary("isin", [](V x, V among) { return ebb::isin(x, among); })
      .integers(0, 0, 9)
      .integers(1, 0, 9)
      .shapes({{{3, 4}, {3}}, {{5}, {0}}, {{}, {2, 2}}})
      .order(0, "a truth value has no slope")
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
      .reference(picked({3, 2},
                        [](const Index& i) {
                          return Index{i[0], 1 + i[1]};
                        }))
      .error("narrow", [] { ebb::narrow_copy(ebb::ones({3}), 0, 2, 2); });
}

}  // namespace optable
