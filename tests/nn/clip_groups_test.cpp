// Clipping of gradients of several dtypes and memory layouts in one call.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;

namespace {

Variable with_grad(const Variable& grad) {
  Variable p = zeros_like(grad).set_requires_grad(true);
  p.mutable_grad() = grad;
  return p;
}

// The values of `x`, every other element of a larger tensor.
Variable strided(const Variable& x) {
  Variable out = zeros({x.numel(), 2}, x.options()).select(1, 0);
  out.copy_(x);
  return out;
}

}  // namespace

TEST_CASE("the norm of gradients of several dtypes is that of all elements together") {
  const Variable a = with_grad(full({4}, 3.0, kFloat)), b = with_grad(full({3}, -4.0, kDouble)),
                 c = with_grad(full({2}, 2.0, kHalf));
  for (const std::vector<Variable>& all : {std::vector<Variable>{a, b, c}, std::vector<Variable>{c, b, a}}) {
    CHECK(nn::utils::get_total_norm({all[0].grad(), all[1].grad(), all[2].grad()}).item<double>() ==
          Approx(std::sqrt(4 * 9 + 3 * 16 + 2 * 4)));
    CHECK(nn::utils::get_total_norm({all[0].grad(), all[1].grad(), all[2].grad()}, 1).item<double>() ==
          Approx(4 * 3 + 3 * 4 + 2 * 2));
    CHECK(nn::utils::get_total_norm({all[0].grad(), all[1].grad(), all[2].grad()}, INFINITY).item<double>() ==
          4);
  }
  nn::utils::clip_grad_value_({a, b, c}, 2.5);
  CHECK(equal(a.grad(), full({4}, 2.5, kFloat)));
  CHECK(equal(b.grad(), full({3}, -2.5, kDouble)));
  CHECK(equal(c.grad(), full({2}, 2.0, kHalf)));
}

TEST_CASE("clipped gradients with gaps between their elements each get their own values back") {
  const Variable a = strided(tensor({1.0, -7.0, 2.0}, kDouble)),
                 b = strided(tensor({5.0, 0.5, -0.5}, kDouble)), c = tensor({9.0, 1.0}, kDouble);
  nn::utils::clip_grad_value_({with_grad(a), with_grad(b), with_grad(c)}, 2);
  CHECK(equal(a, tensor({1.0, -2.0, 2.0}, kDouble)));
  CHECK(equal(b, tensor({2.0, 0.5, -0.5}, kDouble)));
  CHECK(equal(c, tensor({2.0, 1.0}, kDouble)));
}
