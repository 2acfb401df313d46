// Rules of custom functions: lists of tensors and views as inputs and results, and what the graph saves.
#include <ebb/autograd/hooks.h>
#include <ebb/autograd/record.h>

#include "autograd/semantics.h"

#include <array>
#include <deque>
#include <filesystem>

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

// Returns results without a gradient before the one with a gradient.
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

// Doubles its input through a raw pointer, so that only mark_dirty reports the write.
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

TEST_CASE(
    "function rules: the node of a function that saves its result is freed even if backward never runs") {
  const auto nodes = ebb::live_node_count();
  (void)KeepsResult::apply(leaf({0.5}));
  REQUIRE(ebb::live_node_count() == nodes);
}

TEST_CASE("function rules: needs_input_grad tells which inputs need a gradient") {
  Variable x = leaf({2});
  const Variable c = ebb::tensor({3.0}, ebb::kFloat64);
  Product::apply(x, c).backward();
  REQUIRE(Product::wanted == std::vector<bool>{true, false});
  Product::apply(c, x).backward();
  REQUIRE(Product::wanted == std::vector<bool>{false, true});
}

TEST_CASE("function rules: an input that is marked dirty must be returned") {
  Variable y = leaf({1}) * 1;
  EBB_REQUIRE_ERROR(Forgetful::apply(y), "an input marked dirty was not returned");
}

TEST_CASE("function rules: integer results do not require grad") {
  Variable x = leaf({1, 2});
  const auto out = WithIndex::apply(x);
  REQUIRE(out[0].requires_grad());
  REQUIRE_FALSE(out[1].requires_grad());
  require_values(grad({out[0].sum()}, {x})[0], {3, 3});
}

TEST_CASE("function rules: an integer input that is written in place gets no history") {
  Variable x = leaf({1, 2});
  Variable counter = ebb::zeros({}, ebb::kLong);
  const auto out = Count::apply(x, counter);
  REQUIRE(counter.item<std::int64_t>() == 1);
  REQUIRE_FALSE(counter.requires_grad());
  REQUIRE_FALSE(out[1].requires_grad());
  require_values(grad({out[0].sum()}, {x})[0], {2, 2});
}

TEST_CASE(
    "function rules: the result for a returned input that is marked non-differentiable does not require "
    "grad") {
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

TEST_CASE("function rules: an input that is written in place gets a history only while recording") {
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

TEST_CASE("function rules: mark_dirty increments the version even if no op wrote to the tensor") {
  Variable x = leaf({3});
  Variable y = x * 1;
  Variable square = y * y;
  RawDouble::apply(y);
  require_values(y, {6});
  EBB_REQUIRE_ERROR(square.backward(), "modified by an inplace operation");
}

TEST_CASE("function rules: backward of a write into a view computes no gradient for a constant base") {
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

TEST_CASE("function rules: backward frees the saved tensors of a node that wrote into a view") {
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

// Custom functions with lists of tensors, and with views.

using ebb::optional;

namespace {

// Computes the sum of scale * weight_i * list_i for a list of any type.
struct Weighted : Function<Weighted> {
  template <class List>
  static Variable forward(AutogradContext* ctx, double scale, const List& list, const Variable& weights) {
    variable_list kept{weights};
    Variable sum = ebb::zeros({}, ebb::kFloat64);
    std::int64_t i = 0;
    for (const auto& each : list) {
      kept.push_back(each);
      sum = sum + (weights[i++] * Variable(each)).sum() * scale;
    }
    ctx->save_for_backward(std::move(kept));
    ctx->saved_data["scale"] = scale;
    return sum;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const variable_list kept = ctx->get_saved_variables();
    const double scale = ctx->saved_data["scale"].toDouble();
    variable_list out{Variable()}, of_weights;
    for (std::size_t i = 1; i < kept.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) - 1;
      out.push_back(ctx->needs_input_grad(i - 1) ? (g[0] * kept[0][at] * scale).expand(kept[i].sizes())
                                                 : Variable());
      of_weights.push_back(g[0] * kept[i].sum() * scale);
    }
    out.push_back(ebb::stack(of_weights));
    return out;
  }
};

struct Optional : Function<Optional> {
  static Variable forward(AutogradContext*, const Variable& x, const optional<Variable>& y,
                          const std::vector<optional<Variable>>& more) {
    Variable sum = y && y->defined() ? x + *y : x * 1;
    for (const auto& each : more)
      if (each) sum = sum + *each;
    return sum;
  }
  static std::size_t results;
  static variable_list backward(AutogradContext*, variable_list g) {
    variable_list out(results);
    for (const std::size_t i : positions) out[i] = g[0];
    return out;
  }
  static std::vector<std::size_t> positions;
};
std::size_t Optional::results = 0;
std::vector<std::size_t> Optional::positions;

struct Plain : Function<Plain> {
  static Variable forward(AutogradContext*, const Variable& x, std::vector<std::int64_t>, const std::string&,
                          const char*, const std::filesystem::path&, std::pair<int, double>) {
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list g) {
    return {g[0] * 2, Variable(), Variable(), Variable(), Variable(), Variable()};
  }
};

struct Identity : Function<Identity> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->save_for_backward({x});
    return x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->get_saved_variables()[0] * 2};
  }
};

struct Reshape : Function<Reshape> {
  static Variable forward(AutogradContext*, Variable x) { return x.view({2, 1}); }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0].view({2}) * 5}; }
};

// Overwrites its input, so no gradient flows through.
struct Overwrite : Function<Overwrite> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    x.fill_(7);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list) { return {Variable()}; }
};

struct OverwriteTwo : Function<OverwriteTwo> {
  static variable_list forward(AutogradContext* ctx, Variable x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return {x, x * 3};
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2 + g[1] * 6}; }
};

}  // namespace

TEST_CASE("function: lists of tensors are recorded for every container type") {
  const Variable c = ebb::tensor({7.0, 8.0}, ebb::kFloat64);
  const auto check = [&](auto make) {
    Variable a = leaf({1, 2}), b = leaf({3}), w = leaf({10, 100, 1000});
    const Variable y = Weighted::apply(0.5, make(a, c, b), w);
    require_values(y, {0.5 * (30 + 1500 + 3000)});
    const auto g = grad({y}, {a, b, w}, {}, true, true);
    require_values(g[0], {5, 5});
    require_values(g[1], {500});
    require_values(g[2], {1.5, 7.5, 1.5});
    require_values(grad({g[1].sum()}, {w})[0], {0, 0, 0.5});
    REQUIRE(ebb::gradcheck(
        [&](const variable_list& in) {
          return variable_list{Weighted::apply(0.5, make(in[0], c, in[1]), in[2])};
        },
        {a, b, w}));
  };
  check([](const Variable& a, const Variable& b, const Variable& d) { return variable_list{a, b, d}; });
  check([](const Variable& a, const Variable& b, const Variable& d) {
    return std::array<Variable, 3>{a, b, d};
  });
  variable_list held;
  check([&](const Variable& a, const Variable& b, const Variable& d) {
    held = {a, b, d};
    return ebb::TensorList(held);
  });
  check(
      [](const Variable& a, const Variable& b, const Variable& d) { return std::deque<Variable>{a, b, d}; });
}

TEST_CASE("function: a list as the only tensor input is recorded unless it is empty") {
  Variable a = leaf({1, 2});
  const Variable w = ebb::tensor({3.0}, ebb::kFloat64);
  REQUIRE(Weighted::apply(1.0, variable_list{a}, w).requires_grad());
  REQUIRE_FALSE(Weighted::apply(1.0, variable_list{a.detach()}, w).requires_grad());
  REQUIRE_FALSE(Weighted::apply(1.0, variable_list{}, w).requires_grad());
  const ebb::NoGradGuard no_grad;
  REQUIRE_FALSE(Weighted::apply(1.0, variable_list{a}, w).requires_grad());
}

TEST_CASE("function: too few gradients for a list throw") {
  struct One : Function<One> {
    static Variable forward(AutogradContext*, const variable_list& x) { return x[0] + x[1]; }
    static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
  };
  EBB_REQUIRE_ERROR(One::apply(variable_list{leaf({1}), leaf({2})}).backward(),
                    "incorrect number of gradients (expected 2, got 1)");
}

TEST_CASE("function: optional tensors and lists of them are recorded") {
  Variable x = leaf({1}), y = leaf({2}), z = leaf({3});
  const auto run = [&](const optional<Variable>& second, std::vector<optional<Variable>> more,
                       std::vector<std::size_t> positions) {
    Optional::results = 2 + more.size();
    Optional::positions = std::move(positions);
    return grad({Optional::apply(x, second, std::move(more))}, {x, y, z}, {}, false, false, true);
  };
  auto g = run(y, {ebb::nullopt, z}, {0, 1, 3});
  for (const Variable& each : g) require_values(each, {1});
  g = run(ebb::nullopt, {z}, {0, 2});
  require_values(g[2], {1});
  REQUIRE_FALSE(g[1].defined());
  g = run(Variable(), {}, {0});
  require_values(g[0], {1});
  EBB_REQUIRE_ERROR(run(ebb::nullopt, {}, {0, 1}), "different than None at position 2");
}

TEST_CASE("function: strings, paths and ranges of numbers count as one argument each") {
  Variable x = leaf({1});
  Plain::apply(x, std::vector<std::int64_t>{1, 2, 3}, std::string("abc"), "def",
               std::filesystem::path("/a/b"), std::pair<int, double>(1, 2))
      .backward();
  require_values(x.grad(), {2});
}

TEST_CASE("function: an input that is returned unchanged can be saved and differentiated twice") {
  Variable x = leaf({3});
  const Variable g = grad({Identity::apply(x)}, {x}, {}, true, true)[0];
  require_values(g, {6});
  require_values(grad({g}, {x})[0], {2});
}

TEST_CASE("function: in-place writes to results that are views of inputs throw while recording") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  for (const Variable& y : {Identity::apply(base), Reshape::apply(base)}) {
    REQUIRE(y.is_view());
    EBB_REQUIRE_ERROR(y.mul_(2), "modified inplace");
  }
  require_values(base, {1, 2});
  require_values(grad({Reshape::apply(base).sum()}, {x})[0], {5, 5});
  const Variable y = Reshape::apply(base);
  base.mul_(2);
  EBB_REQUIRE_ERROR(y * 2, "its base or another view of its base has been modified inplace");
}

TEST_CASE("function: returning a captured leaf from forward does not change the history of the leaf") {
  static Variable outside;
  outside = leaf({4});
  struct Outside : Function<Outside> {
    static Variable forward(AutogradContext*, Variable) { return outside; }
    static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2}; }
  };
  Variable x = leaf({1});
  const Variable y = Outside::apply(x);
  REQUIRE_FALSE(y.is_same(outside));
  REQUIRE(outside.is_leaf());
  y.backward();
  require_values(x.grad(), {2});
  REQUIRE_FALSE(outside.grad().defined());
  outside.reset();
}

TEST_CASE("function: an input that is overwritten in place may have an undefined gradient") {
  Variable x = leaf({1, 2, 3});
  Variable whole = x * 1;
  Overwrite::apply(whole);
  require_values(whole, {7, 7, 7});
  REQUIRE_FALSE(grad({whole.sum()}, {x}, {}, true, false, true)[0].defined());

  Variable base = x * 1;
  Overwrite::apply(base[1]);
  require_values(base, {1, 7, 3});
  require_values(grad({(base * base).sum()}, {x})[0], {2, 0, 6});
}

TEST_CASE("function: a function that writes into a view must return only that view") {
  Variable x = leaf({1, 2});
  Variable whole = x * 1;
  const auto out = OverwriteTwo::apply(whole);
  require_values(grad({(out[0] + out[1]).sum()}, {x})[0], {8, 8});
  Variable base = x * 1;
  EBB_REQUIRE_ERROR(OverwriteTwo::apply(base[1]),
                    "a function that writes into a view must return that view alone");
}
