// One operand, element by element.
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
// Of integers it makes floating numbers.
Row& real(const char* name, Plain f, Twin twin) {
  return pair(name, f, twin).given_integers(Gives::floating).given_booleans(Gives::floating);
}
// A step's slope is 0 everywhere, exactly.
Row& step(const char* name, Plain f, Twin twin) {
  return pair(name, f, twin)
      .at({0.25}, f(ebb::full({}, 0.25)).item<double>(), {0})
      .given_integers(Gives::same);
}

const char* const kFlat = "the derivative is zero";
const char* const kNoGradient = "the result is not a function with a slope";

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

// Recurrences carry x up to where the asymptotic series are exact.
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
  for (const double half : {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5})  // to the even neighbour
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
  truth(
      "isposinf", [](V x) { return ebb::isposinf(x / 0); }, [](double x) { return double(x > 0); });
  truth(
      "isneginf", [](V x) { return ebb::isneginf(x / 0); }, [](double x) { return double(x < 0); });
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

}  // namespace optable
