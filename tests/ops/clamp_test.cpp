// clamp at its bounds, beyond them, and between bounds that are exchanged.
#include "check.h"

#include <algorithm>

using namespace op_tests;

namespace {

// Every x below, at, between and above bounds in order, equal, and exchanged.
const Values kXs = {-2, -1, 0, 1, 2};
const std::vector<std::pair<double, double>> kBounds = {{-1, 1}, {0, 0}, {1, -1}, {-1, 2}, {2, 0}};

double clamped(double x, double low, double high) { return std::min(std::max(x, low), high); }

Variable leaf(double x) { return ebb::full({}, x, ebb::kDouble).set_requires_grad(true); }

/// The gradient of y = f(x...) by each input, computed by the kernels and by recorded ops.
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

TEST_CASE("clamp by numbers passes the gradient between its bounds alone") {
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

TEST_CASE(
    "clamp by tensors gives the gradient to x or to the bound that decides, half each where they meet") {
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
      // Where the bounds are exchanged the upper one decides, whatever x is.
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

TEST_CASE("a boolean bound leaves booleans what they are, a number makes them numbers") {
  const Variable x = ebb::tensor({true, false});
  CHECK(ebb::clamp(x, 0, 1).dtype() == ebb::kLong);
  CHECK(ebb::clamp(x, false, true).dtype() == ebb::kBool);
  CHECK(ebb::clamp(x, true, true).all().item<bool>());
}

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
  CHECK_THROWS_WITH(ebb::clamp_(y, 1, 2.5),
                    support::Contains("clamp_: result type Float can't be cast to the desired"));
  CHECK_THROWS_WITH(ebb::clamp_(y, {}, 1.5),
                    support::Contains("clamp_: result type Float can't be cast to the desired"));
}

TEST_CASE("clamp stops a gradient that is NaN") {
  const Variable x = leaf(-1);
  ebb::where(x > 0, ebb::sqrt(ebb::clamp_min(x, 0)) * 0, x).backward();
  CHECK(x.grad().item<double>() == 1);
}
