// What custom functions may declare and return, and what the graph keeps of them.
#include <ebb/autograd/hooks.h>
#include <ebb/autograd/record.h>

#include "autograd/functions.h"

using namespace semantics;

namespace {

struct Product : Function<Product> {
  static Variable forward(AutogradContext* ctx, Variable a, Variable b) {
    ctx->save_for_backward({a, b});
    return a * b;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const auto saved = ctx->get_saved_variables();
    wanted = {ctx->needs_input_grad(0), ctx->needs_input_grad(1)};
    return {g[0] * saved[1], g[0] * saved[0]};
  }
  static inline std::vector<bool> wanted;
};

struct Forgetful : Function<Forgetful> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->mark_dirty({x});
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
};

struct WithIndex : Function<WithIndex> {
  static variable_list forward(AutogradContext*, Variable x) {
    return {x * 3, ebb::arange(x.numel(), ebb::kLong)};
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 3}; }
};

struct Count : Function<Count> {
  static variable_list forward(AutogradContext* ctx, Variable x, Variable counter) {
    counter.add_(1);
    ctx->mark_dirty({counter});
    return {x * 2, counter};
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2, Variable()}; }
};

// Its results without a gradient stand before the one with a gradient.
struct CountFirst : Function<CountFirst> {
  static variable_list forward(AutogradContext* ctx, Variable x, Variable counter) {
    counter.add_(1);
    ctx->mark_dirty({counter});
    ctx->mark_non_differentiable({counter, x});
    return {counter, x, x * 2};
  }
  static variable_list backward(AutogradContext*, variable_list g) {
    REQUIRE(g.size() == 3);
    require_values(g[0], {0});
    require_values(g[1], {0, 0});
    return {g[2] * 2, Variable()};
  }
};

// Doubles behind the back of the ops: only the mark tells that there was a write.
struct RawDouble : Function<RawDouble> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    double* data = x.data_ptr<double>();
    for (std::int64_t i = 0; i < x.numel(); ++i) data[i] *= 2;
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2}; }
};

struct Halve : ebb::autograd::Node {
  ebb::autograd::SavedVariable kept{this};
  std::string name() const override { return "Halve"; }
  ebb::autograd::GradList apply(ebb::autograd::GradList&& g) override { return {g[0] * kept.unpack()}; }
};

}  // namespace

TEST_CASE("function rules: one that keeps its result is freed also when nobody walks it") {
  const auto nodes = ebb::live_node_count();
  (void)KeepsResult::apply(leaf({0.5}));
  REQUIRE(ebb::live_node_count() == nodes);
}

TEST_CASE("function rules: it is told which inputs want a gradient") {
  Variable x = leaf({2});
  const Variable c = ebb::tensor({3.0}, ebb::kFloat64);
  Product::apply(x, c).backward();
  REQUIRE(Product::wanted == std::vector<bool>{true, false});
  Product::apply(c, x).backward();
  REQUIRE(Product::wanted == std::vector<bool>{false, true});
}

TEST_CASE("function rules: what is marked as written to must be returned") {
  Variable y = leaf({1}) * 1;
  EBB_REQUIRE_ERROR(Forgetful::apply(y), "an input marked dirty was not returned");
}

TEST_CASE("function rules: results of integer dtype have no gradient") {
  Variable x = leaf({1, 2});
  const auto out = WithIndex::apply(x);
  REQUIRE(out[0].requires_grad());
  REQUIRE_FALSE(out[1].requires_grad());
  require_values(grad({out[0].sum()}, {x})[0], {3, 3});
}

TEST_CASE("function rules: an integer input written in place gets no history") {
  Variable x = leaf({1, 2});
  Variable counter = ebb::zeros({}, ebb::kLong);
  const auto out = Count::apply(x, counter);
  REQUIRE(counter.item<std::int64_t>() == 1);
  REQUIRE_FALSE(counter.requires_grad());
  REQUIRE_FALSE(out[1].requires_grad());
  require_values(grad({out[0].sum()}, {x})[0], {2, 2});
}

TEST_CASE("function rules: inputs returned as without a gradient count among the results, and have none") {
  for (const ebb::ScalarType dtype : {ebb::kLong, ebb::kFloat64}) {
    Variable x = leaf({1, 2});
    const auto out = CountFirst::apply(x, ebb::zeros({1}, dtype));
    REQUIRE_FALSE(out[0].requires_grad());
    REQUIRE_FALSE(out[1].requires_grad());
    REQUIRE(x.requires_grad());
    require_values(grad({out[2].sum()}, {x})[0], {2, 2});
  }
  Variable x = leaf({1, 2});
  Variable counter = x[0].reshape({1}) * 1;
  const auto out = CountFirst::apply(x, counter);
  REQUIRE_FALSE(out[0].requires_grad());
  REQUIRE(out[0].is_alias_of(counter));
  require_values(out[0], {2});
}

TEST_CASE("function rules: an input written in place gets a history only while one is recorded") {
  Variable c = ebb::tensor({3.0}, ebb::kFloat64);
  REQUIRE_FALSE(RawDouble::apply(c).requires_grad());
  REQUIRE(c.is_leaf());
  Variable x = leaf({3});
  {
    const ebb::NoGradGuard no_grad;
    RawDouble::apply(x);
  }
  REQUIRE(x.is_leaf());
  require_values(x, {6});
}

TEST_CASE("function rules: a marked write counts as one, also when no op made it") {
  Variable x = leaf({3});
  Variable y = x * 1;
  Variable square = y * y;
  RawDouble::apply(y);
  require_values(y, {6});
  EBB_REQUIRE_ERROR(square.backward(), "modified by an inplace operation");
}

TEST_CASE("function rules: a write into a view asks for no gradient of a base that needs none") {
  Variable x = leaf({5});
  Variable base = ebb::zeros({3}, ebb::kFloat64);
  base[1].copy_(x[0]);
  bool asked = true;
  ebb::autograd::add_post_hook(*base.grad_fn(), [&](const variable_list& given, const variable_list&) {
    asked = given[0].defined();
    return variable_list();
  });
  (base * base).sum().backward();
  REQUIRE_FALSE(asked);
  require_values(x.grad(), {10});
}

TEST_CASE("function rules: backward frees what a node that wrote into a view kept") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  Variable view = base[1];
  const auto node = ebb::autograd::make_node<Halve>(view);
  node->kept.save(ebb::tensor(0.5, ebb::kFloat64));
  {
    const ebb::NoGradGuard no_grad;
    view.mul_(0.5);
  }
  ebb::autograd::rebase_history(view, node);
  base.sum().backward();
  require_values(x.grad(), {1, 0.5});
  REQUIRE_FALSE(node->kept.holds());
}
