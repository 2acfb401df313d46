// softmax that computes in another dtype than its input's.
#include "check.h"

using namespace op_tests;

TEST_CASE("softmax of 16 bits to float gives its gradient in the input's dtype") {
  const Variable x = ramp({3, 4}).to(ebb::kHalf);
  const Variable y = ebb::_softmax(x, 1, true), z = ebb::_log_softmax(x, 1, true);
  CHECK(y.dtype() == ebb::kFloat);
  CHECK(ebb::_softmax_backward_data(ebb::ones_like(y), y, 1, ebb::kHalf).dtype() == ebb::kHalf);
  CHECK(ebb::_log_softmax_backward_data(ebb::ones_like(z), z, 1, ebb::kHalf).dtype() == ebb::kHalf);
  const Variable leaf = x.detach().clone().set_requires_grad(true);
  for (const Variable& out : {ebb::_softmax(leaf, 1, true), ebb::_log_softmax(leaf, 1, true)}) {
    const Variable grad = ebb::autograd::grad({out}, {leaf}, {ebb::ones_like(out)}, ebb::nullopt, true)[0];
    CHECK(grad.dtype() == ebb::kHalf);
    CHECK_THAT(node_name(grad), support::Contains("oftmaxBackwardDataBackward"));
  }
}
