// Rows of elementwise ops with two and three broadcast operands; rounded quotients and remainders.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

const char* const kBoth = "broadcast";
constexpr double kInf = INFINITY, kNan = NAN;

void arithmetic() {
  binary("add", [](V a, V b) { return ebb::add(a, b, 2); })
      .reference([](double a, double b) { return a + 2 * b; })
      .node("AddBackward0")
      .given_integers(Gives::same)
      .in_place([](In x) { return ebb::add_(x[0], x[1], 2); })
      .error(kBoth, [] { ebb::add(ebb::ones({2}), ebb::ones({3})); })
      .error("alpha", [] { ebb::add(ebb::ones({2}, ebb::kLong), ebb::ones({2}, ebb::kLong), 0.5); });
  binary("sub", [](V a, V b) { return ebb::sub(a, b); })
      .reference([](double a, double b) { return a - b; })
      .in_place([](In x) { return ebb::sub_(x[0], x[1]); })
      .error("bool tensors", [] { ebb::sub(ebb::ones({2}, ebb::kBool), ebb::ones({2}, ebb::kBool)); });
  binary("sub.alpha", [](V a, V b) {
    return ebb::sub(a, b, 2);
  }).reference([](double a, double b) {
      return a - 2 * b;
    }).in_place([](In x) { return ebb::sub_(x[0], x[1], 2); });
  unary("sub.number_first", [](V x) { return 3 - x; }).node("SubBackward0").reference([](double x) {
    return 3 - x;
  });
  binary("rsub", [](V a, V b) { return ebb::rsub(a, b, 2); }).reference([](double a, double b) {
    return b - 2 * a;
  });
  binary("mul", [](V a, V b) { return ebb::mul(a, b); })
      .reference([](double a, double b) { return a * b; })
      .in_place([](In x) { return ebb::mul_(x[0], x[1]); })
      .error(kBoth, [] { ebb::mul(ebb::ones({2}), ebb::ones({3})); });
  binary("div", [](V a, V b) { return ebb::div(a, b); })
      .range(-2, 2)
      .range(0.5, 3)
      .reference([](double a, double b) { return a / b; })
      .given_integers(Gives::floating)
      .given_booleans(Gives::floating)
      .in_place([](In x) { return ebb::div_(x[0], x[1]); })
      .error("rounding_mode", [] { ebb::div(ebb::ones({2}), 2, "up"); })
      .error("nearest", [] { ebb::div(ebb::ones({2}), 2, "nearest"); });
  unary("div.number_first", [](V x) { return 3 / x; })
      .node("DivBackward0")
      .range(0.5, 3)
      .reference([](double x) { return 3 / x; });
  binary("ldexp", [](V a, V b) { return ebb::ldexp(a, b); })
      .node("MulBackward0")
      .at({0x1p-1000, 1500}, 0x1p500)
      .at({0, 5000}, 0)
      .reference([](double a, double b) { return a == 0 ? a : a * std::exp2(b); })
      .in_place([](In x) { return ebb::ldexp_(x[0], x[1]); });
}

void powers() {
  binary("pow", [](V a, V b) { return ebb::pow(a, b); })
      .range(0.3, 3)
      .range(-2.5, 2.5)
      .reference(std::pow)
      .node("PowBackward1")
      .at({0, 0}, 1, {0, 0})  // for exponents from 0 on, a power of 0 does not depend on the exponent
      .at({0, 0.5}, 0, {kInf, 0})
      .at({0, 1}, 0, {1, 0})
      .at({0, 2}, 0, {0, 0})
      .at({0, 3}, 0, {0, 0})
      .at({0, -1}, kInf, {-kInf, -kInf})
      .in_place([](In x) { return ebb::pow_(x[0], x[1]); })
      .error("negative", [] { ebb::pow(ebb::ones({2}, ebb::kLong), -1); });
  unary("pow.scalar", [](V x) { return ebb::pow(x, 3); })
      .reference([](double x) { return x * x * x; })
      .node("PowBackward0")
      .given_integers(Gives::same);
  unary("pow.base", [](V x) { return ebb::pow(2, x); }).node("PowBackward2").reference([](double x) {
    return std::pow(2, x);
  });
  binary("atan2", [](V a, V b) { return ebb::atan2(a, b); })
      .range(-3, 3)
      .kinks({0})
      .at({0, 0}, 0, {0, 0})
      .at({1, kInf}, 0, {0, 0})
      .reference(std::atan2)
      .in_place([](In x) { return ebb::atan2_(x[0], x[1]); });
  binary("hypot", [](V a, V b) { return ebb::hypot(a, b); })
      .range(-3, 3)
      .kinks({0})
      .at({0, 0}, 0, {0, 0})
      .at({-kInf, 1}, kInf, {-1, 0})
      .reference([](double a, double b) { return std::sqrt(a * a + b * b); })
      .in_place([](In x) { return ebb::hypot_(x[0], x[1]); })
      .error("hypot", [] { ebb::hypot(ebb::ones({2}, ebb::kLong), ebb::ones({2}, ebb::kLong)); });
  binary("logaddexp", [](V a, V b) { return ebb::logaddexp(a, b); })
      .at({-kInf, -kInf}, -kInf)
      .at({1000, 999}, 1000.3132616875182, {}, 1e-15)
      .reference([](double a, double b) { return std::log(std::exp(a) + std::exp(b)); });
  binary("logaddexp2", [](V a, V b) { return ebb::logaddexp2(a, b); }).reference([](double a, double b) {
    return std::log2(std::exp2(a) + std::exp2(b));
  });
  binary("xlogy", [](V a, V b) { return ebb::xlogy(a, b); })
      .range(-2.5, 2.5)
      .range(0.3, 3)
      .at({0, 0}, 0)
      .at({0, kInf}, 0)
      .at({0, -1}, 0, {0, 0})
      .at({0, 2}, 0)
      .at({0, kNan}, kNan)
      .at({2, -1}, kNan)
      .reference([](double a, double b) { return a * std::log(b); })
      .in_place([](In x) { return ebb::xlogy_(x[0], x[1]); });
}

void choices() {
  binary("maximum", [](V a, V b) { return ebb::maximum(a, b); })
      .at({1, 1}, 1, {0.5, 0.5})
      .at({kNan, 1}, kNan, {1, 1})
      .at({1, kNan}, kNan, {1, 1})
      .reference([](double a, double b) { return a > b ? a : b; });
  binary("minimum", [](V a, V b) { return ebb::minimum(a, b); })
      .at({1, 1}, 1, {0.5, 0.5})
      .at({kNan, 1}, kNan, {1, 1})
      .at({1, kNan}, kNan, {1, 1})
      .reference([](double a, double b) { return a < b ? a : b; });
  binary("fmax", [](V a, V b) { return ebb::fmax(a, b); })
      .at({1, 1}, 1, {0.5, 0.5})
      .at({kNan, 1}, 1, {0, 1})
      .at({1, kNan}, 1, {1, 0})
      .at({kNan, kNan}, kNan, {1, 0})
      .reference(std::fmax);
  binary("fmin", [](V a, V b) { return ebb::fmin(a, b); })
      .at({1, 1}, 1, {0.5, 0.5})
      .at({kNan, 1}, 1, {0, 1})
      .at({1, kNan}, 1, {1, 0})
      .at({kNan, kNan}, kNan, {1, 0})
      .reference(std::fmin);
  binary("copysign", [](V a, V b) { return ebb::copysign(a, b); })
      .kinks({0})
      .at({kInf, -2}, -kInf, {-1, 0})
      .reference(std::copysign)
      .in_place([](In x) { return ebb::copysign_(x[0], x[1]); });
  binary("heaviside", [](V a, V b) { return ebb::heaviside(a, b); })
      .kinks({0})
      .order(0, "a step function has no derivative")
      .reference([](double a, double b) { return a < 0   ? 0
                                                 : a > 0 ? 1
                                                         : b; })
      .in_place([](In x) { return ebb::heaviside_(x[0], x[1]); })
      .error("heaviside", [] { ebb::heaviside(ebb::ones({2}), ebb::ones({2}, ebb::kF64)); });
  unary("clamp", [](V x) { return ebb::clamp(x, -0.5, 1); })
      .kinks({-0.5, 1})
      .at({-0.5}, -0.5, {0})
      .at({1}, 1, {0})
      .at({kNan}, kNan)
      .node("ClampBackward1")
      .finite()
      .reference([](double x) { return x < -0.5 ? -0.5
                                       : x > 1  ? 1
                                                : x; })
      .in_place([](In x) { return ebb::clamp_(x[0], -0.5, 1); })
      .error("clamp", [] { ebb::clamp(ebb::ones({2}), ebb::optional<ebb::Scalar>()); });
  unary("clamp_min", [](V x) { return ebb::clamp_min(x, 0.5); })
      .kinks({0.5})
      .at({0.5}, 0.5, {0})
      .at({kNan}, kNan)
      .reference([](double x) { return x < 0.5 ? 0.5 : x; })
      .in_place([](In x) { return ebb::clamp_min_(x[0], 0.5); });
  unary("clamp_max", [](V x) { return ebb::clamp_max(x, 0.5); })
      .kinks({0.5})
      .at({0.5}, 0.5, {0})
      .at({kNan}, kNan)
      .reference([](double x) { return x > 0.5 ? 0.5 : x; })
      .in_place([](In x) { return ebb::clamp_max_(x[0], 0.5); });
}

void one_sided_clamps() {
  unary("clamp.low_only", [](V x) { return ebb::clamp(x, -1, {}); })
      .kinks({-1})
      .at({-1}, -1, {0})
      .at({kNan}, kNan)
      .reference([](double x) { return x < -1 ? -1 : x; });
  unary("clamp.high_only", [](V x) { return ebb::clamp(x, {}, 1); })
      .kinks({1})
      .at({1}, 1, {0})
      .at({kNan}, kNan)
      .reference([](double x) { return x > 1 ? 1 : x; });
}

void ternary() {
  row("clamp.tensors", [](In x) { return variable_list{ebb::clamp(x[0], x[1], x[2])}; })
      .pointwise(3)
      .range(-2, 2)
      .range(-1, -0.5)
      .range(0.5, 1)
      .at({1, 1, 2}, 1, {0.5, 0.5, 0})
      .at({2, 1, 2}, 2, {0.5, 0, 0.5})
      .at({1, 1, 1}, 1, {1, 0, 0})
      .at({1, 2, 2}, 2, {0, 1, 0})
      .at({3, 2, 2}, 2, {0, 0, 1})
      .reference([](double x, double low, double high) { return x < low    ? low
                                                                : x > high ? high
                                                                           : x; })
      .in_place([](In x) { return ebb::clamp_(x[0], x[1], x[2]); });
  row("lerp", [](In x) { return variable_list{ebb::lerp(x[0], x[1], x[2])}; })
      .pointwise(3)
      .range(0.1, 0.9)
      .at({1e20, 1, 1}, 1)
      .at({1, 1e20, 1}, 1e20)
      .at({-1e20, 3, 1}, 3)
      .reference([](double a, double b, double w) { return a + w * (b - a); })
      .in_place([](In x) { return ebb::lerp_(x[0], x[1], x[2]); })
      .error("lerp", [] { ebb::lerp(ebb::ones({2}), ebb::ones({2}, ebb::kF64), 0.5); });
  row("addcmul", [](In x) { return variable_list{ebb::addcmul(x[0], x[1], x[2], 0.5)}; })
      .pointwise(3)
      .reference([](double a, double b, double c) { return a + 0.5 * b * c; })
      .in_place([](In x) { return ebb::addcmul_(x[0], x[1], x[2], 0.5); });
  row("addcdiv", [](In x) { return variable_list{ebb::addcdiv(x[0], x[1], x[2], 0.5)}; })
      .pointwise(3)
      .range(-2, 2)
      .range(-2, 2)
      .range(0.5, 2)
      .reference([](double a, double b, double c) { return a + 0.5 * b / c; })
      .at({1, 1, 0x1p515}, 1, {1, 0x1p-516, -0x1p-1031})
      .in_place([](In x) { return ebb::addcdiv_(x[0], x[1], x[2], 0.5); })
      .error("addcdiv", [] {
        const Variable x = ebb::ones({2}, ebb::kLong);
        ebb::addcdiv(x, x, x);
      });
  row("where", [](In x) { return variable_list{ebb::where(x[0], x[1], x[2])}; })
      .pointwise(3)
      .booleans(0)
      .node("WhereBackward0")
      .at({1, 1, kNan}, 1, {1, 0})
      .at({0, kNan, 2}, 2, {0, 1})
      .reference([](double c, double a, double b) { return c != 0 ? a : b; })
      .error("boolean", [] { ebb::where(ebb::ones({2}), ebb::ones({2}), ebb::ones({2})); });
}

}  // namespace

void register_binary() {
  family("elementwise");
  arithmetic();
  powers();
  choices();
  one_sided_clamps();
  ternary();
}

// Rounded quotients and remainders of floating numbers and of integers.

namespace {

double python_remainder(double a, double b) { return a - b * std::floor(a / b); }

// Both signs of both operands determine how the quotient is rounded, and the derivative for the divisor.
using Round = double (*)(double);
constexpr std::pair<double, double> kSigns[] = {{7, 2}, {-7, 2}, {7, -2}, {-7, -2}, {0, 5}};

Row& with_quotients(Row& row, Round round) {
  for (const auto& [a, b] : kSigns) row.at({a, b}, round(a / b));
  return row;
}
Row& with_remainders(Row& row, Round round) {
  for (const auto& [a, b] : kSigns)
    if (a != 0) row.at({a, b}, a - b * round(a / b), {1, -round(a / b)});
  return row;
}

// Quotients are not integers: one operand is in [1.1, 1.9], the other one is near a power of two.
void divisions() {
  const char* const flat = "rounded quotients have no derivative";
  with_quotients(binary("div.floor", [](V a, V b) { return ebb::div(a, b, "floor"); }), std::floor)
      .range(-1.9, -1.1)
      .range(0.96, 1.04)
      .node("DivBackward2")
      .reference([](double a, double b) { return std::floor(a / b); })
      .in_place([](In x) { return ebb::div_(x[0], x[1], "floor"); });
  with_quotients(binary("div.trunc", [](V a, V b) { return ebb::div(a, b, "trunc"); }), std::trunc)
      .range(-1.9, -1.1)
      .range(0.96, 1.04)
      .reference([](double a, double b) { return std::trunc(a / b); })
      .in_place([](In x) { return ebb::div_(x[0], x[1], "trunc"); });
  with_quotients(binary("floor_divide", [](V a, V b) { return ebb::floor_divide(a, b); }), std::floor)
      .range(-1.9, -1.1)
      .range(0.96, 1.04)
      .order(0, flat)
      .reference([](double a, double b) { return std::floor(a / b); })
      .in_place([](In x) { return ebb::floor_divide_(x[0], x[1]); })
      .error("divisor is 0", [] { ebb::floor_divide(ebb::ones({2}, ebb::kLong), 0); });
  with_remainders(binary("fmod", [](V a, V b) { return ebb::fmod(a, b); }), std::trunc)
      .range(-1.9, -1.1)
      .range(0.96, 1.04)
      .reference(std::fmod)
      .in_place([](In x) { return ebb::fmod_(x[0], x[1]); });
  with_remainders(binary("remainder", [](V a, V b) { return ebb::remainder(a, b); }), std::floor)
      .range(-1.9, -1.1)
      .range(0.96, 1.04)
      .node("RemainderBackward1")
      .reference(python_remainder)
      .in_place([](In x) { return ebb::remainder_(x[0], x[1]); });
}

// Returns the row for integers, including the lowest one divided by -1.
Row& between_integers(Row& row) {
  return row.integers(0, -9, 9).integers(1, 1, 5).order(0, "integers have no derivative").gives(ebb::kLong);
}

void integer_divisions() {
  const double lowest = -0x1p63;
  const Variable one = ebb::ones({1}, ebb::kLong), zero = ebb::zeros({1}, ebb::kLong);
  between_integers(
      with_quotients(binary("div.floor_of_integers", [](V a, V b) { return ebb::div(a, b, "floor"); }),
                     std::floor))
      .reference([](double a, double b) { return std::floor(a / b); })
      .in_place([](In x) { return ebb::div_(x[0], x[1], "floor"); })
      .error("ZeroDivisionError", [=] { ebb::div(one, zero, "floor"); });
  between_integers(
      with_quotients(binary("div.trunc_of_integers", [](V a, V b) { return ebb::div(a, b, "trunc"); }),
                     std::trunc))
      .at({lowest, -1}, lowest)
      .reference([](double a, double b) { return std::trunc(a / b); })
      .in_place([](In x) { return ebb::div_(x[0], x[1], "trunc"); })
      .error("ZeroDivisionError", [=] { ebb::div(one, zero, "trunc"); });
  Row& modulus = between_integers(binary("fmod.of_integers", [](V a, V b) { return ebb::fmod(a, b); }));
  modulus.reference(std::fmod).in_place([](In x) { return ebb::fmod_(x[0], x[1]); });
  Row& remainder =
      between_integers(binary("remainder.of_integers", [](V a, V b) { return ebb::remainder(a, b); }));
  remainder.at({lowest, -1}, 0)
      .reference(python_remainder)
      .in_place([](In x) { return ebb::remainder_(x[0], x[1]); })
      .error("ZeroDivisionError", [=] { ebb::remainder(one, 0); });
  for (const auto& [a, b] : kSigns) {
    modulus.at({a, b}, std::fmod(a, b));
    remainder.at({a, b}, python_remainder(a, b));
  }
  between_integers(binary("pow.of_integers", [](V a, V b) { return ebb::pow(a, b); }))
      .at({2, 0}, 1)
      .at({-3, 1}, -3)
      .at({-3, 3}, -27)
      .at({4, 5}, 1024)
      .reference(std::pow)
      .in_place([](In x) { return ebb::pow_(x[0], x[1]); });
}

}  // namespace

void register_division() {
  family("elementwise");
  divisions();
  integer_divisions();
}

}  // namespace optable
