// Functions of one's own: contexts, views of their arguments, in-place, several outputs, higher orders.
#include "fidelity.h"

namespace custom_autograd {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;
using torch::autograd::Variable;
using torch::autograd::variable_list;

struct Exp : Function<Exp> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    Variable y = x.exp();
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->get_saved_variables()[0]};
  }
};

struct LinearFunction : Function<LinearFunction> {
  static Tensor forward(AutogradContext* ctx, Tensor x, Tensor w, Tensor b = Tensor()) {
    ctx->save_for_backward({x, w, b});
    Tensor y = x.mm(w.t());
    if (b.defined()) y += b.unsqueeze(0).expand_as(y);
    return y;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list g) {
    const auto saved = ctx->get_saved_variables();
    Tensor db;
    if (saved[2].defined()) db = g[0].sum(0);
    return {g[0].mm(saved[1]), g[0].t().mm(saved[0]), db};
  }
};

struct Settings : Function<Settings> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t times, double scale, bool negate,
                        std::string name) {
    ctx->saved_data["times"] = times;
    ctx->saved_data["scale"] = scale;
    ctx->saved_data["negate"] = negate;
    ctx->saved_data["name"] = name;
    ctx->saved_data["tensor"] = x * 0 + 1;
    return x * times * scale * (negate ? -1 : 1);
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list g) {
    double factor =
        static_cast<double>(ctx->saved_data["times"].toInt()) * ctx->saved_data["scale"].toDouble();
    if (ctx->saved_data["negate"].toBool()) factor = -factor;
    const Tensor ones = ctx->saved_data["tensor"].toTensor();
    return {g[0] * factor * ones, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

struct DivMod : Function<DivMod> {
  static variable_list forward(AutogradContext* ctx, const Tensor& a, const Tensor& b) {
    Tensor quotient = torch::floor(a / b);
    ctx->mark_non_differentiable({quotient});
    ctx->save_for_backward({quotient});
    return {quotient, a - quotient * b};
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[1], -g[1] * ctx->get_saved_variables()[0]};
  }
};

struct ScaleInPlace : Function<ScaleInPlace> {
  static Tensor forward(AutogradContext* ctx, Tensor x, double s) {
    ctx->saved_data["s"] = s;
    x.mul_(s);
    ctx->mark_dirty({x});
    return x;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list g) {
    return {g[0] * ctx->saved_data["s"].toDouble(), Tensor()};
  }
};

struct Pair : Function<Pair> {
  static variable_list forward(AutogradContext*, const Tensor& x) { return {x * 2, x * 3}; }
  static variable_list backward(AutogradContext*, variable_list g) {
    std::printf("pair.defined %d %d\n", g[0].defined(), g[1].defined());
    return {g[0] * 2 + g[1] * 3};
  }
};
struct PairUndefined : Function<PairUndefined> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    ctx->set_materialize_grads(false);
    return {x * 2, x * 3};
  }
  static variable_list backward(AutogradContext*, variable_list g) {
    std::printf("pair_undefined.defined %d %d\n", g[0].defined(), g[1].defined());
    return {g[0].defined() ? g[0] * 2 : g[1] * 3};
  }
};

struct StraightThrough : Function<StraightThrough> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x.sign(); }
  static tensor_list backward(AutogradContext*, tensor_list g) { return {g[0].clamp(-1, 1)}; }
};

struct Reverse : Function<Reverse> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double lambda) {
    ctx->saved_data["lambda"] = lambda;
    return x.view_as(x);
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list g) {
    return {-g[0] * ctx->saved_data["lambda"].toDouble(), Tensor()};
  }
};

void run() {
  grads("exp", [](const Tensors& t) { return Exp::apply(t[0]); }, {ramp({2, 3})});
  grads("exp.twice", [](const Tensors& t) { return Exp::apply(Exp::apply(t[0] * 0.5)) * t[0]; }, {ramp({3})});
  grads("linear", [](const Tensors& t) { return LinearFunction::apply(t[0], t[1], t[2]); },
        {ramp({2, 3}), ramp({4, 3}), ramp({4})});
  grads("settings", [](const Tensors& t) { return Settings::apply(t[0], 3, 0.5, true, "n"); }, {ramp({4})});
  grads("divmod", [](const Tensors& t) { return DivMod::apply(t[0] * 5, t[1])[1]; },
        {ramp({4}), ramp({4}, 0.7, 1.9)});
  grads("in_place",
        [](const Tensors& t) {
          Tensor y = t[0] * t[0];
          Tensor z = ScaleInPlace::apply(y, 3.0);
          return z + y;
        },
        {ramp({3})});
  grads("straight", [](const Tensors& t) { return StraightThrough::apply(t[0] * 3) * t[0]; }, {ramp({4})});
  grads("reverse", [](const Tensors& t) { return Reverse::apply(t[0].sin(), 0.1); }, {ramp({4})});

  section("outputs", [] {
    Tensor x = ramp({3}).requires_grad_();
    const auto both = DivMod::apply(x, torch::full({3}, 0.3, torch::kFloat64));
    report_value("quotient.requires", both[0].requires_grad());
    report_value("rest.requires", both[1].requires_grad());
    const auto pair = Pair::apply(x);
    pair[1].sum().backward();
    report("pair", x.grad());
    x.mutable_grad().zero_();
    PairUndefined::apply(x)[1].sum().backward();
    report("pair_undefined", x.grad());
    const auto again = Pair::apply(x);
    (again[0] * again[1]).sum().backward();
    report("pair.product", x.grad());
  });

  section("meta", [] {
    Tensor x = ramp({3}).requires_grad_();
    Tensor y = Exp::apply(x);
    report_value("is_leaf", y.is_leaf());
    report_value("has_node", y.grad_fn() != nullptr);
    report_value("constant", Exp::apply(ramp({2})).requires_grad());
    {
      torch::NoGradGuard guard;
      report_value("no_grad", Exp::apply(x).requires_grad());
    }
    y.sum().backward();
    report_error("second", [&] { y.sum().backward(); });
    Tensor w = ramp({3}).requires_grad_();
    Tensor v = w * 1, z = Exp::apply(v);
    z.add_(1);
    report_error("modified", [&] { z.sum().backward(); });
    Tensor plain = ramp({2});
    Tensor scaled = ScaleInPlace::apply(plain, 2.0);
    report_value("dirty.same", scaled.is_same(plain) || scaled.data_ptr() == plain.data_ptr());
    report("dirty", plain);
    report_error("dirty.leaf", [&] { ScaleInPlace::apply(x, 2.0); });
  });

  section("training", [] {
    Tensor w = ramp({2, 3}).requires_grad_(), b = torch::zeros({2}, torch::kFloat64).requires_grad_();
    torch::optim::SGD optimizer({w, b}, 0.1);
    const Tensor x = ramp({8, 3}, -2, 2), y = ramp({8, 2}, -1, 1, 2.0);
    for (int step = 0; step < 20; ++step) {
      optimizer.zero_grad();
      (LinearFunction::apply(x, w, b) - y).square().mean().backward();
      optimizer.step();
    }
    report("training.w", w);
    report("training.b", b);
  });
}

const Program program("custom_autograd", run);

}  // namespace custom_autograd
