// Accumulation of gradients in leaves, and the gradients that nodes and hooks return.
#include "autograd/semantics.h"

#include <cmath>

using namespace semantics;

TEST_CASE("two backward calls accumulate their gradients in a leaf") {
  Variable x = leaf({1, 2});
  (x * 3).sum().backward();
  (x * 4).sum().backward();
  require_values(x.grad(), {7, 7});
}

TEST_CASE("backward accumulates into grad in place, but into a new tensor with create_graph") {
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

TEST_CASE("the gradient of a tensor without elements has its shape") {
  Variable x = ebb::zeros({0, 3}, ebb::kFloat64).requires_grad_();
  (x * 2).sum().backward();
  REQUIRE(x.grad().sizes() == ebb::IntArrayRef({0, 3}));
}

TEST_CASE("backward counts a root twice if it is passed twice") {
  Variable x = leaf({3});
  Variable y = x * x;
  ebb::autograd::backward({y, y});
  require_values(x.grad(), {12});
}

TEST_CASE("autograd::grad leaves the grad of a leaf undefined") {
  Variable x = leaf({3});
  require_values(grad({x * x}, {x})[0], {6});
  REQUIRE_FALSE(x.grad().defined());
}

TEST_CASE("autograd::grad returns the gradient of a tensor that is not a leaf") {
  Variable x = leaf({3});
  Variable y = x * x;
  require_values(grad({y * y}, {y})[0], {18});
}

TEST_CASE("backward with a list of inputs sets only their grad and throws for an empty list") {
  Variable x = leaf({3}), w = leaf({2});
  Variable y = x * w;
  std::vector<Variable> only{x};
  y.backward({}, true, false, ebb::TensorList(only));
  require_values(x.grad(), {2});
  REQUIRE_FALSE(w.grad().defined());
  EBB_REQUIRE_ERROR(y.backward({}, true, false, ebb::TensorList()), "cannot be empty");
}

TEST_CASE("backward with a non-leaf input sets the grad of that tensor") {
  Variable x = leaf({3});
  Variable y = x * 2;
  Variable z = y * y;
  ebb::autograd::backward({z}, {}, {}, false, {y});
  require_values(y.grad(), {12});
  REQUIRE_FALSE(x.grad().defined());
}

TEST_CASE("autograd::grad throws for an unused input unless allow_unused is true") {
  Variable x = leaf({1}), unused = leaf({1});
  Variable y = x * 2;
  EBB_REQUIRE_ERROR(grad({y}, {unused}, {}, true), "not have been used in the graph");
  const auto grads = grad({y}, {x, unused}, {}, true, false, true);
  require_values(grads[0], {2});
  REQUIRE_FALSE(grads[1].defined());
}

TEST_CASE("backward does not define the grad of a leaf that it does not reach") {
  Variable x = leaf({1}), other = leaf({1});
  (x * other.detach()).backward();
  REQUIRE_FALSE(other.grad().defined());
}

TEST_CASE("backward of a root with several elements throws without a seed") {
  Variable x = leaf({1, 2});
  EBB_REQUIRE_ERROR((x * 2).backward(), "grad can be implicitly created only for scalar outputs");
}

TEST_CASE("backward with a seed of another shape throws and names both shapes") {
  Variable x = leaf({1, 2});
  EBB_REQUIRE_ERROR((x * 2).backward(ebb::ones({3}, ebb::kFloat64)), "shape of [3]");
  EBB_REQUIRE_ERROR((x * 2).backward(ebb::ones({3}, ebb::kFloat64)), "shape of [2]");
}

TEST_CASE("backward of a root that does not require grad throws") {
  EBB_REQUIRE_ERROR(ebb::ones({1}).backward(), "does not require grad");
}

TEST_CASE("requires_grad_ of an integer tensor throws") {
  EBB_REQUIRE_ERROR(ebb::ones({1}, ebb::kLong).requires_grad_(), "only Tensors of floating point dtype");
}

TEST_CASE("backward does not modify the seed and stores no alias of it") {
  Variable x = leaf({1, 2});
  const Variable seed = ebb::ones({2}, ebb::kFloat64);
  (x + x).backward(seed);
  (x + x).backward(seed);
  require_values(seed, {1, 1});
  require_values(x.grad(), {4, 4});
  REQUIRE_FALSE(x.grad().is_alias_of(seed));
}

TEST_CASE("retain_grad works for a tensor that is later written in place and for a view") {
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

TEST_CASE("a result of a differentiable dtype requires grad if an input does") {
  Variable x = leaf({1}), c = ebb::ones({1}, ebb::kFloat64);
  REQUIRE((x + c).requires_grad());
  REQUIRE_FALSE((c + c).requires_grad());
  REQUIRE_FALSE((x > c).requires_grad());
}

TEST_CASE("the gradient of a tensor that is both operands of an op is the sum of both gradients") {
  Variable x = leaf({3});
  (x * x).backward();
  require_values(x.grad(), {6});
}

TEST_CASE("backward ignores a result that the root does not depend on") {
  Variable x = leaf({3});
  Variable y = x * 2, unused = x * 7;
  y.backward();
  require_values(x.grad(), {2});
  REQUIRE(unused.requires_grad());
}

TEST_CASE("backward of a leaf sets its grad to the seed") {
  Variable x = leaf({3});
  x.backward();
  require_values(x.grad(), {1});
  require_values(grad({x}, {x})[0], {1});
}

TEST_CASE("the grad of a leaf shares no memory with the seed or with the grad of another leaf") {
  using Route = std::function<Variable(const Variable&)>;
  const std::pair<const char*, Route> routes[] = {
      {"the leaf itself", [](const Variable& x) { return x; }},
      {"view", [](const Variable& x) { return x.view({4}); }},
      {"reshape", [](const Variable& x) { return x.reshape({1, 4}); }},
      {"transpose", [](const Variable& x) { return x.t(); }},
      {"unsqueeze", [](const Variable& x) { return x.unsqueeze(0); }},
      {"clone", [](const Variable& x) { return x.clone(); }},
      {"add", [](const Variable& x) { return x + 1; }}};
  for (const auto& [name, route] : routes) {
    INFO(name);
    const Variable a = leaf({1, 2, 3, 4}).view({2, 2}).detach().set_requires_grad(true);
    const Variable b = a.detach().clone().set_requires_grad(true);
    const Variable y = route(a) + route(b);
    const Variable seed = ebb::full(y.sizes(), 2, ebb::kDouble);
    y.backward(seed, /*retain_graph=*/true);
    y.backward(seed);
    require_values(seed.reshape({4}), {2, 2, 2, 2});
    for (const Variable& x : {a, b}) require_values(x.grad().reshape({4}), {4, 4, 4, 4});
    a.mutable_grad().zero_();
    require_values(seed.reshape({4}), {2, 2, 2, 2});
    require_values(b.grad().reshape({4}), {4, 4, 4, 4});
    const Variable alone = a.detach().clone().set_requires_grad(true);
    route(alone).backward(seed);
    alone.mutable_grad().zero_();
    require_values(seed.reshape({4}), {2, 2, 2, 2});
  }
}

// Backward accumulates the gradients that nodes and hooks return.

namespace {

// Sums over the first dimension. Its backward returns the incoming gradient without that dimension.
struct Flatten : Function<Flatten> {
  static Variable forward(AutogradContext*, Variable x) { return x.sum(0); }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
};

struct Widening : Function<Widening> {
  static Variable forward(AutogradContext*, Variable x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0].to(ebb::kDouble) * 2}; }
};

struct FreshLeaf : Function<FreshLeaf> {
  static Variable forward(AutogradContext*, Variable x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list g) {
    return {ebb::ones_like(g[0]).requires_grad_()};
  }
};

}  // namespace

TEST_CASE("backward throws if a function returns a gradient with fewer dimensions than its input") {
  const Variable x = ebb::ones({1, 3}, ebb::kFloat64).requires_grad_();
  EBB_REQUIRE_ERROR(Flatten::apply(x).sum().backward(),
                    "returned an invalid gradient at index 0 - got [3] but expected shape compatible with "
                    "[1, 3].");
}

TEST_CASE("a returned gradient of another dtype is converted to the dtype of the input") {
  const Variable x = ebb::ones({2}, ebb::kFloat).requires_grad_();
  const Variable h = x * 1;
  ebb::DType seen = ebb::kLong;
  h.register_hook([&](const Variable& g) { seen = g.dtype(); });
  Widening::apply(h).sum().backward();
  REQUIRE(seen == ebb::kFloat);
  Widening::apply(x).sum().backward();
  REQUIRE(x.grad().dtype() == ebb::kFloat);
  require_values(x.grad(), {4, 4});
  REQUIRE(grad({Widening::apply(x).sum()}, {x})[0].dtype() == ebb::kFloat);
}

TEST_CASE("under create_graph, the sum of gradients that backward functions return as leaves has a graph") {
  const Variable x = leaf({1, 2});
  const Variable y = (FreshLeaf::apply(x) + FreshLeaf::apply(x)).sum();
  const Variable g = grad({y}, {x}, {}, true, true)[0];
  require_values(g, {2, 2});
  REQUIRE(g.requires_grad());
}

TEST_CASE("grad with a non-leaf input and its leaf frees the saved tensors of the node between them") {
  const Variable x = leaf({3});
  const Variable h = x * x;
  const variable_list g = grad({h * 1}, {h, x});
  require_values(g[0], {1});
  require_values(g[1], {6});
  EBB_REQUIRE_ERROR(h.backward(), "second time");
}

TEST_CASE("grad inside a hook may run backward through the same nodes") {
  const Variable x = leaf({3});
  const Variable h = x * x;
  const Variable y = h * h;
  bool inside = false;
  int walks = 0;
  h.register_hook([&](const Variable&) {
    if (inside) return;
    inside = true;
    const variable_list g = grad({y}, {h, x}, {}, true);
    require_values(g[0], {18});
    require_values(g[1], {108});
    inside = false;
    ++walks;
  });
  y.backward({}, true);
  require_values(x.grad(), {108});
  REQUIRE(walks == 1);
}

TEST_CASE("anomaly mode with check_nan=false accepts NaN gradients") {
  const Variable x = leaf({0});
  {
    const ebb::autograd::DetectAnomalyGuard detect(false);
    (x.sqrt() * 0).backward();
  }
  require_values(x.grad(), {std::nan("")});
  const ebb::autograd::DetectAnomalyGuard detect;
  EBB_REQUIRE_ERROR((x.sqrt() * 0).backward(), "SqrtBackward0");
}

TEST_CASE("backward throws if a hook returns a gradient of another shape with the same number of elements") {
  const Variable x = leaf({1, 2, 3, 4});
  const Variable y = x * 2;
  y.register_hook([](const Variable& g) { return g.view({2, 2}); });
  EBB_REQUIRE_ERROR(y.sum().backward(),
                    "a hook on MulBackward1 returned a gradient of shape [2, 2] for one of shape [4]");
}

TEST_CASE("node hooks that return an empty list change no gradient") {
  const Variable x = leaf({1, 2});
  const Variable y = x * 2;
  int calls = 0;
  ebb::autograd::add_pre_hook(*y.grad_fn(), [&](const variable_list&) -> variable_list {
    ++calls;
    return {};
  });
  ebb::autograd::add_post_hook(*y.grad_fn(),
                               [&](const variable_list&, const variable_list&) -> variable_list {
                                 ++calls;
                                 return {};
                               });
  y.sum().backward();
  REQUIRE(calls == 2);
  require_values(x.grad(), {2, 2});
}

TEST_CASE("gradients that grad() returns can be written in place after every op") {
  for (const auto& loss :
       {+[](const Variable& x) { return x.mean(); }, +[](const Variable& x) { return x.sum(); }}) {
    const Variable x = leaf({1, 2, 3, 4});
    const Variable g = grad({loss(x) * 4}, {x})[0], before = g.clone();
    g[1].mul_(3);
    CHECK(g[0].equal(before[0]));
    CHECK(g[1].equal(before[1] * 3));
    CHECK(g[2].equal(before[2]));
  }
}
