// Elementwise ops at kinks, at bounds, and with numbers out of range.
#include "check.h"

#include <algorithm>
#include <limits>

// clamp at its bounds, beyond them, and with exchanged bounds.

using namespace op_tests;

namespace {

// Values of x below, at, between and above bounds that are in order, equal or exchanged.
const Values kXs = {-2, -1, 0, 1, 2};
const std::vector<std::pair<double, double>> kBounds = {{-1, 1}, {0, 0}, {1, -1}, {-1, 2}, {2, 0}};

double clamped(double x, double low, double high) { return std::min(std::max(x, low), high); }

Variable leaf(double x) { return ebb::full({}, x, ebb::kDouble).set_requires_grad(true); }

/// Checks the gradient of y = f(x...) for each input, computed by kernels and by recorded ops.
void check_slopes(const Variable& y, const ebb::variable_list& inputs, const Values& expected) {
  for (const bool recorded : {false, true}) {
    const Variable seed = ebb::ones({}, ebb::kDouble).requires_grad_(recorded);
    const ebb::variable_list grads = ebb::autograd::grad({y}, inputs, {seed}, true, recorded);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      INFO("input " << i << ", recorded " << recorded);
      CHECK(grads[i].item<double>() == expected[i]);
    }
  }
}

}  // namespace

TEST_CASE("clamp with numbers passes the gradient only between its bounds") {
  for (const double at : kXs)
    for (const auto& [low, high] : kBounds) {
      INFO(at << " in " << low << ", " << high);
      const Variable x = leaf(at);
      const Variable both = ebb::clamp(x, low, high), least = ebb::clamp_min(x, low),
                     most = ebb::clamp_max(x, high);
      CHECK(both.item<double>() == clamped(at, low, high));
      CHECK(least.item<double>() == std::max(at, low));
      CHECK(most.item<double>() == std::min(at, high));
      check_slopes(both, {x}, {double(at > low && at < high)});
      check_slopes(least, {x}, {double(at > low)});
      check_slopes(most, {x}, {double(at < high)});
      Variable y = x * 1;
      y.clamp_(low, high);
      CHECK(y.item<double>() == clamped(at, low, high));
      check_slopes(y, {x}, {double(at > low && at < high)});
      CHECK(ebb::clamp(ebb::full({}, at, ebb::kLong), static_cast<std::int64_t>(low),
                       static_cast<std::int64_t>(high))
                .item<double>() == clamped(at, low, high));
    }
}

TEST_CASE("clamp with tensors passes the gradient to the selected operand and halves it at ties") {
  for (const double at : kXs)
    for (const auto& [low, high] : kBounds) {
      INFO(at << " in " << low << ", " << high);
      const Variable x = leaf(at), l = leaf(low), h = leaf(high);
      const Variable both = ebb::clamp(x, l, h), least = ebb::clamp_min(x, l), most = ebb::clamp_max(x, h);
      CHECK(both.item<double>() == clamped(at, low, high));
      CHECK(least.item<double>() == std::max(at, low));
      CHECK(most.item<double>() == std::min(at, high));
      const auto share = [](bool wins, bool meets) { return meets ? 0.5 : double(wins); };
      const bool apart = low < high;
      // If the bounds are exchanged, the upper bound decides for every x.
      const Values shares = {share(at >= low && at <= high, apart && (at == low || at == high)),
                             share(at < low && low <= high, apart && at == low),
                             share(at > high || high < low, apart && at == high)};
      check_slopes(both, {x, l, h}, shares);
      check_slopes(least, {x, l}, {share(at > low, at == low), share(at < low, at == low)});
      check_slopes(most, {x, h}, {share(at < high, at == high), share(at > high, at == high)});
      Variable y = x * 1;
      y.clamp_(ebb::optional<Variable>(l), ebb::optional<Variable>(h));
      CHECK(y.item<double>() == clamped(at, low, high));
      check_slopes(y, {x, l, h}, shares);
    }
}

TEST_CASE("clamp of a Bool tensor is Bool for bool bounds and Long for integer bounds") {
  const Variable x = ebb::tensor({true, false});
  CHECK(ebb::clamp(x, 0, 1).dtype() == ebb::kLong);
  CHECK(ebb::clamp(x, false, true).dtype() == ebb::kBool);
  CHECK(ebb::clamp(x, true, true).all().item<bool>());
}

TEST_CASE("clamp promotes an integer tensor if one bound is floating") {
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
  CHECK_THROWS_WITH(ebb::clamp_(y, 1, 2.5),
                    support::Contains("clamp_: result type Float can't be cast to the desired"));
  CHECK_THROWS_WITH(ebb::clamp_(y, {}, 1.5),
                    support::Contains("clamp_: result type Float can't be cast to the desired"));
}

TEST_CASE("clamp passes no NaN gradient to clamped elements") {
  const Variable x = leaf(-1);
  ebb::where(x > 0, ebb::sqrt(ebb::clamp_min(x, 0)) * 0, x).backward();
  CHECK(x.grad().item<double>() == 1);
}

// Activations at their kinks, and rrelu, which draws its slopes.

using namespace ebb;

TEST_CASE("activations have the first and second derivatives of PyTorch at their kinks") {
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
  CHECK(second([](const Variable& x) { return hardswish(x); }, -3) == std::pair(0.0, 0.0));
  CHECK(std::isnan(softshrink(tensor({NAN})).item<float>()));
}

TEST_CASE("rrelu draws one slope per negative element") {
  const Variable x = ramp({4, 5}).requires_grad_();
  manual_seed(3);
  const Variable y = rrelu(x, 0.1, 0.4, true);
  const Variable slope = y.detach() / x.detach();
  CHECK((x > 0).logical_or((slope > 0.1).logical_and(slope < 0.4)).all().item<bool>());
  CHECK((x <= 0).logical_or(slope == 1).all().item<bool>());
  y.sum().backward();
  CHECK(x.grad().allclose(slope));
  CHECK(rrelu(x, 0.1, 0.3).allclose(leaky_relu(x, 0.2)));
  CHECK_THROWS_WITH(rrelu(x, 0.5, 0.4),
                    support::Contains("rrelu: lower must not exceed upper, got 0.5 and 0.4"));
}

// equal, isclose and allclose: NaN, shapes, and the dtype of the tolerance.

TEST_CASE("equal and allclose are false for NaN by default and for different shapes") {
  const Variable a = ebb::tensor({1.0, 2.0, 3.0, double{NAN}}, ebb::kDouble);
  CHECK_FALSE(ebb::equal(a, a));
  CHECK(ebb::allclose(a, a, 1e-5, 1e-8, true));
  CHECK_FALSE(ebb::allclose(a, a));
  CHECK(ebb::equal(ebb::tensor({1, 2}), ebb::tensor({1, 2})));
  CHECK_FALSE(ebb::equal(ebb::ones({2}), ebb::ones({2, 1})));
  CHECK(ebb::allclose(ebb::ones({2}), ebb::ones({2}) + 1e-6));
  CHECK_FALSE(ebb::allclose(ebb::ones({2}), ebb::ones({2}) + 1e-3));
}

TEST_CASE("allclose computes its tolerance in the dtype of the tensors") {
  for (const ebb::DType dtype : {ebb::kDouble, ebb::kFloat, ebb::kHalf, ebb::kBFloat16})
    for (const double tolerance : {0.1, 0.3, 1.7, 1e-3}) {
      INFO(ebb::to_string(dtype) << " " << tolerance);
      const Variable x = ebb::full({1}, tolerance, dtype), zero = ebb::zeros({1}, dtype);
      CHECK(ebb::allclose(x, zero, 0, tolerance));
      CHECK_FALSE(ebb::allclose(x, zero, 0, tolerance * 0.98));
      CHECK(ebb::allclose(x + 1, ebb::ones({1}, dtype), 0, (x + 1 - 1).item<double>()));
      CHECK(ebb::allclose(zero, x, 1, 0));
      CHECK(ebb::allclose(zero, x * 4, 0.5, (x * 2).item<double>()));
    }
  // Intermediate sums are rounded too: with eight bits, 256 + 1.5 is 258 and 256 + 0.75 is 256.
  const Variable big = ebb::full({1}, 256, ebb::kBFloat16), below = ebb::full({1}, -2, ebb::kBFloat16);
  CHECK(ebb::allclose(below, big, 1, 1.5));
  CHECK_FALSE(ebb::allclose(below, big, 1, 0.75));
  CHECK(ebb::allclose(ebb::tensor({7, 8}), ebb::tensor({7, 9}), 0, 1));
  CHECK_FALSE(ebb::allclose(ebb::tensor({1000000001}), ebb::tensor({1000000000}), 0, 0.5));
}

// Scalars: integers that wrap or are out of range, divisors, numbers as dimensions, tensors with one element.

TEST_CASE("gcd and lcm accept every sign and the lowest integer") {
  const Variable a = longs({12, -18, 0, 0, 7, std::numeric_limits<std::int64_t>::min()}),
                 b = longs({8, 27, 5, 0, -7, -1});
  CHECK(gcd(a, b).equal(longs({4, 9, 5, 0, 7, 1})));
  CHECK(lcm(a.slice(0, 0, 5), b.slice(0, 0, 5)).equal(longs({24, 54, 0, 0, 7})));
  CHECK(gcd(a.slice(0, 0, 1).to(kInt), longs({8, 9})).equal(longs({4, 3})));
  CHECK_THROWS_WITH(gcd(ones({2}, kBool), ones({2}, kBool)),
                    support::Contains("gcd: dtype Bool is not supported; expected an integer"));
  CHECK_THROWS_WITH(lcm(ones({2}), ones({2})),
                    support::Contains("lcm: dtype Float is not supported; expected an integer"));
}

TEST_CASE("the integer argument of var and std is a dimension") {
  const Variable x = ramp({3, 4});
  CHECK(x.var(1).equal(x.var(IntArrayRef{1})));
  CHECK(var(x, 0).sizes() == IntArrayRef{4});
  CHECK(x.std(1).sizes() == IntArrayRef{3});
  CHECK(std::get<1>(var_mean(x, 0)).equal(x.mean(0)));
  CHECK(x.var(false).dim() == 0);
}

TEST_CASE("item and Scalar conversions throw for numbers that do not fit") {
  CHECK_THROWS_WITH(tensor(1e300, kDouble).item<int>(),
                    support::Contains("value 1e+300 cannot be converted to Int without overflow"));
  CHECK_THROWS_WITH(tensor(NAN).item<std::int64_t>(),
                    support::Contains("value nan cannot be converted to Long without overflow"));
  CHECK_THROWS_WITH(Scalar(9223372036854775808.0).to_long(),
                    support::Contains("value 9223372036854775808 cannot be converted to Long"));
  CHECK_THROWS_WITH(Scalar(std::int64_t{1} << 40).toInt(),
                    support::Contains("value 1099511627776 cannot be converted to Int without"));
  CHECK_THROWS_WITH(Scalar(300).to<std::int8_t>(),
                    support::Contains("value 300 cannot be converted to Char without overflow"));
  CHECK(Scalar(-9223372036854775808.0).to_long() == std::numeric_limits<std::int64_t>::min());
  CHECK(Scalar(2.75).toInt() == 2);
  CHECK(Scalar(-1).to<std::uint8_t>() == 255);
  CHECK(Scalar(1e300).to<bool>());
}

TEST_CASE("is_nonzero accepts only one element and an undefined tensor has numel 0") {
  CHECK(tensor(3).is_nonzero());
  CHECK_FALSE(is_nonzero(zeros({1, 1})));
  CHECK_THROWS_WITH(ones({2}).is_nonzero(),
                    support::Contains("Boolean value of a Tensor with 2 values is ambiguous; use"));
  CHECK_THROWS_WITH(zeros({0}).is_nonzero(),
                    support::Contains("Boolean value of a Tensor with 0 values is ambiguous; use"));
  CHECK(Variable().numel() == 0);
  CHECK(ebb::size(ones({2, 3}), -1) == 3);
}

TEST_CASE("arithmetic on small integers wraps, and the sum of Bool tensors is their logical or") {
  CHECK(values(ebb::full({1}, 200, ebb::kByte) + ebb::full({1}, 100, ebb::kByte)) == Values{44});
  CHECK(values(ebb::full({1}, 100, ebb::kChar) * 2) == Values{-56});
  CHECK(values(ebb::tensor({true, false}) + ebb::tensor({true, true})) == Values{1, 1});
}
