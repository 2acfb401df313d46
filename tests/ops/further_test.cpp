// Ops and rules that ported programs rely on: Bessel functions, divisors, membership, checked numbers.
#include "check.h"

#include <limits>

using namespace op_tests;
using namespace ebb;

TEST_CASE("i0 and its derivative have the tabulated values at both ends of the series") {
  // Abramowitz and Stegun, tables 9.8 and 9.11.
  const Variable x = tensor({0.0, 1.0, -2.0, 5.0, 20.0, 50.0}, kDouble);
  const double zero[] = {1,
                         1.2660658777520084,
                         2.2795853023360673,
                         27.239871823604442,
                         4.355828255955353e7,
                         2.93255378384933633e20};
  const double one[] = {0,
                        0.5651591039924851,
                        -1.5906368546373291,
                        24.335642142450530,
                        4.245497338512777e7,
                        2.90307859010355681e20};
  for (int i = 0; i < 6; ++i) {
    CHECK(ebb::i0(x)[i].item<double>() == Approx(zero[i]).epsilon(1e-14));
    CHECK(special_i1(x)[i].item<double>() == Approx(one[i]).epsilon(1e-14).margin(0));
  }
  // Where the two series meet they agree.
  const Variable below = tensor({std::nextafter(20.0, 0.0)}, kDouble), above = tensor({20.0}, kDouble);
  CHECK(ebb::i0(below).item<double>() == Approx(ebb::i0(above).item<double>()).epsilon(1e-14));
  CHECK(std::isinf(ebb::i0(tensor({800.0}, kDouble)).item<double>()));
  CHECK(std::isfinite(ebb::i0(tensor({713.0}, kDouble)).item<double>()));
  CHECK(std::isnan(ebb::i0(tensor({NAN}, kDouble)).item<double>()));
  CHECK(ebb::i0(longs({0, 1})).dtype() == kFloat);
  CHECK(gradgradcheck([](const Variable& t) { return ebb::i0(t); },
                      {tensor({-2.0, 0.0, 3.0}, kDouble).requires_grad_()}));
}

TEST_CASE("gcd and lcm take every sign and the lowest number") {
  const Variable a = longs({12, -18, 0, 0, 7, std::numeric_limits<std::int64_t>::min()}),
                 b = longs({8, 27, 5, 0, -7, -1});
  CHECK(gcd(a, b).equal(longs({4, 9, 5, 0, 7, 1})));
  CHECK(lcm(a.slice(0, 0, 5), b.slice(0, 0, 5)).equal(longs({24, 54, 0, 0, 7})));
  CHECK(gcd(a.slice(0, 0, 1).to(kInt), longs({8, 9})).equal(longs({4, 3})));
  CHECK_THROWS_AS(gcd(ones({2}, kBool), ones({2}, kBool)), Error);
  CHECK_THROWS_AS(lcm(ones({2}), ones({2})), Error);
}

TEST_CASE("isin finds numbers of other dtypes and never a NaN") {
  const Variable x = tensor({1.0, std::nan(""), 2.5, -1.0}, kDouble);
  const auto is = [](std::vector<bool> v) {
    Variable t = zeros({static_cast<std::int64_t>(v.size())}, kBool);
    for (std::size_t i = 0; i < v.size(); ++i) t[static_cast<std::int64_t>(i)].fill_(Scalar(bool(v[i])));
    return t;
  };
  CHECK(isin(x, tensor({std::nan(""), 2.5, 1.0}, kDouble)).equal(is({true, false, true, false})));
  CHECK(isin(x, longs({1, 2})).equal(is({true, false, false, false})));
  CHECK(isin(x, longs({1, 2}), false, true).equal(is({false, true, true, true})));
  CHECK(isin(x, zeros({0})).equal(is({false, false, false, false})));
  CHECK(isin(x, 2.5).equal(is({false, false, true, false})));
  CHECK(isin(1, longs({3, 1})).item<bool>());
  CHECK(isin(zeros({0, 2}), longs({1})).sizes() == IntArrayRef({0, 2}));
}

TEST_CASE("float_power computes in double") {
  CHECK(float_power(longs({2, 3}), -1).equal(tensor({0.5, 1.0 / 3}, kDouble)));
  CHECK(float_power(2, tensor({0.5}, kFloat)).dtype() == kDouble);
  CHECK(longs({2}).float_power(longs({3})).equal(tensor({8.0}, kDouble)));
  CHECK_THROWS_AS(ones({2}).float_power_(2), Error);
}

TEST_CASE("rrelu draws one slope for every element below zero") {
  const Variable x = ramp({4, 5}).requires_grad_();
  manual_seed(3);
  const Variable y = rrelu(x, 0.1, 0.4, true);
  const Variable slope = y.detach() / x.detach();
  CHECK((x > 0).logical_or((slope > 0.1).logical_and(slope < 0.4)).all().item<bool>());
  CHECK((x <= 0).logical_or(slope == 1).all().item<bool>());
  y.sum().backward();
  CHECK(x.grad().allclose(slope));
  CHECK(rrelu(x, 0.1, 0.3).allclose(leaky_relu(x, 0.2)));
  CHECK_THROWS_AS(rrelu(x, 0.5, 0.4), Error);
}

TEST_CASE("outer takes two dtypes") {
  const Variable x = longs({1, 2}), y = tensor({0.5, 1.5}, kDouble).requires_grad_();
  const Variable z = outer(x, y);
  CHECK(z.equal(tensor({{0.5, 1.5}, {1.0, 3.0}}, kDouble)));
  z.sum().backward();
  CHECK(y.grad().equal(tensor({3.0, 3.0}, kDouble)));
}

TEST_CASE("a number given to var and std is a dimension") {
  const Variable x = ramp({3, 4});
  CHECK(x.var(1).equal(x.var(IntArrayRef{1})));
  CHECK(var(x, 0).sizes() == IntArrayRef{4});
  CHECK(x.std(1).sizes() == IntArrayRef{3});
  CHECK(std::get<1>(var_mean(x, 0)).equal(x.mean(0)));
  CHECK(x.var(false).dim() == 0);
}

TEST_CASE("a number that an integer cannot hold is refused") {
  CHECK_THROWS_AS(tensor(1e300, kDouble).item<int>(), Error);
  CHECK_THROWS_AS(tensor(NAN).item<std::int64_t>(), Error);
  CHECK_THROWS_AS(Scalar(9223372036854775808.0).to_long(), Error);
  CHECK_THROWS_AS(Scalar(std::int64_t{1} << 40).toInt(), Error);
  CHECK_THROWS_AS(Scalar(300).to<std::int8_t>(), Error);
  CHECK(Scalar(-9223372036854775808.0).to_long() == std::numeric_limits<std::int64_t>::min());
  CHECK(Scalar(2.75).toInt() == 2);
  CHECK(Scalar(-1).to<std::uint8_t>() == 255);
  CHECK(Scalar(1e300).to<bool>());
}

TEST_CASE("a tensor of one element has a truth value, an undefined one no elements") {
  CHECK(tensor(3).is_nonzero());
  CHECK_FALSE(is_nonzero(zeros({1, 1})));
  CHECK_THROWS_AS(ones({2}).is_nonzero(), Error);
  CHECK_THROWS_AS(zeros({0}).is_nonzero(), Error);
  CHECK(Variable().numel() == 0);
  CHECK(ebb::size(ones({2, 3}), -1) == 3);
}

TEST_CASE("joins of activations have libtorch's derivatives") {
  const auto second = [](auto f, double at) {
    const Variable x = tensor({at}, kDouble).requires_grad_();
    const Variable first = autograd::grad({f(x).sum()}, {x}, {}, true, true)[0];
    return std::pair(first.item<double>(),
                     first.requires_grad()
                         ? autograd::grad({first.sum()}, {x}, {}, true, false, true)[0].item<double>()
                         : 0);
  };
  CHECK(second([](const Variable& x) { return elu(x); }, 0) == std::pair(1.0, 0.0));
  CHECK(second([](const Variable& x) { return celu(x, 2); }, 0) == std::pair(1.0, 0.0));
  CHECK(second([](const Variable& x) { return hardswish(x); }, 3) == std::pair(1.0, 0.0));
  CHECK(second([](const Variable& x) { return hardswish(x); }, -3) == std::pair(-0.5, 0.0));
  CHECK(softshrink(tensor({NAN})).item<float>() == 0);
}
