// Jacobians, Hessians and their products, and autograd::functional.
#include <ebb/autograd/graph.h>
#include <ebb/derivatives/functional.h>

#include "autograd/semantics.h"
#include "support/compare.h"

// Jacobians, Hessians and their products, by autograd::functional.

using namespace semantics;
namespace ag = ebb::autograd;

TEST_CASE("jacobian and hessian have the right values") {
  const Variable x = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
  const auto f = [](const Variable& t) { return ebb::stack({t[0] * t[1], t[0] * t[0], t[1].sin()}); };
  const Variable j = ag::jacobian(f, x);
  REQUIRE(j.sizes() == ebb::IntArrayRef({3, 2}));
  require_values(j, {2, 1, 2, 0, 0, std::cos(2.0)});
  const Variable h = ag::hessian([](const Variable& t) { return (t[0] * t[0] * t[1]).sum(); }, x);
  require_values(h, {4, 2, 2, 0});
  REQUIRE_FALSE(x.requires_grad());
  EBB_REQUIRE_ERROR(ag::hessian(f, x), "one tensor of one element");
}

TEST_CASE("vjp, jvp and hvp agree with the Jacobian") {
  const Variable x = ebb::tensor({0.5, -1.0, 2.0}, ebb::kFloat64);
  const auto f = [](const Variable& t) { return t.tanh() * t.sum(); };
  const Variable j = ag::jacobian(f, x);
  const Variable v = ebb::tensor({1.0, 2.0, -0.5}, ebb::kFloat64);
  require_values(ag::vjp(f, x, v).second, values(v.matmul(j)));
  require_values(ag::jvp(f, x, v).second, values(j.matmul(v)));
  require_values(ag::jvp(f, x, v).first, values(f(x)));
  const auto g = [](const Variable& t) { return (t * t * t).sum() * t[0]; };
  require_values(ag::hvp(g, x, v).second, values(ag::hessian(g, x).matmul(v)));
  require_values(ag::vhp(g, x, v).second, values(v.matmul(ag::hessian(g, x))));
}

TEST_CASE("jacobian accepts lists and is zero for an output that is independent of an input") {
  const Variable a = ebb::tensor({1.0, 2.0}, ebb::kFloat64), b = ebb::tensor({3.0}, ebb::kFloat64);
  const ag::ListFunction f = [](const ebb::variable_list& in) {
    return ebb::variable_list{in[0] * 2, in[1] * in[1]};
  };
  const auto j = ag::jacobian(f, {a, b});
  require_values(j[0][0], {2, 0, 0, 2});
  require_values(j[0][1], {0, 0});
  require_values(j[1][1], {6});
}

TEST_CASE("jacobian with create_graph is differentiable") {
  Variable x = leaf({2});
  const Variable j = ag::jacobian([](const Variable& t) { return t * t * t; }, x, true);
  j.sum().backward();
  require_values(x.grad(), {12});
}

TEST_CASE("to_text and to_dot write the graph") {
  Variable x = leaf({1, 2, 3});
  const Variable scale = ebb::tensor({2.0, 2.0, 2.0}, ebb::kFloat64);
  Variable y = (x * scale).pow(2).mean();
  const std::string text = ag::to_text(y, {{"x", x}, {"scale", scale}});
  for (const char* part : {"MeanBackward0", "PowBackward0", "MulBackward0", "x [3]", "scale [3]"})
    REQUIRE_THAT(text, support::Contains(part));
  const std::string dot = ag::to_dot(y, {{"x", x}, {"scale", scale}});
  for (const char* part : {"digraph", "MeanBackward0", "x [3]", "scale [3]", "-> root"})
    REQUIRE_THAT(dot, support::Contains(part));
  REQUIRE(std::count(dot.begin(), dot.end(), '{') == std::count(dot.begin(), dot.end(), '}'));
}

TEST_CASE("gradcheck throws for a function that returns other outputs if its inputs do not require grad") {
  using namespace ebb;
  const Variable x = tensor({0.5, 1.5}, kDouble).requires_grad_();
  const auto fewer = [](const variable_list& in) {
    const Variable y = in[0].square();
    return y.requires_grad() ? variable_list{y, y * 2} : variable_list{};
  };
  const auto shorter = [](const variable_list& in) {
    const Variable y = in[0].square();
    return variable_list{y.requires_grad() ? y : y.sum()};
  };
  for (const bool fast : {false, true}) {
    GradcheckOptions options;
    options.fast_mode = fast;
    CHECK_THROWS_WITH(gradcheck(fewer, {x}, options),
                      support::Contains("output 0") && support::Contains("missing"));
    CHECK_THROWS_WITH(gradcheck(shorter, {x}, options), support::Contains("return the same tensors"));
  }
  CHECK(support::numbers(x) == std::vector<double>{0.5, 1.5});
}

// The inputs and outputs of autograd::functional: copies, vectors and graphs.

namespace ag = ebb::autograd;

namespace {

// Computes x * w. Its derivative is the tensor w itself, not a computed one.
struct Linear : Function<Linear> {
  static Variable forward(AutogradContext* ctx, Variable x, Variable w) {
    ctx->save_for_backward({w});
    return (x * w).sum();
  }
  static variable_list backward(AutogradContext* ctx, variable_list) {
    return {ctx->get_saved_variables()[0], Variable()};
  }
};

}  // namespace

TEST_CASE("functional: without create_graph the function gets copies detached from the graph of the caller") {
  Variable x = leaf({1, 2});
  Variable kept;
  const auto f = [&](const Variable& t) {
    REQUIRE(t.is_leaf());
    kept = (t * t).sum();
    return kept * 1;
  };
  (void)ag::jacobian(f, x);
  kept.backward();
  REQUIRE_FALSE(x.grad().defined());
}

TEST_CASE(
    "functional: without create_graph the Jacobian has no graph even if backward returns a tensor with a "
    "graph") {
  const Variable x = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
  const Variable w = leaf({3, 4});
  const auto f = [&](const Variable& t) { return Linear::apply(t, w); };
  const Variable j = ag::jacobian(f, x);
  require_values(j, {3, 4});
  REQUIRE_FALSE(j.requires_grad());
  REQUIRE(ag::jacobian(f, x, true).requires_grad());
}

TEST_CASE("functional: hvp with create_graph is differentiable") {
  Variable x = leaf({2});
  const Variable v = ebb::tensor({5.0}, ebb::kFloat64);
  const auto cube = [](const Variable& t) { return (t * t * t).sum(); };
  const Variable h = ag::hvp(cube, x, v, true).second;
  require_values(h, {60});
  h.backward();
  require_values(x.grad(), {30});
  REQUIRE_FALSE(ag::hvp(cube, x, v).second.requires_grad());
}

TEST_CASE("functional: vjp multiplies each output by its own vector") {
  const Variable x = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
  const ag::ListFunction f = [](const variable_list& in) {
    return variable_list{in[0].detach(), in[0] * 2, in[0] * in[0]};
  };
  const auto v = [](double a, double b) { return ebb::tensor({a, b}, ebb::kFloat64); };
  const auto [y, g] = ag::vjp(f, {x}, {v(7, 7), v(1, 10), v(100, 1000)});
  require_values(y[2], {1, 4});
  require_values(g[0], {202, 4020});
}

TEST_CASE("functional: derivatives of a function independent of its input are zero") {
  const Variable x = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
  const auto constant = [](const Variable&) { return ebb::ones({}, ebb::kFloat64); };
  const auto linear = [](const Variable& t) { return t.sum(); };
  require_values(ag::jacobian(constant, x), {0, 0});
  require_values(ag::hessian(constant, x), {0, 0, 0, 0});
  require_values(ag::hessian(linear, x), {0, 0, 0, 0});
  require_values(ag::vjp(constant, x).second, {0, 0});
  require_values(ag::jvp(constant, x, x).second, {0});
  require_values(ag::hvp(linear, x, x).second, {0, 0});
}

TEST_CASE("functional: hessian throws unless the output is one tensor of one element") {
  const Variable x = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
  const ag::ListFunction two = [](const variable_list& in) { return variable_list{in[0].sum(), in[0]}; };
  EBB_REQUIRE_ERROR(ag::hessian(two, {x}), "got 2 tensors, the first of shape []");
  const ag::ListFunction none = [](const variable_list&) { return variable_list{}; };
  EBB_REQUIRE_ERROR(ag::hessian(none, {x}), "got 0 tensors");
  const auto wide = [](const Variable& t) { return t * 2; };
  EBB_REQUIRE_ERROR(ag::hvp(wide, x, x), "got 1 tensors, the first of shape [2]");
}
