// Methods, operators and aliases equal the functions of the same name, and f_out(out, ...) writes the result
// of f.
#include <ebb/ebb.h>
#include <ebb/ops/out.h>

#include "check.h"
#include "support/catch.h"

// Methods and aliases equal the functions of the same name. No argument has its default value, so a dropped
// one fails.

using namespace op_tests;

TEST_CASE("methods and aliases of arithmetic equal the functions") {
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

TEST_CASE("methods and aliases of clamp accept one bound or both") {
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

TEST_CASE("methods and aliases of comparisons and bitwise ops equal the functions") {
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

TEST_CASE("methods of unary ops equal the functions") {
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

TEST_CASE("methods of linear algebra equal the functions") {
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

// Operators and methods equal their functions.

using support::Contains;

TEST_CASE("operators have the results and graph nodes of their functions") {
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

TEST_CASE("comparisons and bitwise ops have operators") {
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

TEST_CASE("methods and in-place methods have the results and graph nodes of their functions") {
  const Variable x = (ramp({2, 3}) + 2).detach().requires_grad_(), b = (ramp({3}, 1.1) + 2).detach(),
                 w = ramp({2, 3}, 0.7).abs();
  // The function of x, its method, and its in-place method.
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

TEST_CASE("compound assignment operators write in place") {
  Variable x = ramp({2, 3});
  const Variable y = x.clone();
  x += 1;
  x *= x;
  x -= y;
  x /= 2;
  CHECK(ebb::equal(x, ((y + 1) * (y + 1) - y) / 2));
}

TEST_CASE("in-place ops throw for shapes and dtypes that do not fit") {
  Variable i = ebb::tensor({7, 8}), x = ebb::ones({2});
  CHECK_THROWS_WITH(i.div_(2), support::Contains("can't be cast") && support::Contains("Long"));
  CHECK_THROWS_WITH(i.add_(ebb::ones({2})), Contains("add_: result type Float can't be cast to the desired"));
  CHECK_THROWS_WITH(x.add_(ebb::ones({3, 2})), support::Contains("[2]") && support::Contains("[3, 2]"));
  CHECK_THROWS_WITH(ebb::ones({2}).requires_grad_().add_(1), support::Contains("leaf"));
  CHECK_THROWS_WITH(ebb::ones({1}).expand({4}).add_(1),
                    Contains("add_: more than one element of the written-to tensor"));
}

TEST_CASE("ops throw for an undefined operand") {
  CHECK_THROWS_WITH(ebb::ones({2}) + Variable(),
                    Contains("add: expected a tensor, got an undefined one. Assign it"));
  CHECK_THROWS_WITH(Variable() + 1, Contains("the tensor is undefined: it was default-constructed"));
  CHECK_THROWS_WITH(ebb::exp(Variable()), Contains("the tensor is undefined: it was default-constructed"));
}

TEST_CASE("backward through an op without a derivative throws and names the op") {
  const ebb::Variable x = ebb::full({3}, 2.5).requires_grad_(), y = ebb::ones({3});
  CHECK_THROWS_WITH(ebb::heaviside(x, y).sum().backward(),
                    Contains("derivative for heaviside is not implemented") && Contains("detach"));
  CHECK_THROWS_WITH(ebb::floor_divide(x, y).sum().backward(),
                    Contains("derivative for floor_divide is not implemented"));
  CHECK_NOTHROW(ebb::heaviside(x.detach(), y));
}

// f_out(out, ...) writes results to existing tensors.

using namespace ebb;

namespace {

struct Count : WarningHandler {
  int warnings = 0;
  void process(const Warning&) override { ++warnings; }
};

}  // namespace

TEST_CASE("_out functions write the result of the op to the given tensor") {
  const Tensor x = tensor({{1., -2.}, {3., 4.}}, kDouble), y = tensor({{2., 0.5}, {-1., 3.}}, kDouble);
  Tensor out = empty({2, 2}, kDouble);
  const void* const memory = out.data_ptr();
  CHECK(&abs_out(out, x) == &out);
  CHECK(out.equal(x.abs()));
  CHECK(add_out(out, x, y, 2).equal(x + 2 * y));
  CHECK(sub_out(out, x, y).equal(x - y));
  CHECK(mul_out(out, x, y).equal(x * y));
  CHECK(div_out(out, x, y).equal(x / y));
  CHECK(div_out(out, x, y, "floor").equal(div(x, y, "floor")));
  CHECK(pow_out(out, x, 2).equal(x * x));
  CHECK(clamp_out(out, x, -1, 3).equal(x.clamp(-1, 3)));
  CHECK(mm_out(out, x, y).equal(x.mm(y)));
  CHECK(matmul_out(out, x, y).equal(x.mm(y)));
  CHECK(addmm_out(out, x, x, y, 2, 3).equal(addmm(x, x, y, 2, 3)));
  CHECK(cumsum_out(out, x, 1).equal(x.cumsum(1)));
  CHECK(softmax_out(out, x, 1).equal(softmax(x, 1)));
  CHECK(index_select_out(out, x, 0, tensor({1, 0})).equal(x.flip({0})));
  CHECK(maximum_out(out, x, y).equal(maximum(x, y)));
  CHECK(max_out(out, x, y).equal(maximum(x, y)));
  CHECK(out.data_ptr() == memory);
  CHECK(add_out(out, out, 1).equal(maximum(x, y) + 1));  // out is also an input
  Tensor strided = empty({2, 2}, kDouble).t();
  CHECK(abs_out(strided, x).equal(x.abs()));
}

TEST_CASE("_out functions exist for lists, dimensions and factories") {
  const Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}});
  Tensor out = empty({0});
  CHECK(cat_out(out, {x, x}, 1).equal(cat({x, x}, 1)));
  CHECK(stack_out(out.resize_({0}), {x, x}).equal(stack({x, x})));
  CHECK(sum_out(out.resize_({0}), x, {0, 1}).item<float>() == 10);
  CHECK(sum_out(out.resize_({0}), x, 0, true).equal(tensor({{4.f, 6.f}})));
  CHECK(mean_out(out.resize_({0}), x, 1).equal(tensor({1.5f, 3.5f})));
  CHECK(amax_out(out.resize_({0}), x, {0}).equal(tensor({3.f, 4.f})));
  CHECK(var_out(out.resize_({0}), x, {1}, false).equal(x.var({1}, false)));
  CHECK(norm_out(out.resize_({0}), x, 2, {0}).equal(x.norm(2, {0})));
  CHECK(logsumexp_out(out.resize_({0}), x, {0}).equal(logsumexp(x, {0})));
  Tensor places = empty({0}, kLong), truths = empty({0}, kBool), doubles = empty({0}, kDouble);
  max_out(out.resize_({0}), places, x, 1);
  CHECK(out.equal(tensor({2.f, 4.f})));
  CHECK(places.equal(tensor({1, 1})));
  const auto [sorted, order] = sort_out(out.resize_({0}), places.resize_({0}), x, 1, true);
  CHECK(sorted.is_same(out));
  CHECK(order.equal(tensor({{1, 0}, {1, 0}})));
  CHECK(all_out(truths, x > 1, {0, 1}).item<bool>() == false);
  CHECK(argmax_out(places.resize_({0}), x, 1).equal(tensor({1, 1})));
  // sum_out accumulates in the dtype of out as in torch: 2^24 + 1 is not a float.
  CHECK(sum_out(doubles, tensor({16777216.f, 1.f})).item<double>() == 16777217);

  CHECK(zeros_out(out.resize_({0}), {2, 3}).equal(zeros({2, 3})));
  CHECK(ones_out(doubles.resize_({0}), {2}).equal(ones({2}, kDouble)));
  CHECK(full_out(places.resize_({0}), {2}, 7).equal(tensor({7, 7})));
  CHECK(arange_out(places.resize_({0}), 4).equal(arange(4)));
  CHECK(arange_out(places.resize_({0}), 1, 7, 2).equal(arange(1, 7, 2)));
  CHECK(linspace_out(out.resize_({0}), 0, 1, 3).equal(linspace(0, 1, 3)));
  CHECK(eye_out(out.resize_({0}), 2).equal(eye(2)));
  manual_seed(3);
  const Tensor drawn = rand({4});
  manual_seed(3);
  CHECK(rand_out(out.resize_({0}), {4}).equal(drawn));
}

TEST_CASE("_out functions resize the output and warn if it had elements") {
  Count count;
  const WarningHandlerGuard guard(&count);
  Tensor out = empty({0});
  add_out(out, ones({2, 3}), 1);
  CHECK(out.sizes() == IntArrayRef({2, 3}));
  CHECK(count.warnings == 0);
  add_out(out, ones({3}), 1);
  CHECK(out.equal(full({3}, 2.f)));
  CHECK(count.warnings == 1);
}

TEST_CASE(
    "_out functions throw for tensors that require grad, dtypes that do not fit and undefined outputs") {
  const Tensor x = ones({2}), leaf = ones({2}).requires_grad_();
  Tensor out = empty({2}), longs = empty({2}, kLong), doubles = empty({2}, kDouble), kept = leaf, none;
  CHECK_THROWS_WITH(
      add_out(out, leaf, 1),
      Contains("add(): functions with out=... arguments don't support automatic differentiation"));
  CHECK_THROWS_WITH(mul_out(kept, x, 2), Contains("requires grad"));
  CHECK_THROWS_WITH(add_out(longs, x, 1),
                    Contains("result type Float can't be cast to the desired output type Long"));
  CHECK(add_out(doubles, x, 1).equal(full({2}, 2., kDouble)));
  CHECK_THROWS_WITH(index_select_out(doubles, x, 0, tensor({0})), Contains("result type Float"));
  CHECK_THROWS_WITH(mm_out(doubles, ones({2, 2}), ones({2, 2})), Contains("mm_out"));
  CHECK_THROWS_WITH(abs_out(none, x), Contains("out is undefined"));
  NoGradGuard no_grad;
  CHECK(mul_out(kept, leaf, 3).equal(full({2}, 3.f)));
  CHECK_FALSE(kept.grad_fn());
}
