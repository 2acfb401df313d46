// Tests of the evals in formulas.cpp against plain loops and finite differences.
#include "support/catch.h"
#include "tool.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace gradbench_test;

namespace {

double log_sum_exp(const Numbers& x) {
  double sum = 0;
  for (const double number : x) sum += std::exp(number);
  return std::log(sum);
}

double distance(const Numbers& x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double t = -1 + 2.0 * i / (n - 1);
    double error = t > 0 ? 1 : t < 0 ? -1 : 0;
    for (std::size_t j = 0; j < x.size(); ++j) error -= x[j] * std::pow(t, static_cast<double>(j));
    sum += error * error;
  }
  return sum / 2;
}

// Solves the equations with plain loops. y_i only depends on y_(i-1).
Numbers solve(const Numbers& x, int steps) {
  const auto slope = [&](const Numbers& y) {
    Numbers result{x[0]};
    for (std::size_t i = 1; i < x.size(); ++i) result.push_back(x[i] * y[i - 1]);
    return result;
  };
  const auto moved = [](Numbers y, const Numbers& k, double by) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += by * k[i];
    return y;
  };
  const double h = 2.0 / steps;
  Numbers y(x.size());
  for (int step = 0; step < steps; ++step) {
    const Numbers k1 = slope(y), k2 = slope(moved(y, k1, h / 2)), k3 = slope(moved(y, k2, h / 2)),
                  k4 = slope(moved(y, k3, h));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  return y;
}

// Returns the determinant as a sum over all permutations.
double determinant(const Numbers& a, std::size_t n) {
  std::vector<std::size_t> columns(n);
  std::iota(columns.begin(), columns.end(), 0);
  double sum = 0;
  do {
    double product = 1;
    for (std::size_t i = 0; i < n; ++i) {
      product *= a[i * n + columns[i]];
      for (std::size_t j = 0; j < i; ++j) product *= columns[j] > columns[i] ? -1 : 1;
    }
    sum += product;
  } while (std::next_permutation(columns.begin(), columns.end()));
  return sum;
}

}  // namespace

TEST_CASE("hello returns the square of a number and its derivative") {
  CHECK(output_of("hello", "square", 16384.0) == 16384.0 * 16384.0);
  CHECK(output_of("hello", "double", 3.5) == 7.0);
}

TEST_CASE("lse returns logsumexp and its gradient") {
  const Numbers x = some(7);
  const Json input = {{"x", x}};
  check_close(output_of("lse", "primal", input), {log_sum_exp(x)});
  check_close(output_of("lse", "gradient", input), slopes(log_sum_exp, x));
}

TEST_CASE("lse does not overflow for large numbers") {
  const Json input = {{"x", {1000.0, 1000.0, -1000.0}}};
  check_close(output_of("lse", "primal", input), {1000 + std::log(2.0)});
  check_close(output_of("lse", "gradient", input), {0.5, 0.5, 0});
}

TEST_CASE(
    "llsq returns the distance of a polynomial to the sign function and the gradient of this distance") {
  for (const int n : {2, 9, 12}) {
    const Numbers x = some(5);
    const Json input = {{"x", x}, {"n", n}};
    check_close(output_of("llsq", "primal", input), {distance(x, n)});
    check_close(output_of("llsq", "gradient", input),
                slopes([&](const Numbers& at) { return distance(at, n); }, x));
  }
}

TEST_CASE("ode returns the solution and the gradient of its last element") {
  for (const int steps : {1, 4}) {
    const Numbers x = some(6);
    const Json input = {{"x", x}, {"s", steps}};
    check_close(output_of("ode", "primal", input), solve(x, steps));
    check_close(output_of("ode", "gradient", input),
                slopes([&](const Numbers& at) { return solve(at, steps).back(); }, x));
  }
}

TEST_CASE("det returns the determinant and its gradient") {
  for (const std::size_t size : {1, 2, 5}) {
    const Numbers a = some(size * size);
    const Json input = {{"A", a}, {"ell", size}};
    check_close(output_of("det", "primal", input), {determinant(a, size)});
    check_close(output_of("det", "gradient", input),
                slopes([&](const Numbers& at) { return determinant(at, size); }, a));
  }
}
