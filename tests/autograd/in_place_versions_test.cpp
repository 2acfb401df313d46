// Ops in place: versions, views, histories.
#include "autograd/semantics.h"

using namespace semantics;

TEST_CASE("an in-place op on a leaf that requires grad throws unless no_grad is on") {
  Variable x = leaf({1});
  EBB_REQUIRE_ERROR(x.add_(1), "a leaf Variable that requires grad");
  {
    ebb::NoGradGuard no_grad;
    x.add_(1);
  }
  require_values(x, {2});
}

TEST_CASE("an in-place op on a view of a leaf that requires grad throws") {
  Variable x = leaf({1, 2});
  EBB_REQUIRE_ERROR(x[0].add_(1), "a view of a leaf Variable that requires grad");
}

TEST_CASE("backward throws for a saved tensor that was modified and names the op and both versions") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  Variable z = y * y;
  y.add_(1);
  EBB_REQUIRE_ERROR(z.sum().backward(), "modified by an inplace operation");
  EBB_REQUIRE_ERROR(z.sum().backward(), "MulBackward0");
  EBB_REQUIRE_ERROR(z.sum().backward(), "is at version 1; expected version 0");
}

TEST_CASE("backward throws for a saved tensor that was modified under no_grad") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  Variable z = (y * y).sum();
  {
    ebb::NoGradGuard no_grad;
    y.mul_(2);
  }
  EBB_REQUIRE_ERROR(z.backward(), "modified by an inplace operation");
}

TEST_CASE("backward throws for a saved tensor that was modified through detach and not through data") {
  Variable x = leaf({1, 2});
  {
    Variable y = x * 2;
    Variable z = (y * y).sum();
    y.detach().zero_();
    EBB_REQUIRE_ERROR(z.backward(), "modified by an inplace operation");
  }
  Variable y = x * 2;
  Variable z = (y * y).sum();
  y.data().fill_(5);
  z.backward();
  require_values(x.grad(), {20, 20});
}

TEST_CASE("backward from an output that set_data() gave another shape is an error, and changes no gradient") {
  Variable x = leaf({1, 2, 3}), y = x * x;
  y.set_data(ebb::ones({}, ebb::kDouble));
  EBB_REQUIRE_ERROR(y.backward(), "MulBackward0 computed an output of shape [3]");
  EBB_REQUIRE_ERROR(ebb::autograd::grad({y}, {x}, {ebb::ones({}, ebb::kDouble)}), "is now of shape []");
  CHECK_FALSE(x.grad().defined());
  y.set_data(ebb::zeros({3}, ebb::kDouble));
  y.backward(ebb::ones({3}, ebb::kDouble));
  require_values(x.grad(), {2, 4, 6});
  x.set_data(ebb::ones({2}, x.options()));  // a leaf's gradient has the shape that its data has
  x.mutable_grad() = Variable();
  x.backward(ebb::ones({2}, ebb::kDouble));
  require_values(x.grad(), {1, 1});
}

TEST_CASE("an in-place op on a view changes the history of its base") {
  Variable x = leaf({1, 2, 3});
  Variable base = x * 2;
  base[1].mul_(10);
  require_values(base, {2, 40, 6});
  REQUIRE(base.grad_fn()->name() == "CopySlices");
  base.sum().backward();
  require_values(x.grad(), {2, 20, 2});
}

TEST_CASE("an in-place op on a view of a view changes the base and the first view and their gradients") {
  Variable x = leaf({1, 2, 3, 4});
  Variable base = x * 1;
  Variable view = base.view({2, 2});
  Variable row = view[1];
  row.mul_(row.detach().clone());
  require_values(base, {1, 2, 9, 16});
  require_values(view, {1, 2, 9, 16});
  (base * base).sum().backward();
  require_values(x.grad(), {2, 4, 54, 128});
}

TEST_CASE("an in-place op on one of several views that unbind gives throws") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  auto parts = y.unbind(0);
  EBB_REQUIRE_ERROR(parts[0].add_(1), "one of several views");
}

TEST_CASE("a view sees an in-place op on its base in its values and in its gradient") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  Variable view = base[0];
  base.mul_(3);
  require_values(view, {3});
  (view * view).backward();
  require_values(x.grad(), {18, 0});
  REQUIRE(view.grad_fn()->name() == "AsStridedBackward0");
}

TEST_CASE("assigning to an element of a tensor that does not require grad makes it require grad") {
  Variable y = leaf({5});
  Variable x = ebb::zeros({2}, ebb::kFloat64);
  x[0] = y[0] * 2;
  REQUIRE(x.requires_grad());
  require_values(x, {10, 0});
  (x * x).sum().backward();
  require_values(y.grad(), {40});
}

TEST_CASE("copy_ broadcasts its source and sums the gradient back to the shape of the source") {
  Variable y = leaf({5});
  Variable x = ebb::zeros({2, 3}, ebb::kFloat64);
  x.copy_(y);
  require_values(x, {5, 5, 5, 5, 5, 5});
  x.sum().backward();
  require_values(y.grad(), {6});
}

TEST_CASE("an in-place op throws if it would have to broadcast the tensor or if the tensor is expanded") {
  Variable x = ebb::zeros({1}, ebb::kFloat64);
  REQUIRE_THROWS_WITH(x.add_(ebb::ones({3}, ebb::kFloat64)),
                      support::Contains("add_: output with shape [1] doesn't match the broadcast"));
  Variable expanded = ebb::zeros({1}, ebb::kFloat64).expand({3});
  EBB_REQUIRE_ERROR(expanded.add_(1), "single memory location");
}

TEST_CASE("gradients of uses of a view and of its base add up") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  Variable view = base.view({2, 1});
  (base.sum() * 2 + view.sum() * 3).backward();
  require_values(x.grad(), {5, 5});
}

TEST_CASE("exp throws in backward if its result was modified and exp_ does not") {
  Variable x = leaf({0.5});
  Variable y = ebb::exp(x);
  y.add_(1);
  EBB_REQUIRE_ERROR(y.sum().backward(), "modified by an inplace operation");
  // The in-place version keeps the result that it wrote.
  y = x * 1;
  y.exp_();
  y.sum().backward();
  require_values(x.grad(), {std::exp(0.5)});
}

TEST_CASE("what keeps its input and its result is differentiated by the one that was not modified") {
  using Op = Variable (*)(const Variable&);
  using InPlace = Variable& (*)(const Variable&);
  const std::pair<Op, InPlace> ops[] = {{ebb::tanh, ebb::tanh_},
                                        {ebb::sigmoid, ebb::sigmoid_},
                                        {ebb::expm1, ebb::expm1_},
                                        {ebb::exp2, ebb::exp2_},
                                        {ebb::sqrt, ebb::sqrt_},
                                        {ebb::rsqrt, ebb::rsqrt_},
                                        {ebb::reciprocal, ebb::reciprocal_},
                                        {ebb::tan, ebb::tan_}};
  for (const auto& [op, in_place] : ops) {
    const auto derivatives = [&](bool changes_input, bool changes_result) {
      const Variable x = leaf({0.5, 2}), input = x * 1, y = op(input), sum = y.sum();
      if (changes_input) input.add_(1);
      if (changes_result) y.add_(1);
      const Variable slope = ebb::autograd::grad({sum}, {x}, {}, true, true)[0];
      return ebb::stack({slope, ebb::autograd::grad({slope.sum()}, {x}, {}, true)[0]});
    };
    const Variable expected = derivatives(false, false);
    CHECK(ebb::allclose(derivatives(true, false), expected, 1e-12));
    CHECK(ebb::allclose(derivatives(false, true), expected, 1e-12));
    EBB_REQUIRE_ERROR(derivatives(true, true), "modified by an inplace operation");
    const Variable x = leaf({0.5, 2}), y = in_place(x * 1);
    CHECK(ebb::allclose(ebb::autograd::grad({y.sum()}, {x})[0], expected[0], 1e-12));
  }
}

TEST_CASE("an in-place op on a view of a view that was made a leaf throws") {
  Variable x = ebb::arange(6, ebb::kFloat64).view({2, 3}).requires_grad_();
  EBB_REQUIRE_ERROR(x.view({3, 2}).mul_(2), "a view of a leaf Variable that requires grad");
  require_values(x, {0, 1, 2, 3, 4, 5});
}
