// What nodes keep for backward: where its gradient goes, and when it is freed.
#include <ebb/autograd/saved_variable.h>

#include <cmath>

#include "autograd/semantics.h"

using namespace semantics;
using ebb::autograd::SavedTensorHooks;

namespace {

std::shared_ptr<void> keep(const Variable& x) { return std::make_shared<Variable>(x.detach()); }
Variable give(const std::shared_ptr<void>& kept) { return *static_cast<Variable*>(kept.get()); }

// Twice x and e^x, of which the second is kept.
struct DoubleAndExp : Function<DoubleAndExp> {
  static Variable unpacked;
  static variable_list forward(AutogradContext* ctx, Variable x) {
    const Variable second = x.exp();
    ctx->save_for_backward({second});
    return {x * 2, second};
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    unpacked = ctx->get_saved_variables()[0];
    return {g[0] * 2 + g[1] * unpacked};
  }
};
Variable DoubleAndExp::unpacked;

struct Multiples : Function<Multiples> {
  static variable_list forward(AutogradContext*, Variable x) { return {x * 2, x * 3}; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2 + g[1] * 3}; }
};

// Keeps a tensor that is no argument of it.
struct KeepsOther : Function<KeepsOther> {
  static Variable other;
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->save_for_backward({other});
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    REQUIRE(ctx->get_saved_variables().size() == 1);
    return {g[0]};
  }
};
Variable KeepsOther::other;

// Calls f once as it is, and once with hooks that pack what is saved.
template <class F>
void with_and_without_hooks(F f) {
  f();
  const SavedTensorHooks hooks(keep, give);
  f();
}

}  // namespace

TEST_CASE("saved: the gradient of a kept output goes to that output of the node") {
  with_and_without_hooks([] {
    const Variable x = leaf({0.5, 2});
    const variable_list y = DoubleAndExp::apply(x);
    REQUIRE(y[1].output_nr() == 1);
    const Variable g = grad({y[1].sum()}, {x}, {}, true, true)[0];
    require_values(g, {std::exp(0.5), std::exp(2)});
    require_values(grad({g.sum()}, {x})[0], {std::exp(0.5), std::exp(2)});
    DoubleAndExp::unpacked.reset();
  });
}

TEST_CASE("saved: an output unpacked without recording has no history, with it its own") {
  with_and_without_hooks([] {
    const Variable x = leaf({0.5});
    const variable_list y = DoubleAndExp::apply(x);
    (void)grad({y[1]}, {x}, {}, true);
    require_values(DoubleAndExp::unpacked, {std::exp(0.5)});
    REQUIRE_FALSE(DoubleAndExp::unpacked.requires_grad());
    (void)grad({y[1]}, {x}, {}, true, true);
    REQUIRE(DoubleAndExp::unpacked.grad_fn() == y[1].grad_fn());
    REQUIRE(DoubleAndExp::unpacked.output_nr() == 1);
    DoubleAndExp::unpacked.reset();
  });
}

TEST_CASE("saved: what an in-place op keeps of a second output leads to that output") {
  const Variable x = leaf({0.5});
  Variable y = Multiples::apply(x)[1];
  y.sin_();
  const Variable g = grad({y}, {x}, {}, true, true)[0];
  require_values(g, {3 * std::cos(1.5)});
  require_values(grad({g}, {x})[0], {-9 * std::sin(1.5)});
}

TEST_CASE("saved: backward frees each tensor that was saved") {
  const Variable x = leaf({1, 2});
  const Variable a = x * 2, b = x * 3;
  const Variable y = (a * b).sum();
  REQUIRE(a.use_count() == 2);
  REQUIRE(b.use_count() == 2);
  y.backward();
  REQUIRE(a.use_count() == 1);
  REQUIRE(b.use_count() == 1);
}

TEST_CASE("saved: backward frees what a hook packed") {
  const Variable x = leaf({1, 2});
  std::vector<std::weak_ptr<void>> packed;
  Variable y;
  {
    const SavedTensorHooks hooks(
        [&](const Variable& t) {
          const std::shared_ptr<void> value = keep(t);
          packed.push_back(value);
          return value;
        },
        give);
    y = (x * x.exp()).sum();
  }
  REQUIRE(packed.size() == 3);
  for (const auto& value : packed) REQUIRE_FALSE(value.expired());
  y.backward();
  for (const auto& value : packed) REQUIRE(value.expired());
}

TEST_CASE("saved: backward frees the history of what a hook packed") {
  const Variable x = leaf({1});
  KeepsOther::other = leaf({2}) * 3;
  Variable y;
  {
    const SavedTensorHooks hooks(keep, give);
    y = KeepsOther::apply(x);
  }
  KeepsOther::other.reset();
  const auto nodes = ebb::live_node_count();
  y.backward();
  REQUIRE(ebb::live_node_count() == nodes - 2);  // the product's, and its leaf's
}

TEST_CASE("saved: an undefined tensor is there for a second backward too") {
  const Variable x = leaf({1});
  const Variable y = KeepsOther::apply(x);
  y.backward();
  y.backward();
  require_values(x.grad(), {2});
}

TEST_CASE("saved: an unpack hook must return a tensor") {
  const Variable x = leaf({1});
  Variable y;
  {
    const SavedTensorHooks hooks(keep, [](const std::shared_ptr<void>&) { return Variable(); });
    y = x.exp();
  }
  EBB_REQUIRE_ERROR(y.backward(), "SavedTensorHooks: the unpack hook returned an undefined tensor.");
}
