#include "elementwise_support.h"

namespace {

using namespace elementwise;
using Op = Tensor (*)(const Tensor&);
using InPlace = Tensor& (*)(const Tensor&);

struct Case {
  const char* name;
  Op op;
  InPlace inplace;
  double (*reference)(double);
  double low, high;
  bool flat = false;  // the gradient is zero
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
// The digamma function by a different way than ebb's: the derivative of lgamma, by Richardson extrapolation.
double digamma(double x) {
  const auto slope = [x](double h) { return (std::lgamma(x + h) - std::lgamma(x - h)) / (2 * h); };
  return (4 * slope(1e-3) - slope(2e-3)) / 3;
}

const Case kCases[] = {
    {"abs", ebb::abs, ebb::abs_, [](double x) { return std::fabs(x); }, -3, 3},
    {"neg", ebb::neg, ebb::neg_, [](double x) { return -x; }, -3, 3},
    {"sign", ebb::sign, ebb::sign_, [](double x) { return double((x > 0) - (x < 0)); }, -3, 3, true},
    {"sgn", ebb::sgn, ebb::sgn_, [](double x) { return double((x > 0) - (x < 0)); }, -3, 3, true},
    {"exp", ebb::exp, ebb::exp_, [](double x) { return std::exp(x); }, -3, 3},
    {"exp2", ebb::exp2, ebb::exp2_, [](double x) { return std::exp2(x); }, -3, 3},
    {"expm1", ebb::expm1, ebb::expm1_, [](double x) { return std::expm1(x); }, -3, 3},
    {"log", ebb::log, ebb::log_, [](double x) { return std::log(x); }, 0.2, 3},
    {"log2", ebb::log2, ebb::log2_, [](double x) { return std::log2(x); }, 0.2, 3},
    {"log10", ebb::log10, ebb::log10_, [](double x) { return std::log10(x); }, 0.2, 3},
    {"log1p", ebb::log1p, ebb::log1p_, [](double x) { return std::log1p(x); }, -0.8, 3},
    {"sqrt", ebb::sqrt, ebb::sqrt_, [](double x) { return std::sqrt(x); }, 0.2, 3},
    {"rsqrt", ebb::rsqrt, ebb::rsqrt_, [](double x) { return 1 / std::sqrt(x); }, 0.2, 3},
    {"square", ebb::square, ebb::square_, [](double x) { return x * x; }, -3, 3},
    {"reciprocal", ebb::reciprocal, ebb::reciprocal_, [](double x) { return 1 / x; }, 0.5, 3},
    {"sin", ebb::sin, ebb::sin_, [](double x) { return std::sin(x); }, -4, 4},
    {"cos", ebb::cos, ebb::cos_, [](double x) { return std::cos(x); }, -4, 4},
    {"tan", ebb::tan, ebb::tan_, [](double x) { return std::tan(x); }, -1.2, 1.2},
    {"asin", ebb::asin, ebb::asin_, [](double x) { return std::asin(x); }, -0.9, 0.9},
    {"acos", ebb::acos, ebb::acos_, [](double x) { return std::acos(x); }, -0.9, 0.9},
    {"atan", ebb::atan, ebb::atan_, [](double x) { return std::atan(x); }, -3, 3},
    {"sinh", ebb::sinh, ebb::sinh_, [](double x) { return std::sinh(x); }, -2, 2},
    {"cosh", ebb::cosh, ebb::cosh_, [](double x) { return std::cosh(x); }, -2, 2},
    {"tanh", ebb::tanh, ebb::tanh_, [](double x) { return std::tanh(x); }, -2, 2},
    {"asinh", ebb::asinh, ebb::asinh_, [](double x) { return std::asinh(x); }, -2, 2},
    {"acosh", ebb::acosh, ebb::acosh_, [](double x) { return std::acosh(x); }, 1.2, 3},
    {"atanh", ebb::atanh, ebb::atanh_, [](double x) { return std::atanh(x); }, -0.9, 0.9},
    {"sigmoid", ebb::sigmoid, ebb::sigmoid_, sigmoid, -4, 4},
    {"erf", ebb::erf, ebb::erf_, [](double x) { return std::erf(x); }, -2, 2},
    {"erfc", ebb::erfc, ebb::erfc_, [](double x) { return std::erfc(x); }, -2, 2},
    {"lgamma", ebb::lgamma, ebb::lgamma_, [](double x) { return std::lgamma(x); }, 0.3, 6},
    {"sinc", ebb::sinc, ebb::sinc_, [](double x) { return std::sin(M_PI * x) / (M_PI * x); }, 0.1, 2.5},
    {"floor", ebb::floor, ebb::floor_, [](double x) { return std::floor(x); }, -3, 3, true},
    {"ceil", ebb::ceil, ebb::ceil_, [](double x) { return std::ceil(x); }, -3, 3, true},
    {"round", ebb::round, ebb::round_, [](double x) { return std::nearbyint(x); }, -3, 3, true},
    {"trunc", ebb::trunc, ebb::trunc_, [](double x) { return std::trunc(x); }, -3, 3, true},
    {"frac", ebb::frac, ebb::frac_, [](double x) { return x - std::trunc(x); }, -3, 3},
    {"deg2rad", ebb::deg2rad, ebb::deg2rad_, [](double x) { return x * M_PI / 180; }, -90, 90},
    {"rad2deg", ebb::rad2deg, ebb::rad2deg_, [](double x) { return x * 180 / M_PI; }, -2, 2},
};

}  // namespace

TEST_CASE("functions of one tensor agree with <cmath> in both precisions") {
  for (const Case& c : kCases) {
    const Tensor x = ramp({5, 7}, c.low, c.high);
    const std::vector<double> in = values(x), out = values(c.op(x)), single = values(c.op(x.to(ebb::kFloat)));
    for (std::size_t i = 0; i < in.size(); ++i) {
      INFO(c.name << "(" << in[i] << ")");
      const double want = c.reference(in[i]),
                   want_single = c.reference(static_cast<double>(static_cast<float>(in[i])));
      CHECK(std::fabs(out[i] - want) <= 4e-15 * (1 + std::fabs(want)));
      CHECK(std::fabs(single[i] - want_single) <= 1e-6 * (1 + std::fabs(want_single)));
    }
  }
}

TEST_CASE("functions of one tensor do not depend on the layout, and work in place") {
  for (const Case& c : kCases) {
    INFO(c.name);
    for (const ebb::DType dtype : {ebb::kDouble, ebb::kFloat}) {
      const Tensor x = ramp({6, 31}, c.low, c.high).to(dtype), want = c.op(x);
      for (const Tensor& view : layouts(x)) {
        CHECK(same_bits(c.op(view), want));
        Tensor copy = view;
        CHECK(&c.inplace(copy) == &copy);
        CHECK(same_bits(copy, want));
      }
      CHECK(c.op(x.t()).strides() == x.t().strides());
      CHECK(c.op(ebb::empty({0, 3}, dtype)).sizes() == ebb::IntArrayRef({0, 3}));
      CHECK(same_bits(c.op(x.as_strided({}, {}, 5)), want.as_strided({}, {}, 5)));
    }
  }
}

TEST_CASE("functions of one tensor have the derivatives they claim, to second order") {
  for (const Case& c : kCases) {
    INFO(c.name);
    const Tensor x = leaf(ramp({2, 3}, c.low, c.high));
    const auto f = [&](const Tensor& t) { return c.op(t); };
    CHECK(ebb::gradcheck(f, {x}));
    CHECK(ebb::gradgradcheck(f, {x}));
    if (c.flat) {
      c.op(x).sum().backward();
      for (double g : values(x.grad())) CHECK(g == 0);
    }
  }
}

TEST_CASE("in-place functions of one tensor record what the others record") {
  for (const Case& c : kCases) {
    INFO(c.name);
    const Tensor x = leaf(ramp({2, 3}, c.low, c.high)), y = leaf(x);
    c.op(x * 1).sum().backward();
    Tensor z = y * 1;
    c.inplace(z);
    z.sum().backward();
    CHECK(same_bits(x.grad(), y.grad()));
    CHECK_THROWS_AS(c.inplace(y), ebb::Error);
  }
}

TEST_CASE("special functions: digamma, polygamma, erfinv, logit") {
  for (double x : {0.1, 0.7, 1.0, 1.4616321449683623, 3.5, 12.0, -0.5, -2.3}) {
    INFO(x);
    const double got = ebb::digamma(ebb::full({}, x, ebb::kDouble)).item<double>();
    CHECK(std::fabs(got - digamma(x)) <= 1e-8 * (1 + std::fabs(got)));
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
  CHECK_THROWS_AS(ebb::polygamma(-1, ebb::ones({2})), ebb::Error);
  for (double y : {-0.999999, -0.9, -0.3, 1e-9, 0.2, 0.77, 0.99999999}) {
    const double x = ebb::erfinv(ebb::full({}, y, ebb::kDouble)).item<double>();
    CHECK(std::fabs(std::erf(x) - y) <= 3e-16 * (1 + std::fabs(y)));
  }
  CHECK(std::isinf(ebb::erfinv(ebb::ones({})).item<double>()));
  CHECK(std::isnan(ebb::erfinv(ebb::full({}, 1.5)).item<double>()));

  const Tensor p = leaf(ramp({2, 3}, 0.3, 0.7)), q = leaf(ramp({2, 3}, 0.5, 5)),
               negative = leaf(ramp({4}, -2.8, -2.2));
  for (const Tensor& x : {q, negative}) {
    CHECK(ebb::gradcheck([](const Tensor& t) { return ebb::digamma(t); }, {x}));
    CHECK(ebb::gradgradcheck([](const Tensor& t) { return ebb::digamma(t); }, {x}));
  }
  CHECK(ebb::gradcheck([](const Tensor& t) { return ebb::polygamma(2, t); }, {q}));
  CHECK(ebb::gradcheck([](const Tensor& t) { return ebb::erfinv(t); }, {p}));
  CHECK(ebb::gradgradcheck([](const Tensor& t) { return ebb::erfinv(t); }, {p}));
  CHECK(ebb::gradcheck([](const Tensor& t) { return ebb::logit(t); }, {p}));
  CHECK(ebb::gradgradcheck([](const Tensor& t) { return ebb::logit(t, 0.1); }, {p}));
  const std::vector<double> clamped = values(ebb::logit(ebb::tensor({0.0, 0.5, 1.0}), 0.25));
  CHECK(std::fabs(clamped[0] + std::log(3.0)) < 1e-6);
  CHECK(std::fabs(clamped[2] - std::log(3.0)) < 1e-6);
}

TEST_CASE("integers go to the default dtype, or are refused") {
  const Tensor i = ebb::tensor({1, 2, 3});
  CHECK(ebb::exp(i).dtype() == ebb::kFloat);
  CHECK(ebb::sqrt(ebb::tensor({true, false})).dtype() == ebb::kFloat);
  ebb::set_default_dtype(ebb::kDouble);
  CHECK(ebb::sigmoid(i).dtype() == ebb::kDouble);
  ebb::set_default_dtype(ebb::kFloat);
  for (const auto op : {ebb::abs, ebb::neg, ebb::sign, ebb::floor, ebb::round, ebb::square, ebb::relu})
    CHECK(op(i).dtype() == ebb::kLong);
  CHECK_THROWS_WITH(ebb::exp_(i), Catch::Contains("can't be cast"));
  CHECK_THROWS_AS(ebb::frac(i), ebb::Error);
  CHECK_THROWS_AS(ebb::neg(ebb::tensor({true})), ebb::Error);
  CHECK_THROWS_AS(ebb::exp(Tensor()), ebb::Error);
}

TEST_CASE("16-bit floats compute in float and round once") {
  for (const ebb::DType dtype : {ebb::kHalf, ebb::kBFloat16}) {
    const Tensor x = ramp({3, 37}, 0.2, 0.8).to(dtype);
    for (const auto op : {ebb::exp, ebb::log, ebb::tanh, ebb::sigmoid, ebb::sqrt, ebb::erf})
      CHECK(same_bits(op(x), op(x.to(ebb::kFloat)).to(dtype)));
    CHECK(same_bits(
        x * x + x,
        ((x.to(ebb::kFloat) * x.to(ebb::kFloat)).to(dtype).to(ebb::kFloat) + x.to(ebb::kFloat)).to(dtype)));
  }
}
