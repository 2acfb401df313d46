// Rows of comparisons, logical and bitwise ops, and overloads of elementwise ops with numbers.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>
#include <string>

namespace optable {
namespace {

using Op = Variable (*)(V, V);
using Twin = Variable& (*)(V, V);
using Formula = double (*)(double, double);

const char* const kTruth = "a Bool has no derivative";

Row& comparison(const char* name, Op f, Twin twin, Formula reference) {
  return binary(name, f)
      .order(0, kTruth)
      .gives(ebb::kBool)
      .reference(reference)
      .in_place([twin](In x) { return twin(x[0], x[1]); })
      .error("broadcast", [f] { f(ebb::ones({2}), ebb::ones({3})); });
}

// Adds the results for 1 and 2, for equal operands, and for NaN.
Row& order(const char* name, Op f, Twin twin, Formula reference) {
  Row& row = comparison(name, f, twin, reference);
  for (const auto& [a, b] : {std::pair(1.0, 2.0), std::pair(2.0, 1.0), std::pair(2.0, 2.0)})
    row.at({a, b}, reference(a, b));
  return row.at({NAN, NAN}, reference(NAN, NAN)).at({1, NAN}, reference(1, NAN));
}

Row& logic(const char* name, Op f, Twin twin, Formula reference) {
  return comparison(name, f, twin, reference).integers(0, 0, 2).integers(1, 0, 3);
}

Row& bits(const char* name, Op f, Twin twin, Formula reference) {
  return binary(name, f)
      .order(0, kTruth)
      .integers(0, -9, 9)
      .integers(1, 0, 9)
      .reference(reference)
      .in_place([twin](In x) { return twin(x[0], x[1]); })
      .error("integer dtype", [f] { f(ebb::ones({2}), ebb::ones({2})); });
}

std::int64_t whole(double x) { return static_cast<std::int64_t>(x); }

}  // namespace

void register_compare() {
  family("elementwise");
  order("eq", ebb::eq, ebb::eq_, [](double a, double b) { return double(a == b); });
  order("ne", ebb::ne, ebb::ne_, [](double a, double b) { return double(a != b); });
  order("lt", ebb::lt, ebb::lt_, [](double a, double b) { return double(a < b); });
  order("le", ebb::le, ebb::le_, [](double a, double b) { return double(a <= b); });
  order("gt", ebb::gt, ebb::gt_, [](double a, double b) { return double(a > b); });
  order("ge", ebb::ge, ebb::ge_, [](double a, double b) { return double(a >= b); });
  comparison("eq.integers", ebb::eq, ebb::eq_, [](double a, double b) { return double(a == b); })
      .integers(0, 0, 3)
      .integers(1, 0, 3);

  logic("logical_and", ebb::logical_and, ebb::logical_and_,
        [](double a, double b) { return double(a != 0 && b != 0); });
  logic("logical_or", ebb::logical_or, ebb::logical_or_,
        [](double a, double b) { return double(a != 0 || b != 0); });
  logic("logical_xor", ebb::logical_xor, ebb::logical_xor_,
        [](double a, double b) { return double((a != 0) != (b != 0)); });

  comparison("logical_and.floating", ebb::logical_and, ebb::logical_and_,
             [](double a, double b) { return double(a != 0 && b != 0); })
      .at({1, 0}, 0)
      .at({2, 2}, 1)
      .at({NAN, NAN}, 1);

  bits("bitwise_and", ebb::bitwise_and, ebb::bitwise_and_, [](double a, double b) {
    return double(whole(a) & whole(b));
  }).at({12, 10}, 8);
  bits("bitwise_or", ebb::bitwise_or, ebb::bitwise_or_, [](double a, double b) {
    return double(whole(a) | whole(b));
  }).at({12, 10}, 14);
  bits("bitwise_xor", ebb::bitwise_xor, ebb::bitwise_xor_, [](double a, double b) {
    return double(whole(a) ^ whole(b));
  }).at({12, 10}, 6);
  bits("bitwise_left_shift", ebb::bitwise_left_shift, ebb::bitwise_left_shift_,
       [](double a, double b) { return a * std::exp2(b); })
      .at({1, 3}, 8)
      .at({6, 3}, 48);
  bits("bitwise_right_shift", ebb::bitwise_right_shift, ebb::bitwise_right_shift_,
       [](double a, double b) { return std::floor(a / std::exp2(b)); })
      .at({-9, 1}, -5)
      .at({6, 1}, 3);

  binary("isclose", [](V a, V b) { return ebb::isclose(a, b, 0.2, 0.1); })
      .order(0, kTruth)
      .no_half("error and tolerance are rounded to 16 bits, which decides the result near the limit")
      .gives(ebb::kBool)
      .error("isclose", [] { ebb::isclose(ebb::ones({2}), ebb::ones({2}, ebb::kF64)); })
      .reference([](double a, double b) { return double(std::fabs(a - b) <= 0.1 + 0.2 * std::fabs(b)); });
  const auto truth = [](bool answer) { return ebb::full({}, answer); };
  row("allclose",
      [truth](In x) {
        return variable_list{truth(ebb::allclose(x[0], x[1], 0.2, 0.1)),
                             truth(ebb::allclose(x[0], x[1], 0.01, 0))};
      })
      .shapes({{{3, 4}, {3, 4}}})
      .range(1, 1.1)
      .order(0, kTruth)
      .cpu_only("the result is a bool on the host")
      .reference([](const Arrays& in) {
        double wide = 1, narrow = 1;
        for (std::size_t i = 0; i < in[0].values.size(); ++i) {
          const double d = std::fabs(in[0][i] - in[1][i]), b = std::fabs(in[1][i]);
          if (d > 0.1 + 0.2 * b) wide = 0;
          if (d > 0.01 * b) narrow = 0;
        }
        return Arrays{{{}, {wide}}, {{}, {narrow}}};
      });
  row("equal",
      [truth](In x) {
        return variable_list{truth(ebb::equal(x[0], x[1])), truth(ebb::equal(x[0], x[0].clone()))};
      })
      .shapes({{{3, 4}, {3, 4}}})
      .order(0, kTruth)
      .cpu_only("the result is a bool on the host")
      .reference(
          [](const Arrays& in) { return Arrays{{{}, {double(in[0].values == in[1].values)}}, {{}, {1}}}; });
}

// Overloads of elementwise ops with numbers as operands, or with tensors as bounds.

namespace {

// Adds a row for each exponent with its own formula, and for others.
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
      power.in_place([e](In x) { return ebb::pow_(x[0], e); });  // the in-place forms round differently
    if (e == 0) power.at({0}, 1, {0});
    if (e == 0.5) power.at({0}, 0, {INFINITY});
  }
  unary("pow.zero_base", [](V x) { return ebb::pow(0.0, x); })
      .range(0.5, 3)
      .order(1, "the second derivative is 0 times the logarithm of 0")
      .at({0}, 1, {0})
      .at({0.5}, 0, {0})
      .at({1}, 0, {0})
      .at({2}, 0, {0})
      .at({3}, 0, {0})
      .reference([](double) { return 0.0; });
}

// The ends are exact even if they are very different.
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
