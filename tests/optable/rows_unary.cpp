// One operand, element by element.
#include "optable/reference.h"
#include "optable/rows.h"

#include <cmath>

namespace optable {
namespace {

using Plain = Variable (*)(const Variable&);
using Twin = Variable& (*)(const Variable&);

Row& pair(const char* name, Plain f, Twin twin) {
  return unary(name, f).in_place([twin](In x) { return twin(x[0]); });
}

const char* const kFlat = "the derivative is zero";
const char* const kNoGradient = "the result is not a function with a slope";

void smooth() {
  pair("exp", ebb::exp, ebb::exp_).reference(std::exp);
  pair("exp2", ebb::exp2, ebb::exp2_).reference(std::exp2);
  pair("expm1", ebb::expm1, ebb::expm1_).reference(std::expm1);
  pair("log", ebb::log, ebb::log_).reference(std::log).range(0.2, 4);
  pair("log2", ebb::log2, ebb::log2_).reference(std::log2).range(0.2, 4);
  pair("log10", ebb::log10, ebb::log10_).reference(std::log10).range(0.2, 4);
  pair("log1p", ebb::log1p, ebb::log1p_).reference(std::log1p).range(-0.7, 4);
  pair("sqrt", ebb::sqrt, ebb::sqrt_).reference(std::sqrt).range(0.3, 4);
  pair("rsqrt", ebb::rsqrt, ebb::rsqrt_).range(0.3, 4).reference([](double x) { return 1 / std::sqrt(x); });
  pair("sin", ebb::sin, ebb::sin_).reference(std::sin);
  pair("cos", ebb::cos, ebb::cos_).reference(std::cos);
  pair("tan", ebb::tan, ebb::tan_).reference(std::tan).range(-1.2, 1.2);
  pair("asin", ebb::asin, ebb::asin_).reference(std::asin).range(-0.8, 0.8);
  pair("acos", ebb::acos, ebb::acos_).reference(std::acos).range(-0.8, 0.8);
  pair("atan", ebb::atan, ebb::atan_).reference(std::atan);
  pair("sinh", ebb::sinh, ebb::sinh_).reference(std::sinh);
  pair("cosh", ebb::cosh, ebb::cosh_).reference(std::cosh);
  pair("tanh", ebb::tanh, ebb::tanh_).reference(std::tanh);
  pair("asinh", ebb::asinh, ebb::asinh_).reference(std::asinh);
  pair("acosh", ebb::acosh, ebb::acosh_).reference(std::acosh).range(1.3, 4);
  pair("atanh", ebb::atanh, ebb::atanh_).reference(std::atanh).range(-0.8, 0.8);
  pair("neg", ebb::neg, ebb::neg_).reference([](double x) { return -x; }).error("bool tensor", [] {
    ebb::neg(ebb::ones({2}, ebb::kBool));
  });
  pair("abs", ebb::abs, ebb::abs_).reference(std::fabs).kinks({0});
  pair("square", ebb::square, ebb::square_).reference([](double x) { return x * x; });
  pair("reciprocal", ebb::reciprocal, ebb::reciprocal_).range(0.4, 3).reference([](double x) {
    return 1 / x;
  });
  pair("sigmoid", ebb::sigmoid, ebb::sigmoid_).reference([](double x) { return 1 / (1 + std::exp(-x)); });
  pair("deg2rad", ebb::deg2rad, ebb::deg2rad_).reference([](double x) { return x * M_PI / 180; });
  pair("rad2deg", ebb::rad2deg, ebb::rad2deg_).reference([](double x) { return x * 180 / M_PI; });
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
  double x = 0;
  for (int i = 0; i < 50; ++i) x -= (std::erf(x) - y) * std::sqrt(M_PI) / 2 * std::exp(x * x);
  return x;
}

void special() {
  pair("erf", ebb::erf, ebb::erf_).reference(std::erf);
  pair("erfc", ebb::erfc, ebb::erfc_).reference(std::erfc);
  pair("lgamma", ebb::lgamma, ebb::lgamma_).reference(std::lgamma).range(0.5, 4);
  pair("digamma", ebb::digamma, ebb::digamma_).range(0.5, 4).reference(digamma);
  unary("polygamma", [](V x) { return ebb::polygamma(1, x); })
      .range(0.5, 4)
      .reference(trigamma)
      .error("polygamma", [] { ebb::polygamma(-1, ebb::ones({2})); });
  unary("polygamma.second", [](V x) { return ebb::polygamma(2, x); }).range(0.7, 4).reference(tetragamma);
  pair("erfinv", ebb::erfinv, ebb::erfinv_).range(-0.8, 0.8).reference(inverse_erf);
  pair("sinc", ebb::sinc, ebb::sinc_).kinks({0}).reference([](double x) {
    return std::sin(M_PI * x) / (M_PI * x);
  });
  unary("logit", [](V x) { return ebb::logit(x); })
      .range(0.1, 0.9)
      .reference([](double x) { return std::log(x / (1 - x)); })
      .in_place([](In x) { return ebb::logit_(x[0]); });
  unary("logit.eps", [](V x) { return ebb::logit(x, 0.3); })
      .range(0.1, 0.9)
      .kinks({0.3, 0.7})
      .reference([](double x) {
        const double z = x < 0.3 ? 0.3 : x > 0.7 ? 0.7 : x;
        return std::log(z / (1 - z));
      });
}

void stepwise() {
  const std::vector<double> whole = {-1, 0, 1}, halves = {-1.5, -0.5, 0.5, 1.5};
  pair("floor", ebb::floor, ebb::floor_).reference(std::floor).kinks(whole);
  pair("ceil", ebb::ceil, ebb::ceil_).reference(std::ceil).kinks(whole);
  pair("trunc", ebb::trunc, ebb::trunc_).reference(std::trunc).kinks(whole);
  pair("round", ebb::round, ebb::round_).reference(std::nearbyint).kinks(halves);
  unary("round.decimals", [](V x) { return ebb::round(x, 1); })
      .range(0.06, 0.14)
      .reference([](double x) { return std::nearbyint(x * 10) / 10; })
      .in_place([](In x) { return ebb::round_(x[0], 1); });
  pair("sign", ebb::sign, ebb::sign_).kinks({0}).reference([](double x) {
    return double((x > 0) - (x < 0));
  });
  pair("sgn", ebb::sgn, ebb::sgn_).kinks({0}).reference([](double x) { return double((x > 0) - (x < 0)); });
  pair("frac", ebb::frac, ebb::frac_).kinks(whole).reference([](double x) { return x - std::trunc(x); });
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

void truths() {
  unary("isnan", ebb::isnan).order(0, kNoGradient).reference([](double x) { return double(std::isnan(x)); });
  unary("isinf", ebb::isinf).order(0, kNoGradient).reference([](double x) { return double(std::isinf(x)); });
  unary("isfinite", ebb::isfinite).order(0, kNoGradient).reference([](double x) {
    return double(std::isfinite(x));
  });
  unary("isposinf", [](V x) { return ebb::isposinf(x / 0); }).order(0, kNoGradient).reference([](double x) {
    return double(x > 0);
  });
  unary("isneginf", [](V x) { return ebb::isneginf(x / 0); }).order(0, kNoGradient).reference([](double x) {
    return double(x < 0);
  });
  unary("signbit", ebb::signbit).order(0, kNoGradient).reference([](double x) {
    return double(std::signbit(x));
  });
  pair("logical_not", ebb::logical_not, ebb::logical_not_)
      .integers(0, 0, 3)
      .order(0, kNoGradient)
      .reference([](double x) { return double(x == 0); });
  pair("bitwise_not", ebb::bitwise_not, ebb::bitwise_not_)
      .integers(0, -9, 9)
      .order(0, kNoGradient)
      .reference([](double x) { return double(~static_cast<std::int64_t>(x)); })
      .error("bitwise_not", [] { ebb::bitwise_not(ebb::ones({2})); });
  pair("bitwise_not.bool", ebb::bitwise_not, ebb::bitwise_not_)
      .booleans(0)
      .order(0, kNoGradient)
      .reference([](double x) { return 1 - x; });
}

}  // namespace

void register_unary() {
  smooth();
  special();
  stepwise();
  truths();
}

}  // namespace optable
