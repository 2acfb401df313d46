// The autograd graph: basic use, and semantics in rare cases.
#include "fidelity.h"

// Basic use of autograd, with the names of the nodes.
namespace autograd_basics {

std::string node(const Tensor& t) { return t.grad_fn() ? t.grad_fn()->name() : "none"; }

void run() {
  section("tour", [] {
    Tensor x = torch::tensor({1.0, 2.0, 3.0}, torch::requires_grad());
    Tensor a = x + 2, b = a.pow(2), c = b + 3, y = c.mean();
    report_text("tour.x", node(x));
    report_text("tour.a", node(a));
    report_text("tour.b", node(b));
    report_text("tour.c", node(c));
    report_text("tour.y", node(y));
    y.backward();
    report("tour.y", y);
    report("tour.grad", x.grad());
    report_value("leaf", x.is_leaf());
    report_value("leaf.a", a.is_leaf());
    report_value("requires", a.requires_grad());
    report_value("output_nr", static_cast<double>(a.output_nr()));
  });

  section("names", [] {
    const Tensor x = ramp({2, 3}, 0.5, 2).requires_grad_(), w = ramp({3, 2}).requires_grad_();
    const std::pair<const char*, Tensor> all[] = {
        {"mul", x * x},
        {"sub", x - 1},
        {"div", 1 / x},
        {"neg", -x},
        {"exp", x.exp()},
        {"log", x.log()},
        {"sqrt", x.sqrt()},
        {"sin", x.sin()},
        {"tanh", x.tanh()},
        {"sigmoid", x.sigmoid()},
        {"relu", torch::relu(x)},
        {"abs", x.abs()},
        {"pow2", x.pow(2)},
        {"powt", x.pow(x)},
        {"sum", x.sum()},
        {"sum1", x.sum(1)},
        {"mean", x.mean()},
        {"mean1", x.mean(1)},
        {"max", x.max()},
        {"mm", x.mm(w)},
        {"t", x.t()},
        {"transpose", x.transpose(0, 1)},
        {"view", x.view({6})},
        {"expand", x.unsqueeze(0).expand({2, 2, 3})},
        {"select", x[0]},
        {"slice", x.slice(0, 0, 1)},
        {"cat", torch::cat({x, x})},
        {"stack", torch::stack({x, x})},
        {"clone", x.clone()},
        {"softmax", x.softmax(1)},
        {"log_softmax", x.log_softmax(1)},
        {"index", x.index({torch::tensor({0})})},
        {"gather", x.gather(1, torch::tensor({{0}}))},
        {"where", torch::where(x > 1, x, x)},
        {"permute", x.permute({1, 0})},
        {"squeeze", x.unsqueeze(0).squeeze(0)},
        {"unsqueeze", x.unsqueeze(0)},
        {"prod", x.prod()},
        {"std", x.std()},
        {"var", x.var()},
        {"norm", x.norm()},
        {"clamp", x.clamp(0, 1)},
        {"cumsum", x.cumsum(0)},
        {"gelu", torch::gelu(x)},
        {"elu", torch::elu(x)},
        {"leaky", torch::leaky_relu(x)},
        {"linear", torch::linear(x, w.t(), ramp({2}))},
        {"nll", torch::nll_loss(x, torch::tensor({0, 1}))},
        {"mse", torch::mse_loss(x, x * 2)},
        {"to", x.to(torch::kFloat32)},
        {"maximum", torch::maximum(x, x * 1)},
        {"bmm", torch::bmm(x.unsqueeze(0), w.unsqueeze(0))},
    };
    for (const auto& [name, tensor] : all) report_text(std::string("name.") + name, node(tensor));
  });

  section("accumulate", [] {
    Tensor x = ramp({3}).requires_grad_();
    (x * x).sum().backward();
    (x * 3).sum().backward();
    report("accumulate", x.grad());
    x.mutable_grad().zero_();
    (x * x * x).sum().backward();
    report("after zero_", x.grad());
    x.mutable_grad() = Tensor();
    report_value("cleared", x.grad().defined());
    Tensor y = x * 2;
    y.backward(ramp({3}, 1, 2));
    report("seed", x.grad());
    Tensor z = (x + x * x + x).sum();
    z.backward();
    report("twice_in_one", x.grad());
  });

  section("grad", [] {
    Tensor x = ramp({3}).requires_grad_(), w = ramp({3}, 1, 2).requires_grad_();
    Tensor y = (x * w).sum();
    auto g = torch::autograd::grad({y}, {x, w});
    report("grad.x", g[0]);
    report("grad.w", g[1]);
    report_value("grad.untouched", x.grad().defined());
    Tensor h = x * w, z = (h * h).sum();
    report("grad.inner", torch::autograd::grad({z}, {h}, {}, true)[0]);
    report("grad.seeded", torch::autograd::grad({h}, {x}, {ramp({3}, 2, 3)}, true)[0]);
    report("grad.two", torch::autograd::grad({z, h.sum()}, {x})[0]);
    auto unused = torch::autograd::grad({(x * 2).sum()}, {x, w}, {}, false, false, true);
    report_value("grad.unused", unused[1].defined());
    report_error("grad.unused_error", [&] { torch::autograd::grad({(x * 2).sum()}, {x, w}); });
    torch::autograd::backward({(x * w).sum(), (x * 2).sum()}, {});
    report("backward.two", x.grad());
    torch::autograd::backward({x * w}, {torch::ones({3}, torch::kFloat64)});
    report("backward.seed", x.grad());
  });

  section("modes", [] {
    Tensor x = ramp({3}).requires_grad_();
    {
      torch::NoGradGuard guard;
      report_value("no_grad", (x * 2).requires_grad());
      report_value("no_grad.enabled", torch::GradMode::is_enabled());
      torch::AutoGradMode enable(true);
      report_value("nested", (x * 2).requires_grad());
    }
    report_value("restored", (x * 2).requires_grad());
    {
      torch::AutoGradMode off(false);
      report_value("auto", (x * 2).requires_grad());
    }
    {
      torch::InferenceMode guard;
      Tensor y = x * 2;
      report_value("inference", y.requires_grad());
      report_value("inference.flag", y.is_inference());
    }
    Tensor d = x.detach();
    report_value("detach", d.requires_grad());
    report_value("detach.shares", d.data_ptr() == x.data_ptr());
    Tensor y = x.detach() * x;
    y.sum().backward();
    report("detach.grad", x.grad());
    report_value("data", x.data().requires_grad());
    report_value("variable_data", x.variable_data().requires_grad());
  });

  section("leaves", [] {
    Tensor x = ramp({2, 2}).requires_grad_();
    Tensor y = x * 2;
    y.retain_grad();
    (y * y).sum().backward();
    report("retain_grad", y.grad());
    report_value("retains", y.retains_grad());
    Tensor frozen = ramp({2, 2});
    Tensor z = (x * frozen).sum();
    z.backward();
    report_value("frozen", frozen.grad().defined());
    Tensor s = torch::tensor(2.0, torch::requires_grad());
    (s * s * s).backward();
    report("scalar", s.grad());
    Tensor v = ramp({3}).requires_grad_();
    v.sum().backward();
    report("contiguous", v.grad());
    Tensor f = torch::ones({2}, torch::requires_grad());
    (f.to(torch::kFloat64) * 3).sum().backward();
    report("f32.grad", f.grad());
  });
}

const Program program("autograd_basics", run);

}  // namespace autograd_basics

// Views, in-place changes, versions, hooks, lifetime of the graph, custom functions.
namespace autograd_semantics {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

struct Cube : torch::autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, Tensor x, double scale) {
    ctx->save_for_backward({x});
    ctx->saved_data["scale"] = scale;
    return x * x * x * scale;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * 3 * x * x * ctx->saved_data["scale"].toDouble(), Tensor()};
  }
};

struct SumAndProduct : torch::autograd::Function<SumAndProduct> {
  static tensor_list forward(AutogradContext* ctx, const Tensor& a, const Tensor& b) {
    ctx->save_for_backward({a, b});
    return {a + b, a * b};
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {grads[0] + grads[1] * saved[1], grads[0] + grads[1] * saved[0]};
  }
};

struct Wrong : torch::autograd::Function<Wrong> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static tensor_list backward(AutogradContext*, tensor_list grads) { return {grads[0], grads[0], grads[0]}; }
};

struct Threshold : torch::autograd::Function<Threshold> {
  static tensor_list forward(AutogradContext* ctx, const Tensor& x) {
    Tensor mask = x > 0;
    ctx->mark_non_differentiable({mask});
    ctx->save_for_backward({mask});
    return {x * mask, mask};
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

void run() {
  section("graph_life", [] {
    Tensor x = ramp({3}).requires_grad_();
    Tensor y = (x * x).sum();
    y.backward();
    report_error("second", [&] { y.backward(); });
    Tensor z = (x * x).sum();
    z.backward({}, true);
    z.backward();
    report("retained", x.grad());
    Tensor w = (x + 1).sum();
    w.backward();
    report_error("nothing_saved", [&] { w.backward(); });
    report("nothing_saved", x.grad());
    report_error("not_scalar", [&] { (x * 2).backward(); });
    report_error("seed_shape", [&] { (x * 2).backward(torch::ones({2}, torch::kFloat64)); });
    report_error("no_grad", [&] { x.detach().sum().backward(); });
    report_error("int", [&] { torch::tensor({1, 2}).requires_grad_(); });
    report_error("non_leaf", [&] { (x * 2).requires_grad_(false); });
    report_error("retain.leaf", [&] { x.detach().retain_grad(); });
    report_value("leaf_after", x.is_leaf());
  });

  section("versions", [] {
    Tensor x = ramp({3}).requires_grad_();
    Tensor y = x * 2;
    report_value("version.0", static_cast<double>(y._version()));
    y.add_(1);
    report_value("version.1", static_cast<double>(y._version()));
    report_error("leaf.inplace", [&] { x.add_(1); });
    report_error("leaf.view", [&] { x.view({3, 1}).mul_(2); });
    report_error("leaf.slice", [&] { x.slice(0, 0, 1).zero_(); });
    report_error("saved", [&] {
      Tensor a = x * 2, b = a * a;
      a.add_(1);
      b.sum().backward();
    });
    report_error("saved.output", [&] {
      Tensor a = (x * 2).exp();
      a.mul_(2);
      a.sum().backward();
    });
    report_error("saved.not_needed", [&] {
      Tensor a = x * 2, b = a + 3;
      a.mul_(2);
      b.sum().backward();
    });
    report_error("saved.no_grad", [&] {
      Tensor a = x * 2, b = a * a;
      {
        torch::NoGradGuard guard;
        a.add_(1);
      }
      b.sum().backward();
    });
    report_error("saved.detach", [&] {
      Tensor a = x * 2, b = a * a;
      a.detach().add_(1);
      b.sum().backward();
    });
    report_error("saved.data", [&] {
      Tensor a = x * 2, b = a * a;
      a.data().add_(1);
      b.sum().backward();
    });
    report_error("saved.view", [&] {
      Tensor a = x * 2, b = a * a;
      a[0].zero_();
      b.sum().backward();
    });
    {
      torch::NoGradGuard guard;
      x.mul_(2);
    }
    report("leaf.no_grad", x);
    report_error("broadcast", [&] { torch::ones({1, 3}).add_(torch::ones({2, 3})); });
    report_error("expanded", [&] { torch::ones({1}).expand({3}).add_(torch::ones({3})); });
  });

  section("views", [] {
    Tensor x = ramp({2, 3}).requires_grad_();
    Tensor y = x * 1;
    y[0].mul_(3);
    (y * y).sum().backward();
    report("inplace.row", x.grad());
    Tensor a = ramp({2, 3}).requires_grad_();
    Tensor b = a * 1, c = b.view({6}), d = c.slice(0, 1, 5, 2);
    d.zero_();
    (b * a).sum().backward();
    report("view_of_view", a.grad());
    Tensor e = ramp({2, 3}).requires_grad_();
    Tensor f = e * 1, g = f.t();
    f.mul_(2);
    (g * g).sum().backward();
    report("base_later", e.grad());
    report_value("is_view", g.is_view());
    report_value("base", g._base().is_same(f));
    Tensor p = torch::zeros({3, 2}, torch::kFloat64), q = ramp({2}).requires_grad_();
    p[1] = q * q;
    p.select(0, 2).copy_(q);
    report_value("became", p.requires_grad());
    (p * p).sum().backward();
    report("assigned", q.grad());
    Tensor r = torch::zeros({2, 2}, torch::kFloat64), s = ramp({2}).requires_grad_();
    r.copy_(s);
    (r * ramp({2, 2})).sum().backward();
    report("copy.broadcast", s.grad());
    report_error("split.inplace", [&] {
      Tensor t = ramp({4}).requires_grad_(), u = t * 1;
      u.chunk(2)[0].mul_(2);
    });
    report_error("unbind.inplace", [&] {
      Tensor t = ramp({4}).requires_grad_(), u = t * 1;
      u.unbind()[0].mul_(2);
    });
    Tensor m = ramp({3}).requires_grad_();
    Tensor n = m * 1;
    Tensor view = n.view({3}), sum = (view * n).sum();
    sum.backward();
    report("both_used", m.grad());
  });

  section("hooks", [] {
    Tensor x = ramp({3}).requires_grad_();
    Tensor y = x * 2;
    y.register_hook([](Tensor grad) { return grad * 10; });
    y.register_hook([](Tensor grad) { return grad + 1; });
    y.sum().backward();
    report("hooks.order", x.grad());
    Tensor a = ramp({3}).requires_grad_();
    int calls = 0;
    const auto handle = a.register_hook([&calls](Tensor grad) {
      ++calls;
      return grad * 2;
    });
    (a * a).sum().backward();
    report("leaf.hook", a.grad());
    a.remove_hook(handle);
    a.sum().backward();
    report("leaf.removed", a.grad());
    report_value("hook.calls", calls);
    Tensor b = ramp({3}).requires_grad_();
    Tensor seen;
    Tensor c = b * b;
    c.register_hook([&seen](Tensor grad) { seen = grad; });
    (c * 3).sum().backward();
    report("hook.seen", seen);
    report_error("hook.no_grad", [] { ramp({2}).register_hook([](Tensor grad) { return grad; }); });
  });

  section("custom", [] {
    Tensor x = ramp({3}).requires_grad_();
    Tensor y = Cube::apply(x, 2.0);
    report("cube", y);
    y.sum().backward({}, true);
    report("cube.grad", x.grad());
    Tensor g = torch::autograd::grad({Cube::apply(x, 1.0).sum()}, {x}, {}, true, true)[0];
    report("cube.second", torch::autograd::grad({g.sum()}, {x})[0]);
    Tensor a = ramp({2}).requires_grad_(), b = ramp({2}, 1, 2).requires_grad_();
    auto outputs = SumAndProduct::apply(a, b);
    (outputs[0] * outputs[1]).sum().backward();
    report("two.a", a.grad());
    report("two.b", b.grad());
    auto one = SumAndProduct::apply(a, b);
    one[1].sum().backward();
    report("two.partial", a.grad());
    report_error("wrong.count", [&] { Wrong::apply(x).sum().backward(); });
    auto parts = Threshold::apply(x);
    report_value("mask.requires_grad", parts[1].requires_grad());
    Tensor t = ramp({3}).requires_grad_();
    Threshold::apply(t)[0].sum().backward();
    report("mask.grad", t.grad());
    report_value("constant", Cube::apply(ramp({2}), 1.0).requires_grad());
  });
}

const Program program("autograd_semantics", run);

}  // namespace autograd_semantics
