// Two and three operands, element by element, broadcast.
#include "optable/rows.h"

#include <cmath>

namespace optable {
namespace {

using In = const variable_list&;
using V = const Variable&;

const char* const kTruth = "a truth value has no slope";
const char* const kBoth = "broadcast";

void arithmetic() {
  binary("add", [](V a, V b) { return ebb::add(a, b, 2); })
      .reference([](double a, double b) { return a + 2 * b; })
      .in_place([](In x) { return ebb::add_(x[0], x[1], 2); })
      .error(kBoth, [] { ebb::add(ebb::ones({2}), ebb::ones({3})); });
  binary("sub", [](V a, V b) {
    return ebb::sub(a, b);
  }).reference([](double a, double b) {
      return a - b;
    }).in_place([](In x) { return ebb::sub_(x[0], x[1]); });
  binary("rsub", [](V a, V b) { return ebb::rsub(a, b); }).reference([](double a, double b) {
    return b - a;
  });
  binary("mul", [](V a, V b) {
    return ebb::mul(a, b);
  }).reference([](double a, double b) {
      return a * b;
    }).in_place([](In x) { return ebb::mul_(x[0], x[1]); });
  binary("div", [](V a, V b) { return ebb::div(a, b); })
      .range(-2, 2)
      .range(0.5, 3)
      .reference([](double a, double b) { return a / b; })
      .in_place([](In x) { return ebb::div_(x[0], x[1]); });
  binary("pow", [](V a, V b) { return ebb::pow(a, b); })
      .range(0.3, 2)
      .range(-2, 2)
      .reference(std::pow)
      .in_place([](In x) { return ebb::pow_(x[0], x[1]); });
  unary("pow.scalar", [](V x) { return ebb::pow(x, 3); }).reference([](double x) { return x * x * x; });
  unary("pow.base", [](V x) { return ebb::pow(2, x); }).reference([](double x) { return std::pow(2, x); });
  binary("atan2", [](V a, V b) { return ebb::atan2(a, b); }).range(0.3, 2).reference(std::atan2);
  binary("hypot", [](V a, V b) { return ebb::hypot(a, b); }).range(0.3, 2).reference([](double a, double b) {
    return std::sqrt(a * a + b * b);
  });
  binary("logaddexp", [](V a, V b) { return ebb::logaddexp(a, b); }).reference([](double a, double b) {
    return std::log(std::exp(a) + std::exp(b));
  });
  binary("logaddexp2", [](V a, V b) { return ebb::logaddexp2(a, b); }).reference([](double a, double b) {
    return std::log2(std::exp2(a) + std::exp2(b));
  });
  binary("xlogy", [](V a, V b) { return ebb::xlogy(a, b); }).range(0.3, 2).reference([](double a, double b) {
    return a * std::log(b);
  });
}

void choices() {
  binary("maximum", [](V a, V b) { return ebb::maximum(a, b); }).reference([](double a, double b) {
    return a > b ? a : b;
  });
  binary("minimum", [](V a, V b) { return ebb::minimum(a, b); }).reference([](double a, double b) {
    return a < b ? a : b;
  });
  binary("fmax", [](V a, V b) { return ebb::fmax(a, b); }).reference(std::fmax);
  binary("fmin", [](V a, V b) { return ebb::fmin(a, b); }).reference(std::fmin);
  unary("clamp", [](V x) { return ebb::clamp(x, -0.5, 1); }).kinks({-0.5, 1}).reference([](double x) {
    return x < -0.5 ? -0.5 : x > 1 ? 1 : x;
  });
  unary("clamp_min", [](V x) { return ebb::clamp_min(x, 0.5); }).kinks({0.5}).reference([](double x) {
    return x < 0.5 ? 0.5 : x;
  });
  unary("clamp_max", [](V x) { return ebb::clamp_max(x, 0.5); }).kinks({0.5}).reference([](double x) {
    return x > 0.5 ? 0.5 : x;
  });
}

void truths() {
  binary("eq", [](V a, V b) { return ebb::eq(a, b); }).order(0, kTruth).reference([](double a, double b) {
    return double(a == b);
  });
  binary("ne", [](V a, V b) { return ebb::ne(a, b); }).order(0, kTruth).reference([](double a, double b) {
    return double(a != b);
  });
  binary("lt", [](V a, V b) { return ebb::lt(a, b); }).order(0, kTruth).reference([](double a, double b) {
    return double(a < b);
  });
  binary("le", [](V a, V b) { return ebb::le(a, b); }).order(0, kTruth).reference([](double a, double b) {
    return double(a <= b);
  });
  binary("gt", [](V a, V b) { return ebb::gt(a, b); }).order(0, kTruth).reference([](double a, double b) {
    return double(a > b);
  });
  binary("ge", [](V a, V b) { return ebb::ge(a, b); }).order(0, kTruth).reference([](double a, double b) {
    return double(a >= b);
  });
}

void ternary() {
  const std::vector<std::vector<Sizes>> three = {{{3, 4}, {3, 4}, {3, 4}}, {{2, 1}, {3}, {1}}};
  row("lerp", [](In x) { return variable_list{ebb::lerp(x[0], x[1], x[2])}; })
      .shapes(three)
      .range(0.1, 0.9)
      .reference([](double a, double b, double w) { return a + w * (b - a); });
  row("addcmul", [](In x) { return variable_list{ebb::addcmul(x[0], x[1], x[2], 0.5)}; })
      .shapes(three)
      .reference([](double a, double b, double c) { return a + 0.5 * b * c; });
  row("addcdiv", [](In x) { return variable_list{ebb::addcdiv(x[0], x[1], x[2], 0.5)}; })
      .shapes(three)
      .range(-2, 2)
      .range(-2, 2)
      .range(0.5, 2)
      .reference([](double a, double b, double c) { return a + 0.5 * b / c; });
  row("where", [](In x) { return variable_list{ebb::where(x[0] > 0, x[1], x[2])}; })
      .shapes(three)
      .constant(0)
      .kinks({0})
      .reference([](double c, double a, double b) { return c > 0 ? a : b; });
}

}  // namespace

void register_binary() {
  arithmetic();
  choices();
  truths();
  ternary();
}

}  // namespace optable
