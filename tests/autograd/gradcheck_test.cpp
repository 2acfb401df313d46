// gradcheck: the arguments that it rejects, inputs that stay unchanged, and the errors that it finds.
#include <ebb/derivatives/gradcheck.h>

#include "autograd/semantics.h"

using namespace semantics;
using ebb::gradcheck;
using ebb::GradcheckOptions;
using ebb::gradgradcheck;

namespace {

// A function whose gradient changes by 1e-8 in every run of its backward.
struct Drifting : Function<Drifting> {
  static int runs;
  static Variable forward(AutogradContext*, Variable x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2 + 1e-8 * ++runs}; }
};
int Drifting::runs = 0;

// Its first derivative is right, but its gradient has no graph to the incoming gradient.
struct Cut : Function<Cut> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0].detach() * ctx->get_saved_variables()[0] * 2};
  }
};

// Its gradient has no graph to x.
struct Constant : Function<Constant> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->get_saved_variables()[0].detach() * 2};
  }
};

// The gradient of the second result is wrong, and an undefined gradient does not count as zeros.
struct Pair : Function<Pair> {
  static double second, undefined;
  static variable_list forward(AutogradContext* ctx, Variable x) {
    ctx->set_materialize_grads(false);
    return {x * 2, x * 3};
  }
  static variable_list backward(AutogradContext*, variable_list g) {
    Variable sum = g[0].defined() ? g[0] * 2 : g[1] * 0 + undefined;
    if (g[1].defined()) sum = sum + g[1] * second;
    return {sum};
  }
};
double Pair::second = 3, Pair::undefined = 0;

GradcheckOptions fast() {
  GradcheckOptions options;
  options.fast_mode = true;
  return options;
}

GradcheckOptions both_modes(bool fast_mode) { return fast_mode ? fast() : GradcheckOptions(); }

}  // namespace

TEST_CASE("gradcheck: a backward that gives different gradients in two runs is reported") {
  const auto f = [](const Variable& x) { return Drifting::apply(x); };
  for (const bool fast_mode : {false, true}) {
    GradcheckOptions options = both_modes(fast_mode);
    Variable x = leaf({1, 2});
    EBB_REQUIRE_ERROR(gradcheck(f, {x}, options),
                      "running it twice gives different gradients: output 0, input 0");
    options.nondet_tol = 1e-9;
    EBB_REQUIRE_ERROR(gradcheck(f, {x}, options), "running it twice gives different gradients");
    options.nondet_tol = 1e-7;
    REQUIRE(gradcheck(f, {x}, options));
  }
}

TEST_CASE("gradcheck: inputs are unchanged even after an exception") {
  const std::vector<double> at = {0.1, 0.7, -0.3};
  for (const bool fast_mode : {false, true})
    for (int fails_at = 0; fails_at < 8; ++fails_at) {
      INFO("fast " << fast_mode << ", call " << fails_at);
      int calls = -1;
      const auto f = [&](const Variable& x) {
        if (++calls == fails_at) throw std::runtime_error("mine");
        return x * x;
      };
      Variable x = leaf(at);
      std::string thrown;
      try {
        gradcheck(f, {x}, both_modes(fast_mode));
      } catch (const std::runtime_error& e) {
        thrown = e.what();
      }
      REQUIRE(thrown == (calls == fails_at ? "mine" : ""));
      REQUIRE(values(x) == at);
      REQUIRE(ebb::GradMode::is_enabled());
    }
}

TEST_CASE("gradcheck: inputs are unchanged after a mismatch") {
  struct Wrong : Function<Wrong> {
    static Variable forward(AutogradContext*, Variable x) { return x * 2; }
    static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 3}; }
  };
  for (const bool fast_mode : {false, true}) {
    Variable x = leaf({0.1, 0.7});
    EBB_REQUIRE_ERROR(
        gradcheck([](const Variable& t) { return Wrong::apply(t); }, {x}, both_modes(fast_mode)), "mismatch");
    REQUIRE(values(x) == std::vector<double>{0.1, 0.7});
  }
}

TEST_CASE("gradcheck: each of several outputs and inputs is checked") {
  const auto f = [](const Variable& x) { return Pair::apply(x); };
  for (const bool fast_mode : {false, true}) {
    Variable x = leaf({1, 2});
    REQUIRE(gradcheck(f, {x}, both_modes(fast_mode)));
    Pair::second = 4;
    EBB_REQUIRE_ERROR(gradcheck(f, {x}, both_modes(fast_mode)), "output 1 with respect to input 0");
    Pair::second = 3;
    // Inputs that do not require grad, or whose dtype has no gradient, are not checked.
    const Variable c = ebb::tensor({1.0, 2.0}, ebb::kFloat64);
    const ebb::GradcheckFunction mixed = [](const variable_list& in) {
      return variable_list{in[0] * in[1], in[2].exp(), in[1].round().to(ebb::kLong), in[0].detach() * 0};
    };
    REQUIRE(gradcheck(mixed, {c, x, leaf({0.5})}, both_modes(fast_mode)));
  }
}

TEST_CASE("gradcheck: a backward that does not treat undefined gradients as zeros is reported") {
  const auto f = [](const Variable& x) { return Pair::apply(x); };
  Pair::undefined = 1;
  GradcheckOptions options;
  options.check_undefined_grad = false;
  Variable x = leaf({1, 2});
  // Only the second output has a wrong gradient, and the comparison of that output finds it first.
  EBB_REQUIRE_ERROR(gradcheck(f, {x}, options), "output 1");
  Pair::undefined = 0;
  struct Trusting : Function<Trusting> {
    static variable_list forward(AutogradContext* ctx, Variable a, Variable b) {
      ctx->set_materialize_grads(false);
      return {a * 2, a * 3 + b};
    }
    // Omits the part of a in the second result if the first gradient is undefined, but not if it is zero.
    static variable_list backward(AutogradContext*, variable_list g) {
      if (!g[0].defined()) return {g[1] * 3, g[1]};
      if (!g[1].defined()) return {g[0] * 2, Variable()};
      return {g[0] * 2 + g[1] * 3 + 1, g[1]};
    }
  };
  const auto trusting = [](const Variable& a, const Variable& b) { return Trusting::apply(a, b); };
  REQUIRE(gradcheck(trusting, {leaf({1}), leaf({2})}, options));
  EBB_REQUIRE_ERROR(gradcheck(trusting, {leaf({1}), leaf({2})}),
                    "undefined incoming gradients are not treated as zeros: output 0, input 0, entry 0");
}

TEST_CASE("gradcheck: invalid inputs and outputs throw") {
  const auto f = [](const Variable& x) { return x * 2; };
  EBB_REQUIRE_ERROR(gradcheck(f, {ebb::ones({2}, ebb::kFloat64)}),
                    "at least one input tensor to require gradient");
  EBB_REQUIRE_ERROR(gradcheck(f, {ebb::ones({2}).requires_grad_()}), "must be kDouble");
  EBB_REQUIRE_ERROR(gradcheck(f, {ebb::ones({1}, ebb::kFloat64).expand({3}).requires_grad_()}),
                    "overlapping memory (shape [3], strides [0])");
  REQUIRE(gradcheck(f, {ebb::ones({1}, ebb::kFloat64).expand({1}).requires_grad_()}));
  EBB_REQUIRE_ERROR(gradcheck([](const Variable& x) { return x.to(ebb::kFloat); }, {leaf({1})}),
                    "output 0 has dtype");
}

TEST_CASE("gradcheck: inputs may have any strides") {
  const Variable x =
      ebb::arange(12, ebb::kFloat64).view({3, 4}).t().slice(0, 0, 4, 2).detach().requires_grad_();
  for (const bool fast_mode : {false, true})
    REQUIRE(gradcheck([](const Variable& t) { return (t * t).sum(0); }, {x}, both_modes(fast_mode)));
  require_values(x, {0, 4, 8, 2, 6, 10});
}

TEST_CASE("gradcheck: atol and rtol bound the error") {
  struct Off : Function<Off> {  // by 1e-3, with a derivative of 10
    static Variable forward(AutogradContext*, Variable x) { return x * 10; }
    static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 10.001}; }
  };
  const auto f = [](const Variable& x) { return Off::apply(x); };
  GradcheckOptions options;
  REQUIRE(gradcheck(f, {leaf({1})}, options));  // 1e-3 in 10
  options.rtol = 1e-5;
  EBB_REQUIRE_ERROR(gradcheck(f, {leaf({1})}, options), "analytic 10.001, numeric");
  options.atol = 2e-3;
  REQUIRE(gradcheck(f, {leaf({1})}, options));
  const auto nan = [](const Variable& x) { return x * std::nan(""); };
  EBB_REQUIRE_ERROR(gradcheck(nan, {leaf({1})}, options), "mismatch");
}

TEST_CASE("gradcheck: rtol is relative to the derivative") {
  static double slope, off;
  struct Off : Function<Off> {
    static Variable forward(AutogradContext*, Variable x) { return x * slope; }
    static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * (slope + off)}; }
  };
  const auto f = [](const Variable& x) { return Off::apply(x); };
  for (const bool fast_mode : {false, true}) {
    slope = 100, off = 0.05;
    REQUIRE(gradcheck(f, {leaf({1})}, both_modes(fast_mode)));
    slope = 0.01, off = 5e-4;
    EBB_REQUIRE_ERROR(gradcheck(f, {leaf({1})}, both_modes(fast_mode)), "mismatch");
  }
}

TEST_CASE("gradcheck: the message names the entry with the largest error") {
  struct Uneven : Function<Uneven> {
    static Variable forward(AutogradContext*, Variable x) { return x * 2; }
    static variable_list backward(AutogradContext*, variable_list g) {
      return {g[0] * ebb::tensor({3.0, 7.0, 4.0}, ebb::kFloat64)};
    }
  };
  EBB_REQUIRE_ERROR(gradcheck([](const Variable& x) { return Uneven::apply(x); }, {leaf({1, 2, 3})}),
                    "3 of 9 entries differ; the worst is d output[1] / d input[1]: analytic 7");
}

TEST_CASE("gradcheck: an input with stride 0 in a dimension of one element is accepted") {
  const Variable x = ebb::ones({1}, ebb::kFloat64).as_strided({1}, {0}).detach().requires_grad_();
  REQUIRE(x.stride(0) == 0);
  for (const bool fast_mode : {false, true})
    REQUIRE(gradcheck([](const Variable& t) { return t * t; }, {x}, both_modes(fast_mode)));
}

TEST_CASE("gradcheck: works in inference mode") {
  Variable x = leaf({1, 2});
  const ebb::InferenceMode inference;
  REQUIRE(gradcheck([](const Variable& t) { return t * t; }, {x}));
  REQUIRE(gradgradcheck([](const Variable& t) { return t * t; }, {x}));
}

TEST_CASE("gradgradcheck: the random grad_outputs require grad") {
  const auto cut = [](const Variable& x) { return Cut::apply(x); };
  const auto constant = [](const Variable& x) { return Constant::apply(x); };
  for (const bool fast_mode : {false, true}) {
    const GradcheckOptions options = both_modes(fast_mode);
    Variable x = leaf({1, 2});
    REQUIRE(gradcheck(cut, {x}, options));
    EBB_REQUIRE_ERROR(gradgradcheck(cut, {x}, {}, options), "with respect to input 1");
    REQUIRE(gradcheck(constant, {x}, options));
    EBB_REQUIRE_ERROR(gradgradcheck(constant, {x}, {}, options), "with respect to input 0");
    REQUIRE(values(x) == std::vector<double>{1, 2});
  }
}

TEST_CASE("gradgradcheck uses the given grad_outputs") {
  const auto cut = [](const Variable& x) { return Cut::apply(x); };
  const auto constant = [](const Variable& x) { return Constant::apply(x); };
  Variable x = leaf({1, 2});
  REQUIRE(gradgradcheck(cut, {x}, {ebb::ones({2}, ebb::kFloat64)}));  // constants are not differentiated
  EBB_REQUIRE_ERROR(gradgradcheck(cut, {x}, {leaf({1, 1})}), "with respect to input 1");
  REQUIRE(gradgradcheck(constant, {x}, {ebb::zeros({2}, ebb::kFloat64)}));
  EBB_REQUIRE_ERROR(gradgradcheck(constant, {x}, {ebb::tensor({0.0, 1.0}, ebb::kFloat64)}), "input[1]");
  EBB_REQUIRE_ERROR(gradgradcheck(constant, {x}, {x, x}), "1 differentiable outputs, but 2 grad_outputs");
}

TEST_CASE("gradgradcheck: each differentiable output has its own grad_output") {
  const ebb::GradcheckFunction right = [](const variable_list& x) {
    return variable_list{x[0].detach() * 2, x[0] * x[0], Variable(), x[0].exp() * x[1]};
  };
  const ebb::GradcheckFunction wrong = [](const variable_list& x) {
    return variable_list{x[0].detach() * 2, x[0] * x[0], Variable(), Cut::apply(x[0])};
  };
  const variable_list x = {leaf({1, 2}), leaf({3})};
  REQUIRE(gradgradcheck(right, x));
  // The inputs are these two and the seeds of the two outputs that have a gradient.
  EBB_REQUIRE_ERROR(gradgradcheck(wrong, x), "output 0 with respect to input 3");
}
