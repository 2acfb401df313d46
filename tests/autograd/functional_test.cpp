// Derivatives of functions as values: what they are computed on, of what, and what they belong to.
#include <ebb/derivatives/functional.h>

#include "autograd/semantics.h"

using namespace semantics;
namespace ag = ebb::autograd;

namespace {

// x * w, whose derivative is the tensor w itself, not a tensor computed from it.
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

TEST_CASE("functional: without create_graph the function gets copies cut off from the caller's graph") {
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

TEST_CASE("functional: without create_graph the Jacobian records nothing, whatever backward gave") {
  const Variable x = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
  const Variable w = leaf({3, 4});
  const auto f = [&](const Variable& t) { return Linear::apply(t, w); };
  const Variable j = ag::jacobian(f, x);
  require_values(j, {3, 4});
  REQUIRE_FALSE(j.requires_grad());
  REQUIRE(ag::jacobian(f, x, true).requires_grad());
}

TEST_CASE("functional: a product of a Hessian and a vector can be differentiated under create_graph") {
  Variable x = leaf({2});
  const Variable v = ebb::tensor({5.0}, ebb::kFloat64);
  const auto cube = [](const Variable& t) { return (t * t * t).sum(); };
  const Variable h = ag::hvp(cube, x, v, true).second;
  require_values(h, {60});
  h.backward();
  require_values(x.grad(), {30});
  REQUIRE_FALSE(ag::hvp(cube, x, v).second.requires_grad());
}

TEST_CASE("functional: each output is pulled back with the vector of its own") {
  const Variable x = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
  const ag::ListFunction f = [](const variable_list& in) {
    return variable_list{in[0].detach(), in[0] * 2, in[0] * in[0]};
  };
  const auto v = [](double a, double b) { return ebb::tensor({a, b}, ebb::kFloat64); };
  const auto [y, g] = ag::vjp(f, {x}, {v(7, 7), v(1, 10), v(100, 1000)});
  require_values(y[2], {1, 4});
  require_values(g[0], {202, 4020});
}

TEST_CASE("functional: what does not depend on its input has zeros for derivatives") {
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

TEST_CASE("functional: a Hessian is of one tensor of one element, and says what it got") {
  const Variable x = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
  const ag::ListFunction two = [](const variable_list& in) { return variable_list{in[0].sum(), in[0]}; };
  EBB_REQUIRE_ERROR(ag::hessian(two, {x}), "got 2 tensors, the first of shape []");
  const ag::ListFunction none = [](const variable_list&) { return variable_list{}; };
  EBB_REQUIRE_ERROR(ag::hessian(none, {x}), "got 0 tensors");
  const auto wide = [](const Variable& t) { return t * 2; };
  EBB_REQUIRE_ERROR(ag::hvp(wide, x, x), "got 1 tensors, the first of shape [2]");
}
