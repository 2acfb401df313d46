// User-defined functions: optional inputs, constants, several outputs, in-place, double backward, higher
// orders.
#include "fidelity.h"

namespace custom_functions {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static Variable forward(AutogradContext* ctx, Variable input, Variable weight, Variable bias = Variable()) {
    ctx->save_for_backward({input, weight, bias});
    auto output = input.mm(weight.t());
    if (bias.defined()) output += bias.unsqueeze(0).expand_as(output);
    return output;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto saved = ctx->get_saved_variables();
    auto grad = grads[0];
    Variable grad_bias;
    if (saved[2].defined()) grad_bias = grad.sum(0);
    return {grad.mm(saved[1]), grad.t().mm(saved[0]), grad_bias};
  }
};

class MulConstant : public torch::autograd::Function<MulConstant> {
 public:
  static Variable forward(AutogradContext* ctx, Variable x, double constant) {
    ctx->saved_data["constant"] = constant;
    return x * constant;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["constant"].toDouble(), Variable()};
  }
};

// Straight-through rounding: forward rounds, and backward is the identity.
struct Round : torch::autograd::Function<Round> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x.round(); }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};

struct Reverse : torch::autograd::Function<Reverse> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t times, bool twice) {
    ctx->saved_data["times"] = times;
    ctx->saved_data["twice"] = twice;
    return x.view_as(x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const double factor =
        static_cast<double>(ctx->saved_data["times"].toInt()) * (ctx->saved_data["twice"].toBool() ? 2 : 1);
    return {-grads[0] * factor, Tensor(), Tensor()};
  }
};

struct DoubleInPlace : torch::autograd::Function<DoubleInPlace> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

struct MinMax : torch::autograd::Function<MinMax> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    auto [low, at_low] = x.min(0);
    auto [high, at_high] = x.max(0);
    ctx->save_for_backward({at_low, at_high});
    ctx->saved_data["size"] = x.size(0);
    return {low, high};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto saved = ctx->get_saved_variables();
    Tensor grad = torch::zeros({ctx->saved_data["size"].toInt()}, torch::kFloat64);
    for (int i = 0; i < 2; ++i)
      if (grads[i].defined()) grad = grad.scatter_add(0, saved[i].unsqueeze(0), grads[i].unsqueeze(0));
    return {grad};
  }
};

struct Exploding : torch::autograd::Function<Exploding> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list) { throw std::runtime_error("as asked"); }
};

struct WrongShape : torch::autograd::Function<WrongShape> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x.sum(); }
  static variable_list backward(AutogradContext*, variable_list) {
    return {torch::ones({7}, torch::kFloat64)};
  }
};

void run() {
  section("linear", [] {
    auto x = ramp({2, 3}).requires_grad_();
    auto weight = ramp({4, 3}, -1, 1, 0.8).requires_grad_();
    auto bias = ramp({4}).requires_grad_();
    auto y = LinearFunction::apply(x, weight, bias);
    report("linear", y);
    y.tanh().sum().backward();
    report("linear.x", x.grad());
    report("linear.weight", weight.grad());
    report("linear.bias", bias.grad());
    auto z = LinearFunction::apply(x, weight);
    report("linear.nobias", torch::autograd::grad({z.sum()}, {x})[0]);
    // Its backward uses differentiable ops, so it can be differentiated again.
    auto g = torch::autograd::grad({LinearFunction::apply(x, weight, bias).pow(3).sum()}, {weight}, {}, true,
                                   true)[0];
    report("linear.second", torch::autograd::grad({g.sum()}, {x})[0]);
  });
  section("constant", [] {
    auto x = ramp({2}).requires_grad_();
    auto y = MulConstant::apply(x, 5.5);
    y.sum().backward();
    report("constant", y);
    report("constant.grad", x.grad());
    report_value("constant.is_leaf", y.is_leaf());
    auto r = Reverse::apply(x, int64_t{3}, true);
    r.sum().backward();
    report("reverse", x.grad());
    torch::NoGradGuard guard;
    report_value("constant.no_grad", MulConstant::apply(x, 2.0).requires_grad());
  });
  section("straight", [] {
    auto x = ramp({4}, -3, 3).requires_grad_();
    (Round::apply(x) * ramp({4})).sum().backward();
    report("straight", x.grad());
  });
  section("inplace", [] {
    auto x = ramp({3}).requires_grad_();
    auto y = x * 1;
    auto z = DoubleInPlace::apply(y);
    report_value("inplace.same", z.is_same(y));
    (z * z).sum().backward();
    report("inplace", x.grad());
  });
  section("two", [] {
    auto x = ramp({5}).requires_grad_();
    auto both = MinMax::apply(x);
    report("two.low", both[0]);
    report("two.high", both[1]);
    (both[0] * both[1]).backward();
    report("two", x.grad());
    x.mutable_grad() = Tensor();
    MinMax::apply(x)[1].backward();
    report("two.one", x.grad());
  });
  section("failing", [] {
    auto x = ramp({2}).requires_grad_();
    report_error("exploding", [&] { Exploding::apply(x).sum().backward(); });
    report_error("shape", [&] { WrongShape::apply(x).backward(); });
    (x * x).sum().backward();
    report("after", x.grad());
  });
}

const Program program("custom_functions", run);

}  // namespace custom_functions
