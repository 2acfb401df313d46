// What the walk makes of the gradients that nodes and hooks return.
#include <cmath>

#include "autograd/semantics.h"

using namespace semantics;

namespace {

// Sums over the first dimension; its gradient comes back as it went in, without that dimension.
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

TEST_CASE("a returned gradient of fewer dimensions than the input is refused") {
  const Variable x = ebb::ones({1, 3}, ebb::kFloat64).requires_grad_();
  EBB_REQUIRE_ERROR(Flatten::apply(x).sum().backward(),
                    "returned an invalid gradient at index 0 - got [3] but expected shape compatible with "
                    "[1, 3].");
}

TEST_CASE("a returned gradient of another dtype is converted to the input's") {
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

TEST_CASE("gradients that are leaves themselves add up where they are recorded") {
  const Variable x = leaf({1, 2});
  const Variable y = (FreshLeaf::apply(x) + FreshLeaf::apply(x)).sum();
  const Variable g = grad({y}, {x}, {}, true, true)[0];
  require_values(g, {2, 2});
  REQUIRE(g.requires_grad());
}

TEST_CASE("a walk frees what the nodes it was asked for have saved") {
  const Variable x = leaf({3});
  const Variable h = x * x;
  const variable_list g = grad({h * 1}, {h, x});
  require_values(g[0], {1});
  require_values(g[1], {6});
  EBB_REQUIRE_ERROR(h.backward(), "second time");
}

TEST_CASE("a walk inside another, over the same nodes") {
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

TEST_CASE("anomaly mode lets NaN pass where it is told not to look for it") {
  const Variable x = leaf({0});
  {
    const ebb::autograd::DetectAnomalyGuard detect(false);
    (x.sqrt() * 0).backward();
  }
  require_values(x.grad(), {std::nan("")});
  const ebb::autograd::DetectAnomalyGuard detect;
  EBB_REQUIRE_ERROR((x.sqrt() * 0).backward(), "SqrtBackward0");
}

TEST_CASE("a hook must return a gradient of the same shape, not only of as many elements") {
  const Variable x = leaf({1, 2, 3, 4});
  const Variable y = x * 2;
  y.register_hook([](const Variable& g) { return g.view({2, 2}); });
  EBB_REQUIRE_ERROR(y.sum().backward(),
                    "a hook on MulBackward1 returned a gradient of shape [2, 2] for one of shape [4]");
}

TEST_CASE("hooks on a node that return an empty list change nothing") {
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

TEST_CASE("gradients that grad() returns may be written to, whatever op they come from") {
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
