// Modes: no_grad, inference, anomaly; hooks and checkpoints.
#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/saved_variable.h>

#include "autograd/semantics.h"
#include "support/scopes.h"

#include <thread>

using namespace semantics;

TEST_CASE("a result under no_grad does not require grad") {
  Variable x = leaf({1});
  ebb::NoGradGuard no_grad;
  REQUIRE_FALSE((x * 2).requires_grad());
}

TEST_CASE("an enabled grad mode inside no_grad records until its scope ends") {
  Variable x = leaf({1});
  ebb::NoGradGuard no_grad;
  {
    ebb::AutoGradMode enable(true);
    REQUIRE((x * 2).requires_grad());
  }
  REQUIRE_FALSE((x * 2).requires_grad());
}

TEST_CASE("the grad mode is restored after an exception") {
  try {
    ebb::NoGradGuard no_grad;
    throw 1;
  } catch (int) {
  }
  REQUIRE(ebb::GradMode::is_enabled());
  Variable x = leaf({1, 2});
  EBB_REQUIRE_ERROR((x * 2).backward(), "scalar outputs");
  REQUIRE(ebb::GradMode::is_enabled());
}

TEST_CASE("a new thread has grad mode on while its parent is under no_grad") {
  ebb::NoGradGuard no_grad;
  bool other = false;
  std::thread([&] { other = ebb::GradMode::is_enabled(); }).join();
  REQUIRE(other);
  REQUIRE_FALSE(ebb::GradMode::is_enabled());
}

TEST_CASE("inference tensors cannot be written, saved or set to require grad outside of inference mode") {
  Variable x = leaf({1, 2});
  Variable inferred;
  {
    ebb::InferenceMode inference;
    inferred = x * 2;
    REQUIRE(inferred.is_inference());
    REQUIRE_FALSE(inferred.requires_grad());
    inferred.add_(1);
  }
  EBB_REQUIRE_ERROR(inferred.add_(1), "inference tensor outside InferenceMode");
  EBB_REQUIRE_ERROR(x * inferred, "inference tensors cannot be saved for backward");
  EBB_REQUIRE_ERROR(inferred.requires_grad_(), "inference tensor");
  require_values((x * inferred.clone()).detach(), {3, 10});
}

TEST_CASE("detach returns a tensor that shares storage and version") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  Variable d = y.detach();
  REQUIRE_FALSE(d.requires_grad());
  REQUIRE(d.is_alias_of(y));
  const auto version = y._version();
  d.add_(1);
  REQUIRE(y._version() == version + 1);
  require_values(y, {3, 5});
}

TEST_CASE("a hook of a leaf or of a non-leaf may replace the gradient") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  y.register_hook([](Variable g) { return g * 10; });
  y.sum().backward();
  require_values(x.grad(), {20, 20});
  x.mutable_grad().reset();
  x.register_hook([](const Variable& g) { return g + 1; });
  (x * 2).sum().backward();
  require_values(x.grad(), {3, 3});
}

TEST_CASE("hooks of a leaf are applied once to the gradient that grad returns for the leaf") {
  for (const bool create_graph : {false, true}) {
    int calls = 0;
    Variable w = leaf({1, 2}), x = leaf({3, 4});
    w.register_hook([&](const Variable& g) {
      ++calls;
      return g * 5;
    });
    w.register_hook([&](const Variable& g) { return g + 1; });
    const Variable y = (w * x).sum();
    const auto both = ebb::autograd::grad({y}, {w, x}, {}, true, create_graph);
    require_values(both[0], {16, 21});
    require_values(both[1], {1, 2});
    CHECK(calls == 1);
    require_values(ebb::autograd::grad({w}, {w}, {x.detach()}, true, create_graph)[0], {16, 21});
    CHECK(calls == 2);
    ebb::autograd::backward({y}, {}, true, create_graph, {w});
    CHECK(calls == 3);
    require_values(w.grad(), {16, 21});
    CHECK_FALSE(x.grad().defined());
  }
}

TEST_CASE(
    "grad applies the hooks of a non-leaf input to its gradient unless backward continues to another input") {
  Variable x = leaf({1, 1}), y = x * 2;
  y.register_hook([](const Variable& g) { return g * 5; });
  const Variable z = (y * 3).sum();
  require_values(ebb::autograd::grad({z}, {y}, {}, true)[0], {15, 15});
  const auto both = ebb::autograd::grad({z}, {y, x}, {}, true);
  require_values(both[0], {3, 3});
  require_values(both[1], {30, 30});
  const auto itself = ebb::autograd::grad({y}, {y, x}, {x.detach()}, true);
  require_values(itself[0], {1, 1});
  require_values(itself[1], {10, 10});
}

TEST_CASE("a leaf that is frozen after recording gets no gradient") {
  Variable w = leaf({1, 2}), x = leaf({3, 4});
  const Variable y = (w * x).sum();
  y.backward({}, true);
  w.set_requires_grad(false);
  y.backward({}, true);
  require_values(w.grad(), {3, 4});
  require_values(x.grad(), {2, 4});
  w.set_requires_grad(true);
  y.backward();
  require_values(w.grad(), {6, 8});
}

TEST_CASE("hooks of a tensor run in the order of registration") {
  Variable x = leaf({1});
  Variable y = x * 1;
  y.register_hook([](Variable g) { return g + 1; });
  y.register_hook([](Variable g) { return g * 10; });
  y.backward();
  require_values(x.grad(), {20});
}

TEST_CASE("a removed hook does not run and remove_hook throws for an unknown handle") {
  Variable x = leaf({1});
  Variable y = x * 1;
  const unsigned handle = y.register_hook([](Variable g) { return g * 2; });
  y.remove_hook(handle);
  unsigned later = 0;
  y.register_hook([&](const Variable&) { y.remove_hook(later); });
  later = y.register_hook([](Variable g) { return g * 100; });
  y.backward();
  require_values(x.grad(), {1});
  EBB_REQUIRE_ERROR(y.remove_hook(77), "no hook with the handle");
}

TEST_CASE("no hook runs for an undefined gradient") {
  struct Half2 : ebb::autograd::Function<Half2> {
    static ebb::variable_list forward(ebb::autograd::AutogradContext*, Variable a) { return {a * 1, a * 2}; }
    static ebb::variable_list backward(ebb::autograd::AutogradContext*, ebb::variable_list g) {
      return {g[0]};
    }
  };
  Variable x = leaf({1});
  auto parts = Half2::apply(x);
  int calls = 0;
  parts[1].register_hook([&](const Variable&) { ++calls; });
  parts[0].backward();
  REQUIRE(calls == 0);
}

TEST_CASE("pre-hooks and post-hooks of a node replace its gradients until the hooks are removed") {
  Variable x = leaf({1, 2});
  Variable y = (x * 2).sum();
  std::vector<std::string> order;
  auto& node = *y.grad_fn();
  ebb::autograd::add_pre_hook(node, [&](const ebb::variable_list& g) {
    order.push_back("pre");
    return ebb::variable_list{g[0] * 3};
  });
  const unsigned post =
      ebb::autograd::add_post_hook(node, [&](const ebb::variable_list& in, const ebb::variable_list& out) {
        order.push_back("post");
        REQUIRE(out[0].item<double>() == 3);
        return ebb::variable_list{in[0] * 2};
      });
  y.backward({}, true);
  REQUIRE(order == std::vector<std::string>{"pre", "post"});
  require_values(x.grad(), {12, 12});
  ebb::autograd::remove_node_hook(node, post);
  y.backward();
  require_values(x.grad(), {18, 18});
}

TEST_CASE("a hook of a leaf receives each gradient before it is accumulated") {
  Variable x = leaf({1});
  std::vector<double> seen;
  x.register_hook([&](const Variable& g) { seen.push_back(g.item<double>()); });
  (x * 2).backward();
  (x * 3).backward();
  REQUIRE(seen == std::vector<double>{2, 3});
  require_values(x.grad(), {5});
}

TEST_CASE("saved-tensor hooks pack and unpack each tensor, and first and second derivatives are right") {
  int packed = 0, unpacked = 0;
  const auto square = [&](const Variable& x) {
    ebb::autograd::SavedTensorHooks hooks(
        [&](const Variable& t) {
          ++packed;
          return std::make_shared<std::vector<double>>(values(t));
        },
        [&](const std::shared_ptr<void>& kept) {
          ++unpacked;
          return ebb::tensor(*static_cast<std::vector<double>*>(kept.get()), ebb::kFloat64);
        });
    return (x * x).tanh().sum();
  };
  Variable x = leaf({0.5, 1});
  Variable y = square(x);
  REQUIRE(packed == 4);  // x twice, and the input and the result of tanh
  Variable g = grad({y}, {x}, {}, true, true)[0];
  REQUIRE(unpacked == 3);
  Variable z = leaf({0.5, 1});
  Variable plain = grad({(z * z).tanh().sum()}, {z}, {}, true, true)[0];
  require_values(g, values(plain));
  require_values(grad({g.sum()}, {x})[0], values(grad({plain.sum()}, {z})[0]));
}

TEST_CASE("anomaly mode throws at the first NaN and names the op") {
  ebb::autograd::DetectAnomalyGuard anomaly;
  Variable x = leaf({0});
  Variable y = (x * 0).sqrt() * 0;
  const support::Warnings heard;
  EBB_REQUIRE_ERROR(y.backward(), "Function 'SqrtBackward0' returned nan values in its 0th output");
  REQUIRE(heard.texts.size() == 1);
  REQUIRE_THAT(heard.texts[0],
               support::Contains("Error detected in SqrtBackward0. Stack trace of the forward"));
  REQUIRE_THAT(heard.texts[0], support::Contains("test_autograd"));
}

TEST_CASE("an exception in backward is rethrown and leaves the engine usable") {
  struct Fails : ebb::autograd::Function<Fails> {
    static Variable forward(ebb::autograd::AutogradContext*, Variable a) { return a * 1; }
    static ebb::variable_list backward(ebb::autograd::AutogradContext*, ebb::variable_list) {
      throw std::runtime_error("mine");
    }
  };
  Variable x = leaf({1});
  Variable y = Fails::apply(x * 2);
  REQUIRE_THROWS_WITH(y.backward({}, true), "mine");
  REQUIRE_THROWS_WITH(y.backward({}, true), "mine");
  (x * 2).backward();
  require_values(x.grad(), {2});
}

TEST_CASE("checkpoint has the results and gradients of a plain run with dropout and parameters") {
  Variable w = ebb::full({4, 4}, 0.3, ebb::kFloat64).requires_grad_();
  const auto block = [&](const Variable& x) {
    return ebb::dropout((x.matmul(w)).tanh(), 0.5, true).matmul(w);
  };
  const auto run = [&](bool checkpointed) {
    ebb::manual_seed(3);
    w.mutable_grad().reset();
    Variable x = ebb::ones({3, 4}, ebb::kFloat64).requires_grad_();
    Variable y = checkpointed ? ebb::autograd::checkpoint(std::function<Variable(const Variable&)>(block), x)
                              : block(x);
    Variable after = ebb::rand({2}, ebb::kFloat64);
    (y * y).sum().backward();
    auto all = values(x.grad());
    for (const Variable& t : {w.grad(), y, after, ebb::rand({2}, ebb::kFloat64)})
      for (double v : values(t)) all.push_back(v);
    return all;
  };
  REQUIRE(run(false) == run(true));
}

TEST_CASE("a checkpointed function can be differentiated twice") {
  const auto cube = [](const Variable& t) { return t * t * t; };
  Variable x = leaf({2});
  Variable y = ebb::autograd::checkpoint(std::function<Variable(const Variable&)>(cube), x);
  Variable g = grad({y}, {x}, {}, true, true)[0];
  require_values(g, {12});
  require_values(grad({g}, {x})[0], {12});
}

// checkpoint: what it guarantees to its function, and what the function must guarantee.

using ebb::autograd::checkpoint;

TEST_CASE("checkpoint: the function runs twice for any number of saved tensors") {
  int runs = 0;
  const std::function<Variable(const Variable&)> fn = [&](const Variable& t) {
    ++runs;
    return (t.exp() * t.sin()).tanh() * t;
  };
  Variable x = leaf({0.5, 1});
  const Variable y = checkpoint(fn, x).sum();
  REQUIRE(runs == 1);
  y.backward({}, true);
  REQUIRE(runs == 2);
  y.backward();
  REQUIRE(runs == 2);
}

TEST_CASE("checkpoint: a hook that the function registers runs once for each gradient") {
  int calls = 0;
  const std::function<Variable(const Variable&)> fn = [&](const Variable& t) {
    t.register_hook([&](const Variable&) { ++calls; });
    return t * t;
  };
  Variable x = leaf({3});
  checkpoint(fn, x).backward();
  REQUIRE(calls == 1);
  require_values(x.grad(), {6});
}

TEST_CASE("checkpoint: backward throws if the second run of the function saves more or fewer tensors") {
  for (const int change : {1, -1}) {
    INFO("change " << change);
    int factors = 2;
    const std::function<Variable(const Variable&)> fn = [&](const Variable& t) {
      Variable y = t;
      for (int i = 0; i < factors; ++i) y = y * t;
      factors += change;
      return y;
    };
    Variable x = leaf({2});
    Variable y = checkpoint(fn, x);
    for (int run = 0; run < 2; ++run) EBB_REQUIRE_ERROR(y.backward({}, true), "It must be deterministic");
    REQUIRE_FALSE(x.grad().defined());
  }
}

TEST_CASE("checkpoint: backward throws for a modified input only if its values are needed") {
  const auto cube = [](const Variable& t) { return t * t * t; };
  const auto twice = [](const Variable& t) { return t * 2; };
  for (const bool within : {false, true}) {
    INFO("written " << (within ? "by the function" : "behind it"));
    Variable x = leaf({2, 3}), y = x * 1;
    const Variable z = checkpoint(
        [&](const Variable& t) {
          const Variable out = cube(t);
          if (within) t.detach().mul_(2);
          return out;
        },
        y);
    if (!within) y.mul_(2);
    EBB_REQUIRE_ERROR(z.sum().backward(),
                      "modified by an inplace operation: it is at version 1; expected version 0");
    REQUIRE_FALSE(x.grad().defined());
  }
  Variable x = leaf({2, 3}), y = x * 1;
  const Variable z = checkpoint(twice, y);
  y.mul_(5);
  z.sum().backward();
  require_values(x.grad(), {2, 2});
}

TEST_CASE("checkpoint: backward throws if an input that is no leaf was given other data") {
  Variable x = leaf({2, 3}), y = x * 1;
  const Variable z = checkpoint([](const Variable& t) { return t * t * t; }, y);
  y.set_data(leaf({4, 5}).detach());
  EBB_REQUIRE_ERROR(z.sum().backward(), "has been given other data by set_data()");
  REQUIRE_FALSE(x.grad().defined());
}

TEST_CASE(
    "checkpoint: a function that writes to the input of a node which uses its result is differentiated") {
  const auto fn = [](const Variable& t) {
    Variable h = t * 2, g = h.tanh();
    h.add_(g);
    return h;
  };
  Variable x = leaf({0.5, 1});
  const Variable expected = ebb::autograd::grad({fn(x).sum()}, {x})[0];
  checkpoint(fn, x).sum().backward();
  require_values(x.grad(), {expected[0].item<double>(), expected[1].item<double>()});
}

TEST_CASE("checkpoint: backward throws if the function writes to a tensor that it saved") {
  Variable x = leaf({2, 3});
  const Variable z = checkpoint(
      [](const Variable& t) {
        Variable h = t * 2, square = h * h;
        h.add_(1);
        return square;
      },
      x);
  EBB_REQUIRE_ERROR(z.sum().backward(), "has been modified by an inplace operation: it is at version 1");
  REQUIRE_FALSE(x.grad().defined());
}

TEST_CASE("checkpoint: backward throws if the second run saves tensors of another shape or dtype") {
  const std::pair<const char*, Variable> others[] = {{"shape", ebb::ones({1}, ebb::kDouble)},
                                                     {"dtype", ebb::ones({1, 1}, ebb::kFloat)}};
  for (const auto& [name, other] : others) {
    INFO(name);
    Variable x = leaf({2, 3}), w = leaf({2, 3}).view({2, 1}).detach();
    const Variable z = checkpoint([&](const Variable& t) { return t * w.detach(); }, x);
    w.set_data(other);
    EBB_REQUIRE_ERROR(z.sum().backward(), "was packed as Double[2, 1] on cpu, but its unpack hook returned");
    REQUIRE_FALSE(x.grad().defined());
  }
}

TEST_CASE("checkpoint: inference tensors are accepted as inputs although they have no version") {
  Variable constant;
  {
    const ebb::InferenceMode inference;
    constant = ebb::tensor({2.0, 5.0}, ebb::kDouble);
    require_values(checkpoint([](const Variable& t) { return t * t; }, constant), {4, 25});
  }
  const Variable x = leaf({3, 4});
  const auto product = [](const ebb::variable_list& t) {
    return ebb::variable_list{t[0] * t[0] * t[1].clone()};
  };
  checkpoint(product, {x, constant})[0].sum().backward();
  require_values(x.grad(), {12, 40});
}

TEST_CASE("checkpoint: a second backward throws if an input was modified after the first backward") {
  Variable x = leaf({2, 3}), y = x * 1;
  const Variable z = checkpoint([](const Variable& t) { return t * t; }, y).sum();
  z.backward({}, true);
  y.mul_(5);
  EBB_REQUIRE_ERROR(z.backward(), "modified by an inplace operation: it is at version 1; expected version 0");
  require_values(x.grad(), {4, 6});
}
