// What one walk of the graph runs, in which order, and what it hands over.
#include <pthread.h>

#include "autograd/semantics.h"

using namespace semantics;

namespace {

struct Unwalkable : Function<Unwalkable> {
  static Variable forward(AutogradContext*, Variable x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list) { throw ebb::Error("walked."); }
};

struct NanForSecond : Function<NanForSecond> {
  static Variable forward(AutogradContext*, Variable a, Variable b) { return a + b; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0], g[0] * NAN}; }
};

// Walks graphs inside the backward of others, `depth` deep.
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

// Runs f on a thread with a stack of `bytes`.
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

TEST_CASE("walk: a leaf has its gradient before nodes that could wait are run") {
  Variable x = leaf({1}), w = leaf({3});
  Variable inner = x * 2;
  bool ready = false;
  inner.register_hook([&](const Variable&) { ready = w.grad().defined(); });
  (inner * w).backward();
  REQUIRE(ready);
}

TEST_CASE("walk: grad() has no node compute what leads to none of its inputs") {
  static std::vector<bool> asked;
  struct Asked : Function<Asked> {
    static Variable forward(AutogradContext* ctx, Variable a, Variable b) {
      ctx->save_for_backward({a, b});
      return a * b;
    }
    static variable_list backward(AutogradContext* ctx, variable_list g) {
      asked = {ctx->needs_input_grad(0), ctx->needs_input_grad(1)};
      const auto saved = ctx->get_saved_variables();
      // Nodes that are recorded here know nothing of the walk that this one is in.
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
  // What was not computed the first time is there the next.
  const Variable gx = ebb::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)[0];
  gx.sum().backward();
  require_values(w.grad(), {2, 2});
  y.backward();
  CHECK(asked == std::vector<bool>{true, true});
  require_values(w.grad(), {6, 8});
  require_values(x.grad(), {10, 14});
}

TEST_CASE("walk: a node that grad() runs inside another asks of its own walk") {
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

TEST_CASE("walk: under create_graph no two leaves share a gradient, nor a leaf and its seed") {
  Variable a = leaf({1, 2}), b = leaf({3, 4});
  const Variable seed = ebb::tensor({5.0, 6.0}, ebb::kFloat64);
  (a + b).backward(seed, {}, true);
  REQUIRE_FALSE(a.grad().is_alias_of(seed));
  REQUIRE_FALSE(b.grad().is_alias_of(seed));
  REQUIRE_FALSE(a.grad().is_alias_of(b.grad()));
  require_values(a.grad(), {5, 6});
  require_values(b.grad(), {5, 6});
}

TEST_CASE("walk: backward to an inner tensor leaves alone the node that made it") {
  Variable x = leaf({3});
  Variable y = Unwalkable::apply(x);
  ebb::autograd::backward({y * y}, {}, {}, false, {y});
  require_values(y.grad(), {12});

  Variable kept = x * x;
  ebb::autograd::backward({kept * 2}, {}, {}, false, {kept});
  kept.backward();  // its saved tensors are there still
  require_values(x.grad(), {6});
}

TEST_CASE("walk: create_graph keeps the graph unless told otherwise") {
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

TEST_CASE("walk: a seed of another dtype becomes the root's") {
  Variable x = leaf({1, 2});
  x.backward(ebb::tensor({3.0, 4.0}, ebb::kFloat));
  REQUIRE(x.grad().dtype() == ebb::kFloat64);
  require_values(x.grad(), {3, 4});
  const Variable y = x * 2;
  y.register_hook([](const Variable& g) { REQUIRE(g.dtype() == ebb::kFloat64); });
  REQUIRE(grad({y}, {x}, {ebb::ones({2}, ebb::kLong)})[0].dtype() == ebb::kFloat64);
}

TEST_CASE("walk: many in each other fit on a small stack") {
  double got = 0;
  on_stack(std::size_t{1} << 20, [&] {
    Variable x = leaf({1});
    Deeper::apply(x, 2000).backward();
    got = x.grad().item<double>();
  });
  REQUIRE(got == 2001);
}

TEST_CASE("walk: anomaly mode looks at every gradient of a node, and counts them from zero") {
  const ebb::autograd::DetectAnomalyGuard anomaly;
  Variable a = leaf({1}), b = leaf({2});
  EBB_REQUIRE_ERROR(NanForSecond::apply(a, b).backward(),
                    "Function 'NanForSecondBackward' returned nan values in its 1th output");
}

TEST_CASE("walk: anomaly mode names no other backward for a hooked node recorded outside of any") {
  const ebb::autograd::DetectAnomalyGuard anomaly;
  Variable y = (leaf({0}) * 0).sqrt();
  y.register_hook([](const Variable& g) { return g * 0; });
  const std::string message = message_of([&] { y.backward(); });
  REQUIRE_THAT(message, support::Contains("'SqrtBackward0' returned nan values"));
  REQUIRE_THAT(message, !support::Contains("Recorded in"));
}
