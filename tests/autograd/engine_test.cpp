// The engine: which nodes run, in which order, and who owns a gradient.
#include "autograd/semantics.h"

#include <pthread.h>

// The engine: nodes that are skipped, ownership of gradients, the order of hooks.

using namespace semantics;

namespace {

// A function whose backward returns no gradient.
struct Stop : Function<Stop> {
  static Variable forward(AutogradContext*, Variable x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list) { return {Variable()}; }
};

enum class Share { nothing, handle, storage };

// A function whose backward returns one tensor for both inputs, and may store it or an alias of it.
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

// A function whose gradient is not zero if the incoming gradient is zero.
struct Affine : Function<Affine> {
  static Variable forward(AutogradContext* ctx, Variable x, bool materialize) {
    ctx->set_materialize_grads(materialize);
    return x * 1;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] + 4, Variable()}; }
};

}  // namespace

TEST_CASE(
    "engine: a node without gradients is skipped and its inputs still get the gradients of other branches") {
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

TEST_CASE("engine: grad runs only nodes on a path to its inputs") {
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

TEST_CASE("engine: grad of one of several outputs of a node returns the gradient of that output") {
  Variable x = leaf({1, 2, 3, 4});
  const auto parts = (x * 1).chunk(2);
  Variable y = (parts[0] * 5).sum() + (parts[1] * 7).sum();
  require_values(grad({y}, {parts[1]}, {}, true)[0], {7, 7});
  const auto both = grad({y}, {parts[1], parts[0]}, {}, true);
  require_values(both[0], {7, 7});
  require_values(both[1], {5, 5});
}

TEST_CASE("engine: nodes and their hooks run in reverse order of recording") {
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

TEST_CASE("engine: a hook is called once with the sum of the gradients of all branches") {
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

TEST_CASE("engine: a function with set_materialize_grads(true) gets zeros for undefined gradients") {
  Variable x = leaf({2});
  const auto gradient = [&](bool materialize) {
    return grad({Stop::apply(Affine::apply(x, materialize)) + x * 7}, {x})[0];
  };
  require_values(gradient(true), {11});
  require_values(gradient(false), {7});
}

TEST_CASE("engine: leaves that receive the same gradient tensor do not share its memory") {
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

TEST_CASE("engine: a gradient that has another owner is neither stored nor modified") {
  for (const Share share : {Share::handle, Share::storage}) {
    Kept::share = share;
    Variable x = leaf({1, 2});
    Kept::apply(x).sum().backward();
    const Variable first = Kept::kept;
    (x * 5).sum().backward();
    require_values(x.grad(), {8, 8});
    require_values(first, {3, 3});

    // The sum of several branches obeys the same rule.
    Variable h = leaf({1, 2}) * 1;
    Variable sum = (h * 5).sum();
    const Variable g = grad({sum + Kept::apply(h).sum()}, {h})[0];
    require_values(g, {8, 8});
    require_values(Kept::kept, {3, 3});
    Kept::kept.reset();
  }
}

TEST_CASE("engine: a non-contiguous gradient is copied to a contiguous grad") {
  // A gradient that is a strided half of a larger tensor: storing it would retain the whole tensor and its
  // strides.
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

TEST_CASE("engine: a gradient that a hook stores is not modified later") {
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

TEST_CASE("engine: grad of a leaf has no graph without create_graph") {
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

TEST_CASE("engine: a hook does not run if an earlier hook of the same leaf removes it") {
  Variable x = leaf({1});
  unsigned later = 0;
  x.register_hook([&](const Variable&) { x.remove_hook(later); });
  later = x.register_hook([](const Variable& g) { return g * 100; });
  x.register_hook([](const Variable& g) { return g * 2; });
  (x * 3).backward();
  require_values(x.grad(), {6});
}

TEST_CASE("engine: the retained grad of a tensor and the grad of its leaf share no memory") {
  Variable x = leaf({1, 2});
  Variable h = x + 0;
  h.retain_grad();
  h.sum().backward();
  REQUIRE_FALSE(h.grad().is_alias_of(x.grad()));
  x.mutable_grad().add_(1);
  require_values(h.grad(), {1, 1});
}

TEST_CASE("engine: with create_graph the addition of gradients is recorded") {
  Variable x = leaf({2});
  Variable h = x * x;
  const Variable g = grad({h * h + h}, {x}, {}, true, true)[0];  // 4 x^3 + 2 x
  require_values(g, {36});
  require_values(grad({g}, {x})[0], {50});
}

// A backward call: the nodes that it runs, their order, and the gradients that it delivers.

namespace {

struct Unwalkable : Function<Unwalkable> {
  static Variable forward(AutogradContext*, Variable x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list) { throw ebb::Error("walked."); }
};

struct NanForSecond : Function<NanForSecond> {
  static Variable forward(AutogradContext*, Variable a, Variable b) { return a + b; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0], g[0] * NAN}; }
};

// Runs backward inside the backward of other graphs, `depth` levels deep.
struct Deeper : Function<Deeper> {
  static Variable forward(AutogradContext* ctx, Variable x, std::int64_t depth) {
    ctx->saved_data["depth"] = depth;
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const std::int64_t depth = ctx->saved_data["depth"].toInt();
    if (depth == 0) return {g[0], Variable()};
    const ebb::EnableGradGuard record;
    Variable x = leaf({1});
    Deeper::apply(x, depth - 1).backward();
    return {g[0] + x.grad(), Variable()};
  }
};

// Runs f in a thread with a stack of `bytes`.
template <class F>
void on_stack(std::size_t bytes, F f) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
  pthread_t thread;
  const auto start = [](void* function) -> void* {
    (*static_cast<F*>(function))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, start, &f) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("backward: the grad of a leaf is set before later nodes run") {
  Variable x = leaf({1}), w = leaf({3});
  Variable inner = x * 2;
  bool ready = false;
  inner.register_hook([&](const Variable&) { ready = w.grad().defined(); });
  (inner * w).backward();
  REQUIRE(ready);
}

TEST_CASE("backward: grad() computes only gradients that lead to its inputs") {
  static std::vector<bool> asked;
  struct Asked : Function<Asked> {
    static Variable forward(AutogradContext* ctx, Variable a, Variable b) {
      ctx->save_for_backward({a, b});
      return a * b;
    }
    static variable_list backward(AutogradContext* ctx, variable_list g) {
      asked = {ctx->needs_input_grad(0), ctx->needs_input_grad(1)};
      const auto saved = ctx->get_saved_variables();
      // Nodes that are recorded here are independent of the enclosing backward call.
      const Variable product = g[0] * saved[1];
      return {asked[0] ? product : Variable(), asked[1] ? g[0] * saved[0] : Variable()};
    }
  };
  Variable x = leaf({2, 3}), w = leaf({5, 7});
  const Variable inner = x * 2, y = Asked::apply(inner, w).sum();
  require_values(ebb::autograd::grad({y}, {x}, {}, true)[0], {10, 14});
  CHECK(asked == std::vector<bool>{true, false});
  require_values(ebb::autograd::grad({y}, {w}, {}, true)[0], {4, 6});
  CHECK(asked == std::vector<bool>{false, true});
  const auto both = ebb::autograd::grad({y}, {w, inner}, {}, true);
  CHECK(asked == std::vector<bool>{true, true});
  require_values(both[0], {4, 6});
  require_values(both[1], {5, 7});
  // A gradient that the first call did not compute is computed in the next one.
  const Variable gx = ebb::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)[0];
  gx.sum().backward();
  require_values(w.grad(), {2, 2});
  y.backward();
  CHECK(asked == std::vector<bool>{true, true});
  require_values(w.grad(), {6, 8});
  require_values(x.grad(), {10, 14});
}

TEST_CASE("backward: needs_input_grad inside a nested backward refers to the nested call") {
  Variable x = leaf({3}), w = leaf({2});
  struct Inner : Function<Inner> {
    static Variable forward(AutogradContext* ctx, Variable a, Variable b) {
      ctx->save_for_backward({a, b});
      return a * b;
    }
    static variable_list backward(AutogradContext* ctx, variable_list g) {
      const auto saved = ctx->get_saved_variables();
      const ebb::EnableGradGuard record;
      Variable u = leaf({1}), v = leaf({4});
      (u * v).backward();
      require_values(u.grad(), {4});
      require_values(v.grad(), {1});
      CHECK(ctx->needs_input_grad(0));
      CHECK_FALSE(ctx->needs_input_grad(1));
      return {g[0] * saved[1], Variable()};
    }
  };
  require_values(ebb::autograd::grad({Inner::apply(x, w).sum()}, {x})[0], {2});
}

TEST_CASE("backward: with create_graph the grads of leaves and the seed share no memory") {
  Variable a = leaf({1, 2}), b = leaf({3, 4});
  const Variable seed = ebb::tensor({5.0, 6.0}, ebb::kFloat64);
  (a + b).backward(seed, {}, true);
  REQUIRE_FALSE(a.grad().is_alias_of(seed));
  REQUIRE_FALSE(b.grad().is_alias_of(seed));
  REQUIRE_FALSE(a.grad().is_alias_of(b.grad()));
  require_values(a.grad(), {5, 6});
  require_values(b.grad(), {5, 6});
}

TEST_CASE("backward: a non-leaf input does not run or free the node that created it") {
  Variable x = leaf({3});
  Variable y = Unwalkable::apply(x);
  ebb::autograd::backward({y * y}, {}, {}, false, {y});
  require_values(y.grad(), {12});

  Variable kept = x * x;
  ebb::autograd::backward({kept * 2}, {}, {}, false, {kept});
  kept.backward();  // its saved tensors still exist
  require_values(x.grad(), {6});
}

TEST_CASE("backward: create_graph retains the graph by default") {
  Variable x = leaf({3});
  Variable y = x * x;
  y.backward({}, {}, true);
  y.backward({}, {}, true);
  require_values(x.grad(), {12});
  x.mutable_grad().reset();
  y.backward({}, false, true);
  EBB_REQUIRE_ERROR(y.backward(), "a second time");
  x.mutable_grad().reset();
}

TEST_CASE("backward: a seed of another dtype is converted to the dtype of the root") {
  Variable x = leaf({1, 2});
  x.backward(ebb::tensor({3.0, 4.0}, ebb::kFloat));
  REQUIRE(x.grad().dtype() == ebb::kFloat64);
  require_values(x.grad(), {3, 4});
  const Variable y = x * 2;
  y.register_hook([](const Variable& g) { REQUIRE(g.dtype() == ebb::kFloat64); });
  REQUIRE(grad({y}, {x}, {ebb::ones({2}, ebb::kLong)})[0].dtype() == ebb::kFloat64);
}

TEST_CASE("backward: 2000 nested calls fit on a small stack") {
  double got = 0;
  on_stack(std::size_t{1} << 20, [&] {
    Variable x = leaf({1});
    Deeper::apply(x, 2000).backward();
    got = x.grad().item<double>();
  });
  REQUIRE(got == 2001);
}

TEST_CASE("backward: anomaly mode checks every gradient of a node and reports the index of a NaN gradient") {
  const ebb::autograd::DetectAnomalyGuard anomaly;
  Variable a = leaf({1}), b = leaf({2});
  EBB_REQUIRE_ERROR(NanForSecond::apply(a, b).backward(),
                    "Function 'NanForSecondBackward' returned nan values in its 1th output");
}

TEST_CASE(
    "backward: anomaly mode names no enclosing backward for a node that was recorded outside backward") {
  const ebb::autograd::DetectAnomalyGuard anomaly;
  Variable y = (leaf({0}) * 0).sqrt();
  y.register_hook([](const Variable& g) { return g * 0; });
  const std::string message = message_of([&] { y.backward(); });
  REQUIRE_THAT(message, support::Contains("'SqrtBackward0' returned nan values"));
  REQUIRE_THAT(message, !support::Contains("Recorded in"));
}
