// Formulas of smooth and piecewise elementwise ops for each scalar type: one number at a time, as on devices
// and on machines without SIMD functions, and the op itself, whose kernel uses SIMD lanes. The second
// derivative of a smooth formula is the gradient of its gradient formula on Variables.
#include <ebb/ebb.h>

#include "ops/elementwise/formulas/activations.h"
#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/formulas/piecewise.h"
#include "ops/elementwise/formulas/special.h"
#include "ops/elementwise/formulas/trigonometric.h"
#include "support/catch.h"

#include <cmath>

using namespace ebb;

namespace {

using V = const Variable&;

// Checks that value and gradient agree with each other and with the op, on both sides of `kink` and for large
// inputs.
template <class F, class Op>
void check_formulas(const F& f, Op&& op, double kink = 0,
                    std::vector<double> points = {-30.0, -3.0, -1.0, -0.3, 0.3, 1.0, 3.0, 30.0}) {
  INFO(F::kName);
  const ops::Gradient<F> gradient{{}, f};
  for (const double away : points) {
    const double x = kink + away, h = 1e-5;
    INFO("at " << x);
    const Variable leaf = full({}, x, kDouble).set_requires_grad(true), y = op(leaf), plain = leaf.detach();
    y.backward();
    const double value = y.template item<double>(), slope = leaf.grad().item<double>();
    const bool of_result = F::kSaves == ops::Saves::result;
    const auto near = [](double expected) { return Approx(expected).epsilon(1e-12).margin(1e-15); };
    CHECK(f.value(x) == near(value));
    CHECK(gradient.value(1.0, of_result ? value : x) == near(slope));
    if constexpr (!ops::has_second_derivative<F>)
      CHECK(gradient.value(ones({}, kDouble), of_result ? y.detach() : plain).template item<double>() ==
            near(slope));
    CHECK(slope == Approx((f.value(x + h) - f.value(x - h)) / (2 * h)).epsilon(1e-7).margin(1e-9));
  }
}

}  // namespace

TEST_CASE("the derivative of each smooth activation formula is right for every scalar type") {
  check_formulas(ops::Tanh(), [](V x) { return tanh(x); });
  check_formulas(ops::Sigmoid(), [](V x) { return sigmoid(x); });
  check_formulas(ops::Elu{{}, 1.7, 0.5, 2}, [](V x) { return elu(x, 1.7, 0.5, 2); });
  check_formulas(ops::Elu{{}, 0.8, 1, 1.25}, [](V x) { return celu(x, 0.8); });
  check_formulas(ops::Gelu(), [](V x) { return gelu(x); });
  check_formulas(ops::GeluTanh(), [](V x) { return gelu(x, "tanh"); });
  check_formulas(ops::Silu(), [](V x) { return silu(x); });
  check_formulas(ops::Mish(), [](V x) { return mish(x); });
  check_formulas(ops::Softplus(), [](V x) { return softplus(x); });
  check_formulas(ops::Softplus{{}, 2, 3}, [](V x) { return softplus(x, 2, 3); }, 1.5);
  check_formulas(ops::LogSigmoid(), [](V x) { return log_sigmoid(x); });
}

TEST_CASE("the derivative of each piecewise activation formula is right for every scalar type") {
  check_formulas(ops::LeakyRelu{{}, 0.3}, [](V x) { return leaky_relu(x, 0.3); });
  check_formulas(ops::Hardtanh{{}, Scalar(-2), Scalar(2)}, [](V x) { return hardtanh(x, -2, 2); });
  check_formulas(ops::Hardsigmoid(), [](V x) { return hardsigmoid(x); }, 0.5);
  check_formulas(ops::Hardswish(), [](V x) { return hardswish(x); }, 0.5);
  check_formulas(ops::Hardshrink{{}, 0.7}, [](V x) { return hardshrink(x, 0.7); });
  check_formulas(ops::Softshrink{{}, 0.7}, [](V x) { return softshrink(x, 0.7); });
}

TEST_CASE("the derivative of each formula of a mathematical function is right for every scalar type") {
  const std::vector<double> inside = {-0.9, -0.3, 0.4, 0.8}, above = {0.2, 1.5, 4};
  check_formulas(ops::Exp2(), [](V x) { return exp2(x); }, 0, inside);
  check_formulas(ops::Expm1(), [](V x) { return expm1(x); }, 0, inside);
  check_formulas(ops::Log10(), [](V x) { return log10(x); }, 0, above);
  check_formulas(ops::Log1p(), [](V x) { return log1p(x); }, 0, above);
  check_formulas(ops::Rsqrt(), [](V x) { return rsqrt(x); }, 0, above);
  check_formulas(ops::Reciprocal(), [](V x) { return reciprocal(x); }, 0, above);
  check_formulas(ops::Tan(), [](V x) { return tan(x); }, 0, inside);
  check_formulas(ops::Asin(), [](V x) { return asin(x); }, 0, inside);
  check_formulas(ops::Acos(), [](V x) { return acos(x); }, 0, inside);
  check_formulas(ops::Acosh(), [](V x) { return acosh(x); }, 1, above);
  check_formulas(ops::Atanh(), [](V x) { return atanh(x); }, 0, inside);
  check_formulas(ops::Erf(), [](V x) { return erf(x); }, 0, inside);
  check_formulas(ops::Logit(), [](V x) { return logit(x); }, 0.5, {-0.3, 0.1, 0.4});
  check_formulas(ops::Sinc(), [](V x) { return sinc(x); }, 0, {-1.5, -0.3, 0.0, 0.4, 2.2});
}

TEST_CASE("the second derivative of sinc at 0 is -pi^2 / 3") {
  const Variable x = zeros({1}, kDouble).set_requires_grad(true);
  const Variable slope = autograd::grad({sinc(x)}, {x}, {}, true, true)[0];
  const double bend = autograd::grad({slope}, {x})[0].item<double>();
  CHECK(bend == Approx(-3.28986813369645287));  // -pi^2 / 3
}
