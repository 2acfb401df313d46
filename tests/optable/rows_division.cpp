// Rounded quotients and remainders, of floating numbers and of integers.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

double python_remainder(double a, double b) { return a - b * std::floor(a / b); }

// Both signs of both operands: how the quotient is rounded, and with which slope the divisor is multiplied.
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

// Quotients lie between whole numbers: one operand in [1.1, 1.9], the other a power of two or near it.
void divisions() {
  const char* const flat = "rounded quotients have no slope";
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

// The same between integers, the lowest divided by -1 included.
Row& between_integers(Row& row) {
  return row.integers(0, -9, 9).integers(1, 1, 5).order(0, "integers have no slope").gives(ebb::kLong);
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
