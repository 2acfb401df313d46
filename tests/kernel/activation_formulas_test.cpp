// The formulas of activations one element at a time, as devices and machines without vector functions run
// them.
#include <ebb/ebb.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "ops/elementwise/math_activation.h"

using namespace ebb;

namespace {

// f and its slope agree with each other and with the op, on both sides of `kink` and far out.
template <class F, class Slope, class Op>
void check_formulas(const F& f, const Slope& slope, Op&& op, double kink = 0) {
  INFO(F::kName);
  for (const double away : {-30.0, -3.0, -1.0, -0.3, 0.3, 1.0, 3.0, 30.0}) {
    const double x = kink + away, h = 1e-5;
    INFO("at " << x);
    const Variable leaf = full({}, x, kDouble).set_requires_grad(true), y = op(leaf);
    y.backward();
    CHECK(f(x) == Approx(y.template item<double>()).epsilon(1e-12).margin(1e-15));
    CHECK(slope(x) == Approx(leaf.grad().item<double>()).epsilon(1e-12).margin(1e-15));
    CHECK(slope(x) == Approx((f(x + h) - f(x - h)) / (2 * h)).epsilon(1e-7).margin(1e-9));
  }
}

}  // namespace

TEST_CASE("the slope of each activation is the derivative of its formula, element by element") {
  using V = const Variable&;
  check_formulas(ops::LeakyRelu{0.3}, ops::LeakyReluSlope{0.3}, [](V x) { return leaky_relu(x, 0.3); });
  check_formulas(ops::Elu{1.7, 0.5, 2}, ops::EluSlope{1.7, 0.5, 2}, [](V x) { return elu(x, 1.7, 0.5, 2); });
  check_formulas(ops::Elu{0.8, 1, 1.25}, ops::EluSlope{0.8, 1, 1.25}, [](V x) { return celu(x, 0.8); });
  check_formulas(ops::Gelu(), ops::GeluSlope(), [](V x) { return gelu(x); });
  check_formulas(ops::GeluTanh(), ops::GeluTanhSlope(), [](V x) { return gelu(x, "tanh"); });
  check_formulas(ops::Silu(), ops::SiluSlope(), [](V x) { return silu(x); });
  check_formulas(ops::Mish(), ops::MishSlope(), [](V x) { return mish(x); });
  check_formulas(ops::Softplus(), ops::SoftplusSlope(), [](V x) { return softplus(x); });
  check_formulas(
      ops::Softplus{2, 3}, ops::SoftplusSlope{2, 3}, [](V x) { return softplus(x, 2, 3); }, 1.5);
  check_formulas(ops::LogSigmoid(), ops::LogSigmoidSlope(), [](V x) { return log_sigmoid(x); });
}
