// The walk itself: nodes that are skipped, who owns a gradient, the order of hooks.
#include "autograd/semantics.h"

using namespace semantics;

namespace {

// Its backward has no gradient to give.
struct Stop : Function<Stop> {
  static Variable forward(AutogradContext*, Variable x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list) { return {Variable()}; }
};

enum class Share { nothing, handle, storage };

// Its backward gives both inputs one tensor, and may keep it or one on the same storage.
struct Same : Function<Same> {
  static Variable kept;
  static Share share;
  static Variable forward(AutogradContext*, Variable a, Variable b) { return a + b; }
  static variable_list backward(AutogradContext*, variable_list g) {
    const Variable both = g[0] * 3;
    kept = share == Share::nothing ? Variable() : share == Share::handle ? both : both.detach();
    return {both, both};
  }
};
Variable Same::kept;
Share Same::share = Share::nothing;

struct Kept : Function<Kept> {
  static Variable kept;
  static Share share;
  static Variable forward(AutogradContext*, Variable x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list g) {
    Variable mine = g[0] * 3;
    kept = share == Share::handle ? mine : mine.detach();
    return {std::move(mine)};
  }
};
Variable Kept::kept;
Share Kept::share = Share::handle;

// Its gradient is not zero where the incoming one is.
struct Affine : Function<Affine> {
  static Variable forward(AutogradContext* ctx, Variable x, bool materialize) {
    ctx->set_materialize_grads(materialize);
    return x * 1;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] + 4, Variable()}; }
};

}  // namespace

TEST_CASE("engine: a node without gradients is skipped, and those behind it run all the same") {
  Variable x = leaf({2});
  Variable h = x * 3;
  Variable skipped = (h * 5).exp() * 2;
  int calls = 0;
  skipped.register_hook([&](const Variable&) { ++calls; });
  Variable y = Stop::apply(skipped) + h * 7;
  y.backward({}, true);
  require_values(x.grad(), {21});
  REQUIRE(calls == 0);
  require_values(grad({y}, {h}, {}, true)[0], {7});
  REQUIRE_FALSE(grad({y}, {skipped}, {}, true, false, true)[0].defined());
  require_values(grad({y}, {skipped, h, x}, {}, true, false, true)[1], {7});
}

TEST_CASE("engine: only what leads to the inputs asked for runs") {
  Variable x = leaf({2}), w = leaf({3});
  int below = 0, beside = 0;
  Variable h = x * 3, side = w * 2;
  h.register_hook([&](const Variable&) { ++below; });
  side.register_hook([&](const Variable&) { ++beside; });
  Variable top = h * side;
  Variable y = top * top;
  require_values(grad({y}, {top}, {}, true)[0], {72});
  REQUIRE(below == 0);
  REQUIRE(beside == 0);
  const auto both = grad({y}, {top, x}, {}, true);
  require_values(both[0], {72});
  require_values(both[1], {72 * 6 * 3});
  REQUIRE(below == 1);
  REQUIRE(beside == 0);
  require_values(grad({y}, {x, x}, {}, true)[1], {72 * 6 * 3});
}

TEST_CASE("engine: the gradient of the output asked for, of a node with several") {
  Variable x = leaf({1, 2, 3, 4});
  const auto parts = (x * 1).chunk(2);
  Variable y = (parts[0] * 5).sum() + (parts[1] * 7).sum();
  require_values(grad({y}, {parts[1]}, {}, true)[0], {7, 7});
  const auto both = grad({y}, {parts[1], parts[0]}, {}, true);
  require_values(both[0], {7, 7});
  require_values(both[1], {5, 5});
}

TEST_CASE("engine: nodes run in the order of recording, the last first, and hooks with them") {
  Variable x = leaf({1});
  std::string order;
  const auto noted = [&](const Variable& v, const char* name) {
    v.register_hook([&order, name](const Variable&) { order += name; });
    return v;
  };
  Variable h = noted(x * 1, "h");
  Variable a = noted(h * 2, "a"), b = noted(h * 3, "b"), c = noted(a * 4, "c");
  noted(b + c, "y").backward();
  REQUIRE(order == "ycbah");
  require_values(x.grad(), {11});
}

TEST_CASE("engine: a hook sees the sum of all branches, once") {
  Variable x = leaf({1});
  Variable h = x * 1;
  std::vector<double> seen;
  h.register_hook([&](const Variable& g) {
    seen.push_back(g.item<double>());
    return g * 2;
  });
  h.register_hook([&](const Variable& g) { seen.push_back(g.item<double>()); });
  (h * 2 + h * 3 + h * 4).backward();
  REQUIRE(seen == std::vector<double>{9, 18});
  require_values(x.grad(), {18});
}

TEST_CASE("engine: undefined gradients are zeros for a function that asked for that") {
  Variable x = leaf({2});
  const auto gradient = [&](bool materialize) {
    return grad({Stop::apply(Affine::apply(x, materialize)) + x * 7}, {x})[0];
  };
  require_values(gradient(true), {11});
  require_values(gradient(false), {7});
}

TEST_CASE("engine: leaves do not share a gradient that came as one tensor") {
  for (const Share share : {Share::nothing, Share::handle, Share::storage}) {
    Same::share = share;
    Variable a = leaf({1, 2}), b = leaf({3, 4});
    for (int i = 1; i <= 2; ++i) {
      Same::apply(a, b).sum().backward();
      REQUIRE_FALSE(a.grad().is_alias_of(b.grad()));
      require_values(a.grad(), {3.0 * i, 3.0 * i});
      require_values(b.grad(), {3.0 * i, 3.0 * i});
    }
    a.mutable_grad().zero_();
    require_values(b.grad(), {6, 6});
    Same::kept.reset();
  }
}

TEST_CASE("engine: a gradient that someone else holds is neither taken nor added to") {
  for (const Share share : {Share::handle, Share::storage}) {
    Kept::share = share;
    Variable x = leaf({1, 2});
    Kept::apply(x).sum().backward();
    const Variable first = Kept::kept;
    (x * 5).sum().backward();
    require_values(x.grad(), {8, 8});
    require_values(first, {3, 3});

    // The same where branches join.
    Variable h = leaf({1, 2}) * 1;
    Variable sum = (h * 5).sum();
    const Variable g = grad({sum + Kept::apply(h).sum()}, {h})[0];
    require_values(g, {8, 8});
    require_values(Kept::kept, {3, 3});
    Kept::kept.reset();
  }
}

TEST_CASE("engine: a gradient of gaps is not taken") {
  // Half of a tensor twice its size: keeping it would keep the whole, and its strides.
  struct Gaps : Function<Gaps> {
    static Variable forward(AutogradContext*, Variable x) { return x * 1; }
    static variable_list backward(AutogradContext*, variable_list g) {
      return {ebb::stack({g[0], g[0]}, 1).detach().t()[0].detach()};
    }
  };
  Variable x = leaf({1, 2, 3});
  Gaps::apply(x).sum().backward();
  REQUIRE(x.grad().is_contiguous());
  require_values(x.grad(), {1, 1, 1});
}

TEST_CASE("engine: a gradient that a hook keeps is not changed afterwards") {
  Variable x = leaf({1, 2});
  Variable kept, kept_of_leaf;
  Variable h = x * 1;
  h.register_hook([&](const Variable& g) { kept = g; });
  x.register_hook([&](const Variable& g) { kept_of_leaf = g; });
  h.retain_grad();
  h.backward(ebb::tensor({5.0, 7.0}, ebb::kFloat64), true);
  const Variable of_leaf = kept_of_leaf, of_h = kept;
  h.backward(ebb::tensor({5.0, 7.0}, ebb::kFloat64), true);
  require_values(x.grad(), {10, 14});
  require_values(h.grad(), {10, 14});
  require_values(of_leaf, {5, 7});
  require_values(of_h, {5, 7});
}

TEST_CASE("engine: a kept gradient is no part of a graph unless that was asked for") {
  struct Recorded : Function<Recorded> {
    static Variable forward(AutogradContext*, Variable x) { return x * 1; }
    static variable_list backward(AutogradContext*, variable_list g) {
      ebb::EnableGradGuard record;
      return {g[0] * leaf({3})};
    }
  };
  Variable x = leaf({2});
  Recorded::apply(x).backward();
  REQUIRE_FALSE(x.grad().requires_grad());
  require_values(x.grad(), {3});
}

TEST_CASE("engine: a leaf's hook may remove another, which then does not run") {
  Variable x = leaf({1});
  unsigned later = 0;
  x.register_hook([&](const Variable&) { x.remove_hook(later); });
  later = x.register_hook([](const Variable& g) { return g * 100; });
  x.register_hook([](const Variable& g) { return g * 2; });
  (x * 3).backward();
  require_values(x.grad(), {6});
}

TEST_CASE("engine: a gradient kept by its tensor and its leaf is two tensors") {
  Variable x = leaf({1, 2});
  Variable h = x + 0;
  h.retain_grad();
  h.sum().backward();
  REQUIRE_FALSE(h.grad().is_alias_of(x.grad()));
  x.mutable_grad().add_(1);
  require_values(h.grad(), {1, 1});
}

TEST_CASE("engine: sums under create_graph are part of the graph") {
  Variable x = leaf({2});
  Variable h = x * x;
  const Variable g = grad({h * h + h}, {x}, {}, true, true)[0];  // 4 x^3 + 2 x
  require_values(g, {36});
  require_values(grad({g}, {x})[0], {50});
}
