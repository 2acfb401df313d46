// One operand, element by element.
#include "optable/rows.h"

#include <cmath>

namespace optable {
namespace {

using In = const variable_list&;
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
  pair("erf", ebb::erf, ebb::erf_).reference(std::erf);
  pair("erfc", ebb::erfc, ebb::erfc_).reference(std::erfc);
  pair("lgamma", ebb::lgamma, ebb::lgamma_).reference(std::lgamma).range(0.5, 4);
  pair("neg", ebb::neg, ebb::neg_).reference([](double x) { return -x; });
  pair("abs", ebb::abs, ebb::abs_).reference(std::fabs).kinks({0});
  pair("square", ebb::square, ebb::square_).reference([](double x) { return x * x; });
  pair("reciprocal", ebb::reciprocal, ebb::reciprocal_).range(0.4, 3).reference([](double x) {
    return 1 / x;
  });
  pair("sigmoid", ebb::sigmoid, ebb::sigmoid_).reference([](double x) { return 1 / (1 + std::exp(-x)); });
}

void stepwise() {
  pair("floor", ebb::floor, ebb::floor_).reference(std::floor).kinks({-1, 0, 1}).order(0, kFlat);
  pair("ceil", ebb::ceil, ebb::ceil_).reference(std::ceil).kinks({-1, 0, 1}).order(0, kFlat);
  pair("trunc", ebb::trunc, ebb::trunc_).reference(std::trunc).kinks({-1, 0, 1}).order(0, kFlat);
  pair("sign", ebb::sign, ebb::sign_).kinks({0}).order(0, kFlat).reference([](double x) {
    return double((x > 0) - (x < 0));
  });
  pair("frac", ebb::frac, ebb::frac_).kinks({-1, 0, 1}).reference([](double x) { return x - std::trunc(x); });
  unary("isnan", ebb::isnan).order(0, kNoGradient).reference([](double x) { return double(std::isnan(x)); });
  unary("isinf", ebb::isinf).order(0, kNoGradient).reference([](double x) { return double(std::isinf(x)); });
  unary("isfinite", ebb::isfinite).order(0, kNoGradient).reference([](double x) {
    return double(std::isfinite(x));
  });
  unary("signbit", ebb::signbit).order(0, kNoGradient).reference([](double x) {
    return double(std::signbit(x));
  });
}

void rest() {
  unary("digamma", ebb::digamma).range(0.5, 4);
  unary("erfinv", ebb::erfinv).range(-0.8, 0.8);
  unary("sinc", ebb::sinc).kinks({0});
  unary("logit", [](const Variable& x) { return ebb::logit(x); }).range(0.1, 0.9).reference([](double x) {
    return std::log(x / (1 - x));
  });
  unary("deg2rad", ebb::deg2rad).reference([](double x) { return x * M_PI / 180; });
  unary("rad2deg", ebb::rad2deg).reference([](double x) { return x * 180 / M_PI; });
  unary("nan_to_num", [](const Variable& x) { return ebb::nan_to_num(x); }).reference([](double x) {
    return x;
  });
  unary("positive", ebb::positive).reference([](double x) { return x; });
  unary("sgn", ebb::sgn).kinks({0}).order(0, kFlat).reference([](double x) {
    return double((x > 0) - (x < 0));
  });
  unary("isposinf", ebb::isposinf).order(0, kNoGradient).reference([](double) { return 0.0; });
  unary("isneginf", ebb::isneginf).order(0, kNoGradient).reference([](double) { return 0.0; });
}

}  // namespace

void register_unary() {
  rest();
  smooth();
  stepwise();
}

}  // namespace optable
