// Overloads of elementwise ops in which operands are numbers, or bounds tensors.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>
#include <string>

namespace optable {

namespace {

// Each exponent that has a formula of its own, and others.
void powers_of_number() {
  for (const double e : {0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -0.5, 2.75, -3.0}) {
    std::string name = std::to_string(e);
    name.resize(name.find('.') + 3);
    Row& power =
        row("pow.exponent_" + name, [e](In x) { return variable_list{ebb::pow(x[0], e)}; }).pointwise(1);
    power.range(0.4, 3).reference([e](const Arrays& in) {
      Array out = in[0];
      for (double& x : out.values) x = std::pow(x, e);
      return Arrays{out};
    });
    if (e != 3 && e != -0.5)
      power.in_place([e](In x) { return ebb::pow_(x[0], e); });  // theirs round otherwise
    if (e == 0) power.at({0}, 1, {0});
    if (e == 0.5) power.at({0}, 0, {INFINITY});
  }
  unary("pow.zero_base", [](V x) { return ebb::pow(0.0, x); })
      .range(0.5, 3)
      .order(1, "the second is 0 times the logarithm of 0")
      .at({0}, 1, {0})
      .at({0.5}, 0, {0})
      .at({1}, 0, {0})
      .at({2}, 0, {0})
      .at({3}, 0, {0})
      .reference([](double) { return 0.0; });
}

// The ends are met exactly, however far apart they are.
void lerp_to_its_ends() {
  Row& start = binary("lerp.start", [](V a, V b) { return ebb::lerp(a, b, 0.0); });
  Row& end = binary("lerp.end", [](V a, V b) { return ebb::lerp(a, b, 1.0); });
  start.reference([](double a, double) { return a; });
  end.reference([](double, double b) { return b; });
  for (const auto& [a, b] : {std::pair(1e20, 1.0), std::pair(1.0, 1e20), std::pair(-1e20, 3.0)}) {
    start.at({a, b}, a);
    end.at({a, b}, b);
  }
}

}  // namespace

void register_numbers() {
  family("elementwise");
  powers_of_number();
  lerp_to_its_ends();
  unary("add.number", [](V x) { return ebb::add(x, 3, 2); })
      .node("AddBackward1")
      .reference([](double x) { return x + 6; })
      .in_place([](In x) { return ebb::add_(x[0], 3, 2); });
  unary("sub.number", [](V x) { return ebb::sub(x, 3, 2); })
      .node("SubBackward1")
      .reference([](double x) { return x - 6; })
      .in_place([](In x) { return ebb::sub_(x[0], 3, 2); });
  unary("rsub.number", [](V x) { return ebb::rsub(x, 3, 2); }).reference([](double x) { return 3 - 2 * x; });
  unary("mul.number", [](V x) { return ebb::mul(x, 3); })
      .node("MulBackward1")
      .reference([](double x) { return x * 3; })
      .in_place([](In x) { return ebb::mul_(x[0], 3); });
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
  unary("xlogy.zero", [](V x) { return ebb::xlogy(x, 0.0); })
      .kinks({0})
      .at({0}, 0, {0})
      .reference([](double x) { return -x * INFINITY; })
      .order(0, "it is infinite");
  unary("xlogy.number_first", [](V x) { return ebb::xlogy(2.5, x); }).range(0.3, 2).reference([](double x) {
    return 2.5 * std::log(x);
  });
  unary("copysign.number", [](V x) { return ebb::copysign(x, -3); })
      .kinks({0})
      .reference([](double x) { return -std::fabs(x); })
      .in_place([](In x) { return ebb::copysign_(x[0], -3); });
  binary("clamp_min.tensor", [](V a, V b) { return ebb::clamp_min(a, b); })
      .node("ClampMinBackward1")
      .at({1, 1}, 1, {0.5, 0.5})
      .reference([](double a, double b) { return a < b ? b : a; })
      .in_place([](In x) { return ebb::clamp_min_(x[0], x[1]); });
  binary("clamp_max.tensor", [](V a, V b) { return ebb::clamp_max(a, b); })
      .at({1, 1}, 1, {0.5, 0.5})
      .reference([](double a, double b) { return a > b ? b : a; })
      .in_place([](In x) { return ebb::clamp_max_(x[0], x[1]); });
  binary("where.number", [](V c, V x) { return ebb::where(c, x, 2.5); })
      .booleans(0)
      .reference([](double c, double x) { return c != 0 ? x : 2.5; });
  binary("where.number_first", [](V c, V x) { return ebb::where(c, 2.5, x); })
      .booleans(0)
      .reference([](double c, double x) { return c != 0 ? 2.5 : x; });
}

}  // namespace optable
