// Rows of elementwise ops with one operand, and of activations.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

using Plain = Variable (*)(const Variable&);
using Twin = Variable& (*)(const Variable&);

constexpr double kInf = INFINITY, kNan = NAN;

Row& pair(const char* name, Plain f, Twin twin) {
  return unary(name, f).in_place([twin](In x) { return twin(x[0]); }).accurate(4e-15, 1e-6);
}
// Adds a row of an op that returns floating results for integers.
Row& real(const char* name, Plain f, Twin twin) {
  return pair(name, f, twin).given_integers(Gives::floating).given_booleans(Gives::floating);
}
// Adds a row of a step function, whose derivative is exactly 0.
Row& step(const char* name, Plain f, Twin twin) {
  return pair(name, f, twin)
      .at({0.25}, f(ebb::full({}, 0.25)).item<double>(), {0})
      .given_integers(Gives::same);
}

const char* const kFlat = "the derivative is zero";
const char* const kNoGradient = "the result is not differentiable";

void smooth() {
  real("exp", ebb::exp, ebb::exp_).reference(std::exp).range(-3, 3);
  real("exp2", ebb::exp2, ebb::exp2_).reference(std::exp2).range(-3, 3);
  real("expm1", ebb::expm1, ebb::expm1_).reference(std::expm1).range(-3, 3);
  real("log", ebb::log, ebb::log_).reference(std::log).range(0.2, 4);
  real("log2", ebb::log2, ebb::log2_).reference(std::log2).range(0.2, 4);
  real("log10", ebb::log10, ebb::log10_).reference(std::log10).range(0.2, 4);
  real("log1p", ebb::log1p, ebb::log1p_).reference(std::log1p).range(-0.8, 4).node("Log1PBackward0");
  real("sqrt", ebb::sqrt, ebb::sqrt_).reference(std::sqrt).range(0.2, 4).at({0}, 0, {kInf});
  real("rsqrt", ebb::rsqrt, ebb::rsqrt_).range(0.2, 4).reference([](double x) { return 1 / std::sqrt(x); });
  real("sin", ebb::sin, ebb::sin_).reference(std::sin).range(-4, 4);
  real("cos", ebb::cos, ebb::cos_).reference(std::cos).range(-4, 4);
  real("tan", ebb::tan, ebb::tan_).reference(std::tan).range(-1.2, 1.2);
  real("asin", ebb::asin, ebb::asin_).reference(std::asin).range(-0.9, 0.9);
  real("acos", ebb::acos, ebb::acos_).reference(std::acos).range(-0.9, 0.9);
  real("atan", ebb::atan, ebb::atan_).reference(std::atan).range(-3, 3).finite();
  real("sinh", ebb::sinh, ebb::sinh_).reference(std::sinh);
  real("cosh", ebb::cosh, ebb::cosh_).reference(std::cosh);
  real("tanh", ebb::tanh, ebb::tanh_).reference(std::tanh).finite();
  real("asinh", ebb::asinh, ebb::asinh_).reference(std::asinh).finite();
  real("acosh", ebb::acosh, ebb::acosh_).reference(std::acosh).range(1.2, 4);
  real("atanh", ebb::atanh, ebb::atanh_).reference(std::atanh).range(-0.9, 0.9);
  pair("neg", ebb::neg, ebb::neg_)
      .range(-3, 3)
      .reference([](double x) { return -x; })
      .given_integers(Gives::same)
      .given_booleans(Gives::error)
      .error("bool tensor", [] { ebb::neg(ebb::ones({2}, ebb::kBool)); });
  pair("abs", ebb::abs, ebb::abs_)
      .reference(std::fabs)
      .range(-3, 3)
      .kinks({0})
      .at({0}, 0, {0})
      .given_integers(Gives::same);
  pair("square", ebb::square, ebb::square_)
      .range(-3, 3)
      .reference([](double x) { return x * x; })
      .given_integers(Gives::same);
  real("reciprocal", ebb::reciprocal, ebb::reciprocal_).range(0.4, 3).reference([](double x) {
    return 1 / x;
  });
  real("sigmoid", ebb::sigmoid, ebb::sigmoid_).range(-4, 4).finite().reference([](double x) {
    return 1 / (1 + std::exp(-x));
  });
  real("deg2rad", ebb::deg2rad, ebb::deg2rad_).composed().range(-90, 90).finite().reference([](double x) {
    return x * M_PI / 180;
  });
  real("rad2deg", ebb::rad2deg, ebb::rad2deg_).composed().finite().reference([](double x) {
    return x * 180 / M_PI;
  });
}

// A recurrence shifts x to the range where the asymptotic series is exact.
double digamma(double x) {
  double shift = 0;
  for (; x < 20; x += 1) shift -= 1 / x;
  const double r = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240)));
}
double trigamma(double x) {
  double shift = 0;
  for (; x < 20; x += 1) shift += 1 / (x * x);
  const double r = 1 / (x * x);
  return shift + 1 / x + r / 2 + r / x * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r / 30)));
}
double tetragamma(double x) {
  double shift = 0;
  for (; x < 20; x += 1) shift -= 2 / (x * x * x);
  const double r = 1 / (x * x);
  return shift - r - r / x - r * r * (0.5 - r * (1.0 / 6 - r * (1.0 / 6 - 0.3 * r)));
}
// Newton's method on erf.
double inverse_erf(double y) {
  if (std::fabs(y) == 1) return y * kInf;
  double x = 0;
  for (int i = 0; i < 50; ++i) x -= (std::erf(x) - y) * std::sqrt(M_PI) / 2 * std::exp(x * x);
  return x;
}

void special() {
  real("erf", ebb::erf, ebb::erf_).reference(std::erf).finite();
  real("erfc", ebb::erfc, ebb::erfc_).reference(std::erfc).finite();
  real("lgamma", ebb::lgamma, ebb::lgamma_).reference(std::lgamma).range(0.3, 6);
  real("digamma", ebb::digamma, ebb::digamma_).range(0.1, 12).reference(digamma);
  unary("digamma.negative", ebb::digamma).range(-2.8, -2.2).reference([](double x) {
    return digamma(1 - x) - M_PI / std::tan(M_PI * x);
  });
  unary("polygamma", [](V x) { return ebb::polygamma(1, x); })
      .range(0.5, 4)
      .reference(trigamma)
      .error("polygamma", [] { ebb::polygamma(-1, ebb::ones({2})); });
  unary("polygamma.second", [](V x) { return ebb::polygamma(2, x); }).range(0.5, 5).reference(tetragamma);
  real("erfinv", ebb::erfinv, ebb::erfinv_)
      .range(-0.8, 0.8)
      .reference(inverse_erf)
      .at({1}, kInf)
      .at({-1}, -kInf)
      .at({1.5}, kNan);
  real("sinc", ebb::sinc, ebb::sinc_)
      .range(-2.5, 2.5)
      .kinks({0})
      .at({0}, 1, {0})
      .at({kInf}, 0, {0})
      .reference([](double x) { return std::sin(M_PI * x) / (M_PI * x); });
  unary("logit", [](V x) { return ebb::logit(x); })
      .range(0.1, 0.9)
      .reference([](double x) { return std::log(x / (1 - x)); })
      .in_place([](In x) { return ebb::logit_(x[0]); });
  unary("logit.eps", [](V x) { return ebb::logit(x, 0.3); })
      .range(0.1, 0.9)
      .kinks({0.3, 0.7})
      .at({0}, std::log(3.0 / 7), {0}, 1e-15)
      .at({1}, std::log(7.0 / 3), {0}, 1e-15)
      .reference([](double x) {
        const double z = x < 0.3 ? 0.3 : x > 0.7 ? 0.7 : x;
        return std::log(z / (1 - z));
      });
}

void stepwise() {
  const std::vector<double> whole = {-2, -1, 0, 1, 2}, halves = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5};
  step("floor", ebb::floor, ebb::floor_).reference(std::floor).range(-3, 3).kinks(whole);
  step("ceil", ebb::ceil, ebb::ceil_).reference(std::ceil).range(-3, 3).kinks(whole);
  step("trunc", ebb::trunc, ebb::trunc_).reference(std::trunc).range(-3, 3).kinks(whole);
  Row& round = step("round", ebb::round, ebb::round_).reference(std::nearbyint).range(-3, 3).kinks(halves);
  round.node("RoundBackward0").at({4503599627370497.0}, 4503599627370497.0);
  for (const double half : {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5})  // rounds to the even neighbour
    round.at({half}, 2 * std::floor(half / 2 + 0.5));
  unary("round.decimals", [](V x) { return ebb::round(x, 1); })
      .range(0.06, 0.14)
      .reference([](double x) { return std::nearbyint(x * 10) / 10; })
      .in_place([](In x) { return ebb::round_(x[0], 1); });
  step("sign", ebb::sign, ebb::sign_).range(-3, 3).kinks({0}).reference([](double x) {
    return double((x > 0) - (x < 0));
  });
  step("sgn", ebb::sgn, ebb::sgn_).range(-3, 3).kinks({0}).node("SgnBackward0").reference([](double x) {
    return double((x > 0) - (x < 0));
  });
  pair("frac", ebb::frac, ebb::frac_)
      .range(-3, 3)
      .kinks(whole)
      .reference([](double x) { return x - std::trunc(x); })
      .given_integers(Gives::error);
  unary("nan_to_num", [](V x) {
    return ebb::nan_to_num(x);
  }).reference([](double x) {
      return x;
    }).in_place([](In x) { return ebb::nan_to_num_(x[0]); });
  unary("nan_to_num.values", [](V x) { return ebb::nan_to_num(x / 0, 1, 2, 3); })
      .order(0, kFlat)
      .reference([](double x) { return x > 0 ? 2.0 : 3.0; });
  unary("positive", ebb::positive).reference([](double x) { return x; }).error("Bool", [] {
    ebb::positive(ebb::ones({2}, ebb::kBool));
  });
}

Row& truth(const char* name, Plain f, double (*reference)(double)) {
  return unary(name, f).order(0, kNoGradient).gives(ebb::kBool).reference(reference);
}

void truths() {
  truth("isnan", ebb::isnan, [](double x) { return double(std::isnan(x)); }).at({kNan}, 1).at({kInf}, 0);
  truth("isinf", ebb::isinf, [](double x) { return double(std::isinf(x)); }).at({kNan}, 0).at({-kInf}, 1);
  truth("isfinite", ebb::isfinite, [](double x) { return double(std::isfinite(x)); })
      .at({1}, 1)
      .at({kInf}, 0)
      .at({kNan}, 0);
  truth("isposinf", [](V x) { return ebb::isposinf(x / 0); }, [](double x) { return double(x > 0); });
  truth("isneginf", [](V x) { return ebb::isneginf(x / 0); }, [](double x) { return double(x < 0); });
  truth("signbit", ebb::signbit, [](double x) { return double(std::signbit(x)); })
      .at({-0.0}, 1)
      .at({0}, 0)
      .at({-2}, 1);
  pair("logical_not", ebb::logical_not, ebb::logical_not_)
      .integers(0, 0, 3)
      .order(0, kNoGradient)
      .reference([](double x) { return double(x == 0); });
  pair("bitwise_not", ebb::bitwise_not, ebb::bitwise_not_)
      .integers(0, -9, 9)
      .order(0, kNoGradient)
      .at({12}, -13)
      .reference([](double x) { return double(~static_cast<std::int64_t>(x)); })
      .error("bitwise_not", [] { ebb::bitwise_not(ebb::ones({2})); });
  pair("bitwise_not.bool", ebb::bitwise_not, ebb::bitwise_not_)
      .booleans(0)
      .order(0, kNoGradient)
      .reference([](double x) { return 1 - x; });
}

}  // namespace

void register_unary() {
  family("elementwise");
  smooth();
  special();
  stepwise();
  truths();
}

// Activations.

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

// Adds a row of a function that is defined for every number, with a finite derivative.
Row& activation(const char* name, Variable (*f)(V)) {
  return unary(name, f).range(-7, 7).finite().accurate(1e-14, 2e-6);
}

void linear_pieces() {
  activation("relu", ebb::relu)
      .kinks({0})
      .at({0}, 0, {0})
      .at({NAN}, NAN)
      .given_integers(Gives::same)
      .given_booleans(Gives::error)
      .reference([](double x) { return x > 0 ? x : 0; })
      .in_place([](In x) { return ebb::relu_(x[0]); })
      .error("Bool", [] { ebb::relu(ebb::ones({2}, ebb::kBool)); });
  activation("relu6", ebb::relu6)
      .kinks({0, 6})
      .at({0}, 0, {0})
      .at({6}, 6, {0})
      .node("HardtanhBackward0")
      .in_place([](In x) { return ebb::relu6_(x[0]); })
      .reference([](double x) { return x < 0   ? 0
                                       : x > 6 ? 6
                                               : x; });
  activation("leaky_relu", [](V x) { return ebb::leaky_relu(x, 0.2); })
      .kinks({0})
      .at({0}, 0, {0.2})
      .in_place([](In x) { return ebb::leaky_relu_(x[0], 0.2); })
      .reference([](double x) { return x > 0 ? x : 0.2 * x; });
  binary("prelu", [](V x, V w) { return ebb::prelu(x, w); })
      .kinks({0})
      .range(-7, 7)
      .range(-2, 2)
      .shapes({{{3, 4}, {4}}, {{2, 3}, {1}}, {{2, 3, 2}, {3}}})
      .reference(built_like([](const Arrays& in, const Index& i) {
        const double x = in[0](i);
        return x > 0 ? x : x * in[1][in[1].numel() == 1 ? 0 : static_cast<std::size_t>(i[1])];
      }))
      .error("parameter numbers = 3", [] { ebb::prelu(ebb::ones({3, 4}), ebb::ones({3})); });
  activation("hardtanh", [](V x) { return ebb::hardtanh(x, -1, 0.5); })
      .kinks({-1, 0.5})
      .at({-1}, -1, {0})
      .at({0.5}, 0.5, {0})
      .in_place([](In x) { return ebb::hardtanh_(x[0], -1, 0.5); })
      .reference([](double x) { return x < -1    ? -1
                                       : x > 0.5 ? 0.5
                                                 : x; });
  Row& exchanged = activation("hardtanh.exchanged", [](V x) { return ebb::hardtanh(x, 1, -1); })
                       .in_place([](In x) { return ebb::hardtanh_(x[0], 1, -1); })
                       .reference([](double) { return -1.0; })
                       .given_integers(Gives::same);
  for (const double x : {-2.0, -1.0, 0.0, 1.0, 2.0}) exchanged.at({x}, -1, {0});  // the second bound decides
  activation("hardsigmoid", ebb::hardsigmoid)
      .kinks({-3, 3})
      .in_place([](In x) { return ebb::hardsigmoid_(x[0]); })
      .reference([](double x) { return x < -3  ? 0
                                       : x > 3 ? 1
                                               : x / 6 + 0.5; });
  activation("hardswish", ebb::hardswish)
      .kinks({-3, 3})
      .at({-3}, 0, {0})
      .at({3}, 3, {1})
      .at({-INFINITY}, 0, {0})
      .in_place([](In x) { return ebb::hardswish_(x[0]); })
      .reference([](double x) { return x < -3  ? 0
                                       : x > 3 ? x
                                               : x * (x + 3) / 6; });
  activation("hardshrink", [](V x) { return ebb::hardshrink(x, 0.5); })
      .kinks({-0.5, 0.5})
      .reference([](double x) { return std::fabs(x) > 0.5 ? x : 0; });
  activation("softshrink", [](V x) { return ebb::softshrink(x, 0.5); })
      .kinks({-0.5, 0.5})
      .reference([](double x) { return x > 0.5    ? x - 0.5
                                       : x < -0.5 ? x + 0.5
                                                  : 0; })
      .error("lambd", [] { ebb::softshrink(ebb::ones({2}), -1); });
  activation("threshold", [](V x) { return ebb::threshold(x, 0.25, 7); })
      .kinks({0.25})
      .at({0.25}, 7, {0})  // values at the threshold are replaced, and no gradient passes
      .in_place([](In x) { return ebb::threshold_(x[0], 0.25, 7); })
      .reference([](double x) { return x > 0.25 ? x : 7; });
}

void exponential() {
  activation("elu", [](V x) { return ebb::elu(x, 1.5); })
      .kinks({0})
      .in_place([](In x) { return ebb::elu_(x[0], 1.5); })
      .reference([](double x) { return x > 0 ? x : 1.5 * std::expm1(x); });
  activation("elu.scaled", [](V x) { return ebb::elu(x, 1.7, 0.5, 2); }).kinks({0}).reference([](double x) {
    return x > 0 ? 0.5 * x : 0.85 * std::expm1(2 * x);
  });
  activation("selu", ebb::selu)
      .kinks({0})
      .in_place([](In x) { return ebb::selu_(x[0]); })
      .reference([](double x) {
        return 1.0507009873554804934193349852946 *
               (x > 0 ? x : 1.6732632423543772848170429916717 * std::expm1(x));
      });
  activation("celu", [](V x) { return ebb::celu(x, 1.5); })
      .kinks({0})
      .in_place([](In x) { return ebb::celu_(x[0], 1.5); })
      .reference([](double x) { return x > 0 ? x : 1.5 * std::expm1(x / 1.5); })
      .error("alpha", [] { ebb::celu(ebb::ones({2}), 0.0); });
  activation("gelu", [](V x) { return ebb::gelu(x); })
      .at({INFINITY}, INFINITY, {1})
      .at({-INFINITY}, 0, {0})
      .in_place([](In x) { return ebb::gelu_(x[0]); })
      .reference([](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); })
      .error("approximate", [] { ebb::gelu(ebb::ones({2}), "sinh"); });
  activation("gelu.tanh", [](V x) { return ebb::gelu(x, "tanh"); })
      .at({INFINITY}, INFINITY, {1})
      .at({-INFINITY}, 0, {0})
      .at({3e19}, 3e19, {1})
      .in_place([](In x) { return ebb::gelu_(x[0], "tanh"); })
      .reference([](double x) { return x * sigmoid(std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x)); });
  activation("silu", ebb::silu)
      .at({INFINITY}, INFINITY, {1})
      .at({-INFINITY}, 0, {0})
      .given_integers(Gives::error)
      .in_place([](In x) { return ebb::silu_(x[0]); })
      .reference([](double x) { return x * sigmoid(x); });
  activation("mish", ebb::mish)
      .at({INFINITY}, INFINITY, {1})
      .at({-INFINITY}, 0, {0})
      .in_place([](In x) { return ebb::mish_(x[0]); })
      .reference([](double x) { return x * std::tanh(softplus(x)); });
  activation("softplus", [](V x) { return ebb::softplus(x); })
      .at({1000}, 1000, {1})
      .at({-1000}, 0, {0})
      .reference(softplus);
  activation("softplus.beta", [](V x) { return ebb::softplus(x, 2, 20); }).reference([](double x) {
    return softplus(2 * x) / 2;
  });
  activation("softplus.high_threshold", [](V x) { return ebb::softplus(x, 1, 1000); })
      .at({90}, 90, {1})
      .reference(softplus);
  activation("softplus.threshold", [](V x) { return ebb::softplus(x, 2, 3); })
      .kinks({1.5})
      .reference([](double x) { return 2 * x > 3 ? x : softplus(2 * x) / 2; });
  activation("softsign", ebb::softsign)
      .kinks({0})
      .at({INFINITY}, 1, {0})
      .node("DivBackward0")
      .reference([](double x) { return x / (1 + std::fabs(x)); });
  activation("tanhshrink", ebb::tanhshrink)
      .at({INFINITY}, INFINITY, {1})
      .node("SubBackward0")
      .reference([](double x) {
        return std::fabs(x) < 1e-3 ? x * x * x * (1 / 3.0 - x * x * (2 / 15.0)) : x - std::tanh(x);
      });
  activation("log_sigmoid", ebb::log_sigmoid)
      .at({1000}, 0, {0})
      .at({-1000}, -1000, {1})
      .reference([](double x) { return -softplus(-x); });
  unary("glu", [](V x) { return ebb::glu(x, -1); })
      .shapes({{{3, 4}}, {{2, 3, 6}}})
      .reference([](const Arrays& in) {
        Sizes sizes = in[0].sizes;
        sizes.back() /= 2;
        return Arrays{build(sizes, [&](Index i) {
          const double a = in[0](i);
          i.back() += sizes.back();
          return a * sigmoid(in[0](i));
        })};
      })
      .error("even", [] { ebb::glu(ebb::ones({3, 5})); });
}

}  // namespace

void register_activation() {
  family("elementwise");
  linear_pieces();
  exponential();
}

}  // namespace optable
