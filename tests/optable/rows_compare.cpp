// Comparisons, logic and bits.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

using Op = Variable (*)(V, V);
using Twin = Variable& (*)(V, V);
using Formula = double (*)(double, double);

const char* const kTruth = "a truth value has no slope";

Row& comparison(const char* name, Op f, Twin twin, Formula reference) {
  return binary(name, f)
      .order(0, kTruth)
      .gives(ebb::kBool)
      .reference(reference)
      .in_place([twin](In x) { return twin(x[0], x[1]); })
      .error("broadcast", [f] { f(ebb::ones({2}), ebb::ones({3})); });
}

// What it says of 1 and 2, of equals, and of NaN.
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
      .no_half("error and tolerance are rounded to 16 bits, which decides near the edge")
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
      .cpu_only("the answer is a bool of the host")
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
      .cpu_only("the answer is a bool of the host")
      .reference([](const Arrays& in) {
        return Arrays{{{}, {double(in[0].values == in[1].values)}}, {{}, {1}}};
      });
}

}  // namespace optable
