// Elementwise ops at the values where their formulas need care: halves, zeros, NaN, unlike magnitudes.
#include "check.h"

using namespace op_tests;

namespace {

Variable number(double x) { return ebb::full({}, x, ebb::kDouble); }

}  // namespace

TEST_CASE("clamp promotes integers by either bound alone") {
  const Variable x = longs({0, 1, 2, 3});
  const Variable most = ebb::clamp(x, {}, 1.5), least = ebb::clamp(x, 1.5, {}), both = ebb::clamp(x, 1, 2.5);
  CHECK(most.dtype() == ebb::kFloat);
  CHECK(values(most) == Values{0, 1, 1.5, 1.5});
  CHECK(least.dtype() == ebb::kFloat);
  CHECK(values(least) == Values{1.5, 1.5, 2, 3});
  CHECK(both.dtype() == ebb::kFloat);
  CHECK(values(both) == Values{1, 1, 2, 2.5});
  CHECK(ebb::clamp(x, 1, 2).dtype() == ebb::kLong);
  Variable y = ebb::clone(x);
  CHECK_THROWS_AS(ebb::clamp_(y, 1, 2.5), ebb::Error);
  CHECK_THROWS_AS(ebb::clamp_(y, {}, 1.5), ebb::Error);
}

TEST_CASE("clamp by numbers keeps NaN") {
  for (const ebb::DType dtype : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16}) {
    INFO(dtype);
    const Variable x = ebb::full({9}, NAN, dtype);
    for (const Variable& y : {ebb::clamp(x, -1, 1), ebb::clamp(x, -1, {}), ebb::clamp(x, {}, 1),
                              ebb::clamp_min(x, -1), ebb::clamp_max(x, 1)})
      CHECK(ebb::isnan(y).all().item<bool>());
  }
}

TEST_CASE("lerp reaches its ends exactly, however unlike they are") {
  for (const auto& [a, b] : {std::pair(1e20, 1.0), std::pair(1.0, 1e20), std::pair(-1e20, 3.0)}) {
    INFO(a << " to " << b);
    CHECK(ebb::lerp(number(a), number(b), 0.0).item<double>() == a);
    CHECK(ebb::lerp(number(a), number(b), 1.0).item<double>() == b);
    CHECK(ebb::lerp(number(a), number(b), number(1)).item<double>() == b);
  }
}

TEST_CASE("xlogy is 0 where its first operand is, unless the second is NaN") {
  const Variable zeros = ebb::zeros({4}, ebb::kDouble);
  const Variable y = ebb::tensor({0.0, double{INFINITY}, -1.0, 2.0}, ebb::kDouble);
  CHECK(values(ebb::xlogy(zeros, y)) == Values{0, 0, 0, 0});
  CHECK(std::isnan(ebb::xlogy(number(0), number(NAN)).item<double>()));
  CHECK(std::isnan(ebb::xlogy(number(2), number(-1)).item<double>()));
}

TEST_CASE("round takes halves to the even neighbour and leaves large odd numbers") {
  const Variable x =
      ebb::tensor({-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 4503599627370497.0}, ebb::kDouble);
  const Values expected = {-2, -2, 0, 0, 2, 2, 4, 4, 4503599627370497.0};
  CHECK(values(ebb::round(x)) == expected);
  Variable y = ebb::clone(x);
  ebb::round_(y);
  CHECK(values(y) == expected);
  CHECK(values(ebb::round(x.slice(0, 0, 8).to(ebb::kFloat))) == Values(expected.begin(), expected.end() - 1));
}

TEST_CASE("the exponent of a power of 0 has the gradient 0 from exponent 0 on, and -inf below") {
  for (const double exponent : {0.0, 0.5, 1.0, 3.0}) {
    INFO(exponent);
    const Variable base = number(0).set_requires_grad(true), e = number(exponent).set_requires_grad(true);
    ebb::pow(base, e).backward();
    CHECK(e.grad().item<double>() == 0);
    const Variable alone = number(exponent).set_requires_grad(true);
    ebb::pow(0.0, alone).backward();
    CHECK(alone.grad().item<double>() == 0);
  }
  const Variable e = number(-1).set_requires_grad(true);
  ebb::pow(number(0), e).backward();
  CHECK(e.grad().item<double>() == -INFINITY);
}

TEST_CASE("a 16-bit zero of either sign is no non-zero element") {
  for (const ebb::DType dtype : {ebb::kHalf, ebb::kBFloat16}) {
    const Variable x = ebb::tensor({0.0, -0.0, 1.0, double{NAN}}, ebb::kDouble).to(dtype);
    CHECK(ebb::count_nonzero(x).item<std::int64_t>() == 2);
    CHECK_FALSE(ebb::any(x.slice(0, 0, 2)).item<bool>());
    CHECK_FALSE(ebb::all(x.slice(0, 1, 3)).item<bool>());
  }
}
