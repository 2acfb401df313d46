// Methods and aliases are the functions whose names they bear. No argument is a default: a lost one shows.
#include "methods.h"

using namespace op_tests;

TEST_CASE("methods and aliases of arithmetic give what the functions give") {
  const Variable x = ramp({2, 3}).requires_grad_(), y = (ramp({2, 3}, 1.1) + 2).detach();
  const Variable i = longs({12, 7, 30, 9, 4, 25}, {2, 3}), j = longs({8, 3, 12, 2, 6, 10}, {2, 3});
  BOTH(x, subtract, 3, 2);
  BOTH(x, subtract, y, 2);
  BOTH(x, multiply, 3);
  BOTH(x, multiply, y);
  BOTH(x, divide, 3);
  BOTH(x, divide, y);
  BOTH(x, divide, y, "floor");
  BOTH(x, divide, 0.3, "trunc");
  BOTH(x, true_divide, 3);
  BOTH(x, true_divide, y);
  BOTH(x, floor_divide, y);
  BOTH(x, floor_divide, 0.3);
  BOTH(x, float_power, y);
  BOTH(x, float_power, 3);
  BOTH(i, gcd, j);
  BOTH(i, lcm, j);
  BOTH(x, ldexp, j);
  BOTH(x.detach(), heaviside, y);
  BOTH(y, igamma, y + 1);
  BOTH(y, igammac, y + 1);
  BOTH(x.detach(), nextafter, y);
  BOTH(y, xlogy, 3);
  BOTH(y, xlogy, y + 1);
  same("subtract", x.subtract(3, 2), x - 6);
  same("divide", x.detach().divide(y, "floor"), (x.detach() / y).floor());
  CHECK(values(i.gcd(j)) == Values{4, 1, 6, 1, 2, 5});
  CHECK(values(i.lcm(j)) == Values{24, 21, 60, 18, 12, 50});
  same("where", x.where(x > 0.5, 3), ebb::where(x > 0.5, x, 3));
  Variable divided = x.detach().clone();
  divided /= y;
  same("/=", divided, x.detach() / y);
}

TEST_CASE("methods and aliases of clamp take each bound alone and both") {
  const Variable x = ramp({2, 3}).requires_grad_(), low = ramp({3}, 1.7) - 0.5, high = low + 0.3;
  BOTH(x, clamp, low, high);
  BOTH(x, clip, low, high);
  BOTH(x, clamp, low);
  BOTH(x, clip, low);
  BOTH(x, clamp, std::nullopt, high);
  BOTH(x, clip, std::nullopt, high);
  BOTH(x, clip, -0.2, 0.4);
  BOTH(x, clamp_min, low);
  BOTH(x, clamp_max, high);
  same("clip", x.detach().clip(low, high), ebb::minimum(ebb::maximum(x.detach(), low), high));
}

TEST_CASE("methods and aliases of comparisons and of bits give what the functions give") {
  const Variable x = count({2, 3}), y = ebb::full_like(x, 3);
  const Variable i = longs({12, 7, 30, 9, 4, 25}, {2, 3}), j = longs({1, 3, 2, 2, 4, 1}, {2, 3});
  const auto comparisons = [&](const auto& other) {
    BOTH(x, ne, other);
    BOTH(x, lt, other);
    BOTH(x, le, other);
    BOTH(x, gt, other);
    BOTH(x, ge, other);
    BOTH(x, not_equal, other);
    BOTH(x, less, other);
    BOTH(x, less_equal, other);
    BOTH(x, greater, other);
    BOTH(x, greater_equal, other);
  };
  comparisons(3);
  comparisons(y);
  CHECK(values(x.not_equal(3)) == Values{1, 1, 1, 0, 1, 1});
  CHECK(values(x.less(3)) == Values{1, 1, 1, 0, 0, 0});
  CHECK(values(x.less_equal(y)) == Values{1, 1, 1, 1, 0, 0});
  CHECK(values(x.greater(y)) == Values{0, 0, 0, 0, 1, 1});
  CHECK(values(x.greater_equal(3)) == Values{0, 0, 0, 1, 1, 1});
  const auto bits = [&](const auto& other) {
    BOTH(i, bitwise_and, other);
    BOTH(i, bitwise_or, other);
    BOTH(i, bitwise_xor, other);
    BOTH(i, bitwise_left_shift, other);
    BOTH(i, bitwise_right_shift, other);
  };
  bits(3);
  bits(j);
  CHECK(values(ebb::bitwise_and(6, j)) == Values{0, 2, 2, 2, 4, 0});
  CHECK(values(ebb::bitwise_or(6, j)) == Values{7, 7, 6, 6, 6, 7});
  CHECK(values(ebb::bitwise_xor(6, j)) == Values{7, 5, 4, 4, 2, 7});
  CHECK(values(ebb::bitwise_left_shift(6, j)) == Values{12, 48, 24, 24, 96, 12});
  CHECK(values(ebb::bitwise_right_shift(64, j)) == Values{32, 8, 16, 16, 4, 32});
  Variable word = i.clone();
  word &= 13;
  CHECK(values(word) == Values{12, 5, 12, 9, 4, 9});
  word |= 2;
  CHECK(values(word) == Values{14, 7, 14, 11, 6, 11});
  word ^= 3;
  CHECK(values(word) == Values{13, 4, 13, 8, 5, 8});
  METHOD(x, isclose, y, 0.2, 0.3, true);
}

TEST_CASE("methods of functions of one argument give what the functions give") {
  const Variable x = (ramp({2, 3}) * 0.4 + 0.1).detach().requires_grad_(), big = (x.detach() + 4).detach();
  BOTH(x.detach(), sgn);
  BOTH(x, arcsinh);
  BOTH(big, arccosh);
  BOTH(x, arctanh);
  BOTH(x, i0);
  BOTH(x, sinc);
  BOTH(x, round, 1);
  BOTH(x, deg2rad);
  BOTH(x, rad2deg);
  METHOD(big, mvlgamma, 3);
  IN_PLACE(big, mvlgamma, 3);
  same("polygamma", big.polygamma(2), ebb::polygamma(2, big));
  METHOD(x, frexp);
  METHOD(x, isreal);
  METHOD(x, resolve_neg);
  CHECK_FALSE(x.is_neg());
  const Variable ends = ebb::tensor({-HUGE_VAL, 0.0, HUGE_VAL, double{NAN}}, ebb::kDouble);
  CHECK(values(ends.isposinf()) == Values{0, 0, 1, 0});
  CHECK(values(ends.isneginf()) == Values{1, 0, 0, 0});
}

TEST_CASE("methods of linear algebra give what the functions give") {
  const Variable a = (ramp({2, 3, 3}) + 2 * ebb::eye(3, ebb::kDouble)).detach().requires_grad_();
  const Variable wide = ramp({3, 4}).requires_grad_(), b = ramp({2, 3, 2}, 0.7);
  const Variable spd = (a.detach().matmul(a.detach().mT()) + ebb::eye(3, ebb::kDouble)).requires_grad_();
  METHOD(a, matrix_exp);
  METHOD(a, det);
  METHOD(spd, logdet);
  METHOD(a, slogdet);
  METHOD(a, inverse);
  METHOD(wide, pinverse, 0.9);
  METHOD(spd, cholesky, true);
  METHOD(b, cholesky_solve, spd.detach().cholesky(true), true);
  METHOD(spd.detach().cholesky(true), cholesky_inverse, true);
  METHOD(wide.t(), qr, false);
  METHOD(wide, geqrf);
  const auto [packed, tau] = ebb::geqrf(wide.detach().t().contiguous());
  METHOD(packed, orgqr, tau);
  METHOD(packed, ormqr, tau, ramp({2, 4}), false, true);
  METHOD(wide, svd, false, true);
  METHOD(b, triangular_solve, a, false, true, true);
  const auto [lu, pivots] = ebb::linalg::lu_factor(a.detach());
  METHOD(b, lu_solve, lu, pivots);
  METHOD(a, matrix_power, 3);
  METHOD(wide, addr, ramp({3}), ramp({4}), 0.5, 2);
  METHOD(a, cross, a.detach().flip({0}), 1);
  same("matrix_H", wide.matrix_H(), wide.mT());
  same("addr", wide.detach().addr(ramp({3}), ramp({4}), 0.5, 2),
       ebb::add(wide.detach() * 0.5, ebb::outer(ramp({3}), ramp({4})), 2));
}
