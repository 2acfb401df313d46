// Functions that the CPU computes several numbers at a time by code of its own: their accuracy, what they
// give at the edges of the line of numbers, and that an element's value does not depend on its place.
#include <ebb/ebb.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/catch.h"

namespace {

using ebb::Tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<double> kEdges = {
    0.0,         -0.0,      1.0,        -1.0,
    2.0,         -2.0,      3.0,        -3.0,
    0.5,         -0.5,      1.5,        -1.5,
    7.0,         -7.0,      16777215.0, 16777216.0,
    33554434.0,  1e-45,     -1e-45,     1e-38,
    -1e-38,      3.4e38,    -3.4e38,    0.99999994,
    -1.00000012, 127.0,     -149.0,     1e-300,
    1e300,       kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};

// The distance from the exact value in units of the last place of a float there.
double ulps(float got, double exact) {
  int exponent;
  std::frexp(exact, &exponent);
  return std::fabs(static_cast<double>(got) - exact) / std::ldexp(1, std::max(exponent, -125) - 24);
}

template <class T>
bool same_number(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T>
Tensor tensor_of(const std::vector<T>& values) {
  const Tensor out = ebb::empty({static_cast<std::int64_t>(values.size())}, ebb::dtype<T>());
  std::memcpy(out.data_ptr<T>(), values.data(), values.size() * sizeof(T));
  return out;
}

template <class T>
void check_powers_at_edges() {
  std::vector<T> x, y;
  for (const double a : kEdges)
    for (const double b : kEdges) {
      x.push_back(static_cast<T>(a));
      y.push_back(static_cast<T>(b));
    }
  const Tensor power = ebb::pow(tensor_of(x), tensor_of(y));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T got = power.data_ptr<T>()[i];
    const T exact = static_cast<T>(std::pow(x[i], y[i]));
    INFO(x[i] << " to the power " << y[i] << " = " << got << ", not " << exact);
    const bool ordinary = std::isfinite(exact) && std::fabs(exact) >= std::numeric_limits<T>::min();
    if (ordinary && std::is_same_v<T, float>)
      CHECK((std::signbit(got) == std::signbit(exact) &&
             ulps(static_cast<float>(got), std::pow(double(x[i]), double(y[i]))) < 0.6));
    else if (ordinary)
      CHECK(std::fabs(got - exact) <= std::fabs(exact) * std::numeric_limits<T>::epsilon());
    else
      CHECK(same_number(got, exact));
  }
}

// `op` of [0, n) for n from 1 on, from aligned places and others, gives the bits that the whole gives.
template <class T>
void check_places(const Tensor& x, Tensor (*op)(const Tensor&)) {
  const Tensor whole = op(x);
  for (std::int64_t n = 1; n <= 40; ++n)
    for (std::int64_t from : {0, 1, 5, 13}) {
      const Tensor part = op(x.narrow(0, from, n));
      INFO(n << " elements from " << from);
      CHECK(std::memcmp(part.data_ptr<T>(), whole.data_ptr<T>() + from,
                        static_cast<std::size_t>(n) * sizeof(T)) == 0);
    }
}

}  // namespace

TEST_CASE("powers of floats and doubles are the C library's at zeros and infinities and NaN and below zero") {
  check_powers_at_edges<float>();
  check_powers_at_edges<double>();
}

TEST_CASE("powers of floats are off by less than 0.6 units in the last place") {
  const Tensor wide = ebb::rand({100000}).mul(180).sub(90), near = ebb::rand({100000}).sub(0.5);
  for (const auto& [x, y] :
       {std::pair(wide.exp2(), ebb::rand({100000}).mul(4).sub(2)),
        std::pair(near.mul(0.02).add(1), wide.mul(5)), std::pair(near.exp(), near.mul(8).flip({0}))}) {
    const Tensor power = ebb::pow(x, y);
    double worst = 0;
    for (std::int64_t i = 0; i < power.numel(); ++i) {
      const double exact =
          std::pow(static_cast<double>(x.data_ptr<float>()[i]), static_cast<double>(y.data_ptr<float>()[i]));
      if (exact < 3.4e38) worst = std::max(worst, ulps(power.data_ptr<float>()[i], exact));
    }
    CHECK(worst < 0.6);
    CHECK(worst > 0.4);  // something was measured
  }
}

TEST_CASE("powers of doubles are those of long doubles to a unit in the last place") {
  const Tensor x = ebb::rand({50000}, ebb::kDouble).mul(60).sub(30).exp2(),
               y = ebb::rand({50000}, ebb::kDouble).mul(40).sub(20), power = ebb::pow(x, y);
  long double worst = 0;
  for (std::int64_t i = 0; i < power.numel(); ++i) {
    const long double exact = std::pow(static_cast<long double>(x.data_ptr<double>()[i]),
                                       static_cast<long double>(y.data_ptr<double>()[i]));
    int exponent;
    std::frexp(exact, &exponent);
    worst = std::max(worst, std::fabs(power.data_ptr<double>()[i] - exact) / std::ldexp(1.0L, exponent - 53));
  }
  CHECK(worst < 1.01L);
}

TEST_CASE("erf of floats is off by less than a unit in the last place and nowhere above 1") {
  std::vector<float> values;
  for (std::uint32_t bits = 1; bits < 0x7f800000u; bits += 9973) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    values.push_back(bits % 2 ? x : -x);
  }
  const Tensor x = tensor_of(values), y = x.erf();
  double worst = 0;
  bool within = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float got = y.data_ptr<float>()[i];
    worst = std::max(worst, ulps(got, std::erf(static_cast<double>(values[i]))));
    within = within && std::fabs(got) <= 1 && std::signbit(got) == std::signbit(values[i]);
  }
  CHECK(worst < 1);
  CHECK(within);
  for (const float edge :
       {0.0f, -0.0f, std::numeric_limits<float>::infinity(), -4.0f, std::numeric_limits<float>::quiet_NaN()})
    CHECK(same_number(ebb::full({1}, edge).erf().item<float>(), std::erf(edge)));
}

TEST_CASE("powers and erf do not depend on where an element stands") {
  const Tensor x = ebb::randn({64}).mul(2);
  const auto power = [](const Tensor& v) { return ebb::pow(v.abs(), 2.3); };
  const auto by_number = [](const Tensor& v) { return ebb::pow(2.3, v); };
  const auto error = [](const Tensor& v) { return v.erf(); };
  const auto gelu = [](const Tensor& v) { return ebb::gelu(v); };
  for (Tensor (*op)(const Tensor&) : {+power, +by_number, +error, +gelu}) {
    check_places<float>(x, op);
    check_places<double>(x.to(ebb::kDouble), op);
  }
  const Tensor y = ebb::randn({64});
  const Tensor numbers = ebb::pow(x.abs(), y);
  for (std::int64_t i = 0; i < 64; ++i)
    CHECK(ebb::pow(x.abs()[i], y[i]).item<float>() == numbers[i].item<float>());
  CHECK(ebb::equal(x.abs().pow_(0.5), x.abs().sqrt()));
}
