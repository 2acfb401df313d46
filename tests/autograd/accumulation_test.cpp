// How gradients add up in leaves.
#include "autograd/semantics.h"

using namespace semantics;

TEST_CASE("S1 two backward calls add up") {
  Variable x = leaf({1, 2});
  (x * 3).sum().backward();
  (x * 4).sum().backward();
  require_values(x.grad(), {7, 7});
}

TEST_CASE("S2 grad accumulates in place, and out of place under create_graph") {
  Variable x = leaf({2});
  (x * x).backward();
  const Variable first = x.grad();
  (x * x).backward();
  REQUIRE(x.grad().is_same(first));
  require_values(first, {8});
  (x * x).backward({}, true, true);
  REQUIRE_FALSE(x.grad().is_same(first));
  require_values(first, {8});
  require_values(x.grad(), {12});
  REQUIRE(x.grad().requires_grad());
  x.mutable_grad().reset();
}

TEST_CASE("S3 gradients of tensors without elements") {
  Variable x = ebb::zeros({0, 3}, ebb::kFloat64).requires_grad_();
  (x * 2).sum().backward();
  REQUIRE(x.grad().sizes() == ebb::IntArrayRef({0, 3}));
}

TEST_CASE("S4 a root given twice counts twice") {
  Variable x = leaf({3});
  Variable y = x * x;
  ebb::autograd::backward({y, y});
  require_values(x.grad(), {12});
}

TEST_CASE("S5 grad() leaves .grad alone") {
  Variable x = leaf({3});
  require_values(grad({x * x}, {x})[0], {6});
  REQUIRE_FALSE(x.grad().defined());
}

TEST_CASE("S6 grad() of a tensor that is not a leaf") {
  Variable x = leaf({3});
  Variable y = x * x;
  require_values(grad({y * y}, {y})[0], {18});
}

TEST_CASE("S7 backward to given inputs touches only those") {
  Variable x = leaf({3}), w = leaf({2});
  Variable y = x * w;
  std::vector<Variable> only{x};
  y.backward({}, true, false, ebb::TensorList(only));
  require_values(x.grad(), {2});
  REQUIRE_FALSE(w.grad().defined());
  EBB_REQUIRE_ERROR(y.backward({}, true, false, ebb::TensorList()), "cannot be empty");
}

TEST_CASE("S7b a non-leaf among the inputs keeps its gradient") {
  Variable x = leaf({3});
  Variable y = x * 2;
  Variable z = y * y;
  ebb::autograd::backward({z}, {}, {}, false, {y});
  require_values(y.grad(), {12});
  REQUIRE_FALSE(x.grad().defined());
}

TEST_CASE("S8 an unused input is an error unless allowed") {
  Variable x = leaf({1}), unused = leaf({1});
  Variable y = x * 2;
  EBB_REQUIRE_ERROR(grad({y}, {unused}, {}, true), "not have been used in the graph");
  const auto grads = grad({y}, {x, unused}, {}, true, false, true);
  require_values(grads[0], {2});
  REQUIRE_FALSE(grads[1].defined());
}

TEST_CASE("S9 a leaf that is not reached keeps an undefined gradient") {
  Variable x = leaf({1}), other = leaf({1});
  (x * other.detach()).backward();
  REQUIRE_FALSE(other.grad().defined());
}

TEST_CASE("S10 a root of several elements needs a seed") {
  Variable x = leaf({1, 2});
  EBB_REQUIRE_ERROR((x * 2).backward(), "grad can be implicitly created only for scalar outputs");
}

TEST_CASE("S11 a seed of another shape is an error that names both") {
  Variable x = leaf({1, 2});
  EBB_REQUIRE_ERROR((x * 2).backward(ebb::ones({3}, ebb::kFloat64)), "shape of [3]");
  EBB_REQUIRE_ERROR((x * 2).backward(ebb::ones({3}, ebb::kFloat64)), "shape of [2]");
}

TEST_CASE("S12 a root that does not require grad") {
  EBB_REQUIRE_ERROR(ebb::ones({1}).backward(), "does not require grad");
}

TEST_CASE("S13 integer tensors cannot require grad") {
  EBB_REQUIRE_ERROR(ebb::ones({1}, ebb::kLong).requires_grad_(), "only Tensors of floating point dtype");
}

TEST_CASE("S14 the caller's seed is never modified") {
  Variable x = leaf({1, 2});
  const Variable seed = ebb::ones({2}, ebb::kFloat64);
  (x + x).backward(seed);
  (x + x).backward(seed);
  require_values(seed, {1, 1});
  require_values(x.grad(), {4, 4});
  REQUIRE_FALSE(x.grad().is_alias_of(seed));
}

TEST_CASE("S15 retain_grad, also after in-place writes and on views") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  y.retain_grad();
  REQUIRE(y.retains_grad());
  y.mul_(3);
  (y * y).sum().backward();
  require_values(y.grad(), {12, 24});
  require_values(x.grad(), {72, 144});

  Variable base = x * 1;
  Variable view = base[0];
  view.retain_grad();
  (base * 5).sum().backward();
  REQUIRE_FALSE(view.grad().defined());
  (view * 5).backward();
  require_values(view.grad(), {5});
}

TEST_CASE("S16 requires_grad spreads") {
  Variable x = leaf({1}), c = ebb::ones({1}, ebb::kFloat64);
  REQUIRE((x + c).requires_grad());
  REQUIRE_FALSE((c + c).requires_grad());
  REQUIRE_FALSE((x > c).requires_grad());
}

TEST_CASE("S17 one tensor twice in one op") {
  Variable x = leaf({3});
  (x * x).backward();
  require_values(x.grad(), {6});
}

TEST_CASE("S18 a node that leads nowhere") {
  Variable x = leaf({3});
  Variable y = x * 2, unused = x * 7;
  y.backward();
  require_values(x.grad(), {2});
  REQUIRE(unused.requires_grad());
}

TEST_CASE("S19 a leaf as the root") {
  Variable x = leaf({3});
  x.backward();
  require_values(x.grad(), {1});
  require_values(grad({x}, {x})[0], {1});
}
