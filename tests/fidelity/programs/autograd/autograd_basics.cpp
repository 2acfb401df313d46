// The everyday use of autograd, with the names of the nodes.
#include "fidelity.h"

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
