// Overloads of elementwise ops in which operands are numbers, or bounds tensors.
#include "optable/reference.h"
#include "optable/rows.h"

#include <cmath>

namespace optable {

void register_numbers() {
  unary("add.number", [](V x) {
    return ebb::add(x, 3, 2);
  }).reference([](double x) {
      return x + 6;
    }).in_place([](In x) { return ebb::add_(x[0], 3, 2); });
  unary("sub.number", [](V x) {
    return ebb::sub(x, 3, 2);
  }).reference([](double x) {
      return x - 6;
    }).in_place([](In x) { return ebb::sub_(x[0], 3, 2); });
  unary("rsub.number", [](V x) { return ebb::rsub(x, 3, 2); }).reference([](double x) { return 3 - 2 * x; });
  unary("mul.number", [](V x) {
    return ebb::mul(x, 3);
  }).reference([](double x) {
      return x * 3;
    }).in_place([](In x) { return ebb::mul_(x[0], 3); });
  unary("div.number", [](V x) {
    return ebb::div(x, 3);
  }).reference([](double x) {
      return x / 3;
    }).in_place([](In x) { return ebb::div_(x[0], 3); });
  unary("fmod.number", [](V x) { return ebb::fmod(x, 1.5); })
      .kinks({-1.5, 1.5})
      .reference([](double x) { return std::fmod(x, 1.5); })
      .in_place([](In x) { return ebb::fmod_(x[0], 1.5); });
  unary("remainder.number", [](V x) { return ebb::remainder(x, 1.5); })
      .kinks({-1.5, 0, 1.5})
      .reference([](double x) { return x - 1.5 * std::floor(x / 1.5); })
      .in_place([](In x) { return ebb::remainder_(x[0], 1.5); });
  unary("remainder.number_first", [](V x) { return ebb::remainder(1.5, x); })
      .range(1.1, 1.45)
      .reference([](double x) { return 1.5 - x; });
  unary("xlogy.number", [](V x) {
    return ebb::xlogy(x, 2.5);
  }).reference([](double x) {
      return x * std::log(2.5);
    }).in_place([](In x) { return ebb::xlogy_(x[0], 2.5); });
  unary("xlogy.number_first", [](V x) { return ebb::xlogy(2.5, x); }).range(0.3, 2).reference([](double x) {
    return 2.5 * std::log(x);
  });
  unary("copysign.number", [](V x) { return ebb::copysign(x, -3); })
      .kinks({0})
      .reference([](double x) { return -std::fabs(x); })
      .in_place([](In x) { return ebb::copysign_(x[0], -3); });
  unary("pow.half", [](V x) { return ebb::pow(x, -0.5); }).range(0.3, 2).reference([](double x) {
    return 1 / std::sqrt(x);
  });
  binary("lerp.number", [](V a, V b) {
    return ebb::lerp(a, b, 0.3);
  }).reference([](double a, double b) {
      return a + 0.3 * (b - a);
    }).in_place([](In x) { return ebb::lerp_(x[0], x[1], 0.3); });
  binary("clamp_min.tensor", [](V a, V b) {
    return ebb::clamp_min(a, b);
  }).reference([](double a, double b) {
      return a < b ? b : a;
    }).in_place([](In x) { return ebb::clamp_min_(x[0], x[1]); });
  binary("clamp_max.tensor", [](V a, V b) {
    return ebb::clamp_max(a, b);
  }).reference([](double a, double b) {
      return a > b ? b : a;
    }).in_place([](In x) { return ebb::clamp_max_(x[0], x[1]); });
  binary("where.number", [](V c, V x) { return ebb::where(c, x, 2.5); })
      .booleans(0)
      .reference([](double c, double x) { return c != 0 ? x : 2.5; });
  binary("where.number_first", [](V c, V x) { return ebb::where(c, 2.5, x); })
      .booleans(0)
      .reference([](double c, double x) { return c != 0 ? 2.5 : x; });
}

}  // namespace optable
