// Operators and methods are the functions whose names they stand for.
#include "check.h"

using namespace op_tests;
using support::Contains;

TEST_CASE("operators compute and record what their functions do") {
  const Variable x = ramp({2, 3}).requires_grad_(), y = (ramp({2, 3}, 1.1) + 2).detach().requires_grad_();
  const auto same = [](const Variable& a, const Variable& b) {
    CHECK(ebb::equal(a, b));
    REQUIRE(a.dtype() == b.dtype());
    CHECK(node_name(a) == node_name(b));
  };
  same(x + y, ebb::add(x, y));
  same(x + 2, ebb::add(x, 2));
  same(2.5 + x, ebb::add(x, 2.5));
  same(x - y, ebb::sub(x, y));
  same(x - 2, ebb::sub(x, 2));
  same(x * y, ebb::mul(x, y));
  same(x * 2.5, ebb::mul(x, 2.5));
  same(2.5 * x, ebb::mul(x, 2.5));
  same(x / y, ebb::div(x, y));
  same(x / 4, ebb::div(x, 4));
  CHECK(ebb::allclose(4 / y, ebb::div(ebb::full_like(y, 4), y), 1e-15));
  same(x % y, ebb::remainder(x, y));
  same(x % 0.7, ebb::remainder(x, 0.7));
  same(2.9 % y, ebb::remainder(2.9, y));
  same(-x, ebb::neg(x));
  CHECK(ebb::equal(2 - x, ebb::rsub(x, 2)));
  CHECK(node_name(2 - x) == "SubBackward0");
  CHECK(node_name(4 / y) == "DivBackward0");
  CHECK(node_name((x * 1).eq_(1)) == "EqBackward0");
  CHECK((1 - x).grad_fn()->num_outputs() == 2);
  CHECK_THROWS_WITH(ebb::heaviside(x, y).sum().backward(), support::Contains("heaviside"));
}

TEST_CASE("comparisons and bits have operators") {
  const double nan = NAN;
  const Variable a = ebb::tensor({1.0, 2.0, 3.0, nan}, ebb::kDouble), b = ebb::tensor({1.0, 3.0, 2.0, nan});
  const auto bits = [](const Variable& x) {
    CHECK(x.dtype() == ebb::kBool);
    return values(x);
  };
  CHECK(bits(a == b) == Values{1, 0, 0, 0});
  CHECK(bits(a != b) == Values{0, 1, 1, 1});
  CHECK(bits(a < b) == Values{0, 1, 0, 0});
  CHECK(bits(a <= b) == Values{1, 1, 0, 0});
  CHECK(bits(a > b) == Values{0, 0, 1, 0});
  CHECK(bits(a >= b) == Values{1, 0, 1, 0});
  CHECK(bits(2 < a) == Values{0, 0, 1, 0});
  CHECK(bits(a.eq(2)) == Values{0, 1, 0, 0});
  CHECK(bits((a > 1) & (a < 3)) == Values{0, 1, 0, 0});
  CHECK(bits((a > 2) | (a < 2)) == Values{1, 0, 1, 0});
  CHECK(bits(~(a > 2)) == Values{1, 1, 0, 1});
  CHECK(bits((a > 1) ^ (b > 2)) == Values{0, 0, 1, 0});
  CHECK(values(ebb::tensor({1, 6}) << 3) == Values{8, 48});
  CHECK(values(ebb::tensor({-9, 6}) >> 1) == Values{-5, 3});
  CHECK(values(ebb::tensor({12}) & 10) == Values{8});
  CHECK(values(ebb::tensor({12}) | 10) == Values{14});
  CHECK(values(ebb::tensor({12}) ^ 10) == Values{6});
  CHECK(values(~ebb::tensor({12})) == Values{-13});
}

TEST_CASE("methods compute and record what their functions do, in place too") {
  const Variable x = (ramp({2, 3}) + 2).detach().requires_grad_(), b = (ramp({3}, 1.1) + 2).detach(),
                 w = ramp({2, 3}, 0.7).abs();
  // A function of x, its method, and the method that writes.
  const auto check = [&](const Variable& function, const Variable& method, auto in_place) {
    CHECK(ebb::equal(method, function));
    CHECK(node_name(method) == node_name(function));
    const Variable y = x * 1;
    in_place(y);
    CHECK(ebb::equal(y, function));
    CHECK(node_name(y) == node_name(function));
  };
  using T = const Variable&;
  check(ebb::add(x, b, 2), x.add(b, 2), [&](T y) { y.add_(b, 2); });
  check(ebb::sub(x, b, 0.5), x.sub(b, 0.5), [&](T y) { y.sub_(b, 0.5); });
  check(ebb::mul(x, b), x.mul(b), [&](T y) { y.mul_(b); });
  check(ebb::mul(x, 3), x.mul(3), [&](T y) { y.mul_(3); });
  check(ebb::div(x, b), x.div(b), [&](T y) { y.div_(b); });
  check(ebb::div(x, b, "floor"), x.div(b, "floor"), [&](T y) { y.div_(b, "floor"); });
  check(ebb::pow(x, b), x.pow(b), [&](T y) { y.pow_(b); });
  check(ebb::pow(x, 2), x.pow(2), [&](T y) { y.pow_(2); });
  check(ebb::fmod(x, b), x.fmod(b), [&](T y) { y.fmod_(b); });
  check(ebb::remainder(x, 0.9), x.remainder(0.9), [&](T y) { y.remainder_(0.9); });
  check(ebb::clamp(x, 1.5, 2.5), x.clamp(1.5, 2.5), [&](T y) { y.clamp_(1.5, 2.5); });
  check(ebb::lerp(x, b, w), x.lerp(b, w), [&](T y) { y.lerp_(b, w); });
  check(ebb::addcmul(x, w, b, 2), x.addcmul(w, b, 2), [&](T y) { y.addcmul_(w, b, 2); });
  check(ebb::addcdiv(x, w, b, 2), x.addcdiv(w, b, 2), [&](T y) { y.addcdiv_(w, b, 2); });
  check(ebb::atan2(x, b), x.atan2(b), [&](T y) { y.atan2_(b); });
  check(ebb::xlogy(x, b), x.xlogy(b), [&](T y) { y.xlogy_(b); });
  check(ebb::copysign(x, -1.0), x.copysign(-1.0), [&](T y) { y.copysign_(-1.0); });
  for (const double e : {3.0, -0.5}) {
    const Variable y = x * 1;
    y.pow_(e);
    CHECK(ebb::allclose(y, ebb::pow(x, e), 1e-14));
  }
}

TEST_CASE("compound assignments write in place") {
  Variable x = ramp({2, 3});
  const Variable y = x.clone();
  x += 1;
  x *= x;
  x -= y;
  x /= 2;
  CHECK(ebb::equal(x, ((y + 1) * (y + 1) - y) / 2));
}

TEST_CASE("in-place ops refuse what does not fit into them") {
  Variable i = ebb::tensor({7, 8}), x = ebb::ones({2});
  CHECK_THROWS_WITH(i.div_(2), support::Contains("can't be cast") && support::Contains("Long"));
  CHECK_THROWS_WITH(i.add_(ebb::ones({2})), Contains("add_: result type Float can't be cast to the desired"));
  CHECK_THROWS_WITH(x.add_(ebb::ones({3, 2})), support::Contains("[2]") && support::Contains("[3, 2]"));
  CHECK_THROWS_WITH(ebb::ones({2}).requires_grad_().add_(1), support::Contains("leaf"));
  CHECK_THROWS_WITH(ebb::ones({1}).expand({4}).add_(1),
                    Contains("add_: more than one element of the written-to tensor"));
}

TEST_CASE("an undefined tensor is no operand") {
  CHECK_THROWS_WITH(ebb::ones({2}) + Variable(),
                    Contains("add: expected a tensor, got an undefined one. Assign it"));
  CHECK_THROWS_WITH(Variable() + 1, Contains("the tensor is undefined: it was default-constructed"));
  CHECK_THROWS_WITH(ebb::exp(Variable()), Contains("the tensor is undefined: it was default-constructed"));
}

TEST_CASE("backward through an op that has no derivative names the op") {
  const ebb::Variable x = ebb::full({3}, 2.5).requires_grad_(), y = ebb::ones({3});
  CHECK_THROWS_WITH(ebb::heaviside(x, y).sum().backward(),
                    Contains("derivative for heaviside is not implemented") && Contains("detach"));
  CHECK_THROWS_WITH(ebb::floor_divide(x, y).sum().backward(),
                    Contains("derivative for floor_divide is not implemented"));
  CHECK_NOTHROW(ebb::heaviside(x.detach(), y));
}
