// Activations where their pieces meet, and rrelu, which draws its slopes.
#include "check.h"

using namespace op_tests;
using namespace ebb;

TEST_CASE("joins of activations have PyTorch's derivatives") {
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
  CHECK_THROWS_WITH(rrelu(x, 0.5, 0.4),
                    support::Contains("rrelu: lower must not exceed upper, got 0.5 and 0.4"));
}
