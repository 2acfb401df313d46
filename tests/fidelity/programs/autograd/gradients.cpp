// Gradients by autograd::grad(), and gradients of gradients.
#include "fidelity.h"

// The arguments of backward() and autograd::grad, one by one, and invalid arguments.
namespace grad_options {

using torch::autograd::grad;

void run() {
  const Tensor at = ramp({3}, 0.5, 2);

  section("backward", [&] {
    Tensor x = at.clone().requires_grad_(), y = at.clone().requires_grad_();
    Tensor z = (x * y).sum();
    z.backward({}, /*retain_graph=*/true);
    z.backward(torch::tensor(2.0, torch::kFloat64), true);
    report("twice.x", x.grad());
    z.backward({}, false, false, std::vector<Tensor>{y});
    report("inputs.x", x.grad());
    report("inputs.y", y.grad());
    report_error("freed", [&] { z.backward(); });
    Tensor w = x * y;
    w.backward(torch::full({3}, 0.5, torch::kFloat64));
    report("seed.x", x.grad());
    report_error("seed.missing", [&] { (x * y).backward(); });
    report_error("seed.shape", [&] { (x * y).backward(torch::ones({2}, torch::kFloat64)); });
    report_error("seed.one", [&] { (x * y).backward(torch::ones({1}, torch::kFloat64)); });
    report_error("inputs.empty", [&] { (x * y).sum().backward({}, false, false, std::vector<Tensor>{}); });
    Tensor v = (x * x).sum();
    x.mutable_grad() = Tensor();
    v.backward({}, torch::nullopt, true);
    report_value("create.requires", x.grad().requires_grad());
    report("create.second", grad({x.grad().sum()}, {x})[0]);
    x.mutable_grad() = Tensor();
    Tensor one = x.square().sum().reshape({1, 1});
    one.backward();
    report("one_element", x.grad());
    torch::autograd::backward({(x * 2).sum(), (x * y).sum()}, {});
    report("two_roots", x.grad());
    torch::autograd::backward({x * 2}, {torch::ones({3}, torch::kFloat64)});
    report("root_seed", x.grad());
    x.backward(torch::ones({3}, torch::kFloat64));
    report("leaf_root", x.grad());
  });

  section("grad", [&] {
    Tensor x = at.clone().requires_grad_(), y = ramp({3}, 1, 2).requires_grad_(),
           unused = at.clone().requires_grad_();
    Tensor z = x * y, inner = z.sin();
    report("simple", grad({z.sum()}, {x}, {}, true)[0]);
    const auto both = grad({inner.sum()}, {x, z}, {}, true);
    report("both.x", both[0]);
    report("both.z", both[1]);
    report("seeded", grad({z}, {y}, {at}, true)[0]);
    const auto many = grad({z, inner}, {x, y}, {at, torch::ones({3}, torch::kFloat64)}, true);
    report("many.x", many[0]);
    report("many.y", many[1]);
    report("half_seeded", grad({z, inner.sum()}, {x}, {at, Tensor()}, true)[0]);
    const auto allowed = grad({z.sum()}, {unused, x}, {}, true, false, /*allow_unused=*/true);
    report_value("allowed.undefined", allowed[0].defined());
    report("allowed.x", allowed[1]);
    report_error("unused", [&] { grad({z.sum()}, {unused}, {}, true); });
    report_error("no_graph", [&] { grad({at.sum()}, {x}); });
    report_error("input_no_grad", [&] { grad({z.sum()}, {at}); });
    report_error("int_seed", [&] { grad({z}, {x}, {torch::ones({3}, torch::kLong)}, true); });
    report("self", grad({x}, {x}, {at}, true)[0]);
    report("same_twice", grad({(x * x).sum()}, {x, x}, {}, true)[1]);
    report_value("no_accumulate", x.grad().defined());
    const Tensor plain = grad({(x * x).sum()}, {x})[0],
                 graph = grad({(x * x).sum()}, {x}, {}, torch::nullopt, true)[0];
    report_value("plain.requires", plain.requires_grad());
    report_value("graph.requires", graph.requires_grad());
  });

  section("orders", [&] {
    Tensor x = at.clone().requires_grad_();
    Tensor value = (x.pow(5) + x.sin() * x).sum();
    for (int order = 1; order <= 5; ++order) {
      value = grad({value}, {x}, {}, torch::nullopt, true)[0];
      report("order" + std::to_string(order), value);
      value = value.sum();
    }
  });

  section("matrices", [&] {
    Tensor x = at.clone().requires_grad_();
    auto f = [](const Tensor& t) { return t.prod() + (t * t).sum().sin(); };
    const Tensor first = grad({f(x)}, {x}, {}, true, true)[0];
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < 3; ++i) rows.push_back(grad({first[i]}, {x}, {}, true)[0]);
    report("hessian", torch::stack(rows));
    const Tensor direction = ramp({3}, -1, 1, 2.0);
    report("hessian_vector", grad({(first * direction).sum()}, {x})[0]);
    // Jacobian-vector product, computed by differentiating the backward pass with respect to its seed.
    Tensor u = torch::ones({3}, torch::kFloat64).requires_grad_();
    const Tensor back = grad({x.exp() * x.sum()}, {x}, {u}, true, true)[0];
    report("jacobian_vector", grad({back}, {u}, {direction})[0]);
    // A gradient penalty in training.
    Tensor w = ramp({3, 3}).requires_grad_();
    const Tensor out = at.unsqueeze(0).requires_grad_().mm(w).tanh();
    Tensor input = at.clone().requires_grad_();
    const Tensor slope = grad({input.unsqueeze(0).mm(w).tanh().sum()}, {input}, {}, true, true)[0];
    ((slope.norm() - 1).square() + out.sum()).backward();
    report("penalty", w.grad());
  });

  section("accumulation", [&] {
    Tensor x = at.clone().requires_grad_();
    x.square().sum().backward();
    const Tensor held = x.grad();
    x.square().sum().backward();
    report("held", held);  // accumulated in place
    x.mutable_grad().zero_();
    report("zeroed", x.grad());
    x.mutable_grad().reset();
    report_value("reset", x.grad().defined());
    x.mutable_grad() = torch::full({3}, 2.0, torch::kFloat64);
    (x * 3).sum().backward();
    report("given", x.grad());
    report_error("grad.shape", [&] {
      Tensor y = at.clone().requires_grad_();
      y.mutable_grad() = torch::ones({2}, torch::kFloat64);
      y.sum().backward();
    });
    Tensor half = torch::ones({2}, torch::kFloat32).requires_grad_();
    (half.to(torch::kFloat64) * 3).sum().backward();
    report("converted", half.grad());
    Tensor row = ramp({1, 3}).requires_grad_();
    (row + ramp({4, 3})).sum().backward();
    report("broadcast", row.grad());
    Tensor zero = torch::zeros({0, 2}, torch::kFloat64).requires_grad_();
    zero.sum().backward();
    report("empty", zero.grad());
  });

  section("modes", [&] {
    Tensor x = at.clone().requires_grad_();
    {
      torch::NoGradGuard none;
      report_value("none", (x * 2).requires_grad());
      torch::AutoGradMode on(true);
      report_value("on", (x * 2).requires_grad());
      torch::AutoGradMode off(false);
      report_value("off", torch::GradMode::is_enabled());
    }
    report_value("back", torch::GradMode::is_enabled());
    try {
      torch::NoGradGuard none;
      throw std::runtime_error("out");
    } catch (const std::exception&) {
    }
    report_value("after_throw", torch::GradMode::is_enabled());
    Tensor made;
    {
      torch::InferenceMode mode;
      made = x * 2;
      report_value("inference", made.is_inference());
      report_value("inference.requires", made.requires_grad());
      made.add_(1);
    }
    report("inference.cloned", made.clone() * x);
    report_error("inference.saved", [&] { (made * x).sum().backward(); });
    report_value("inference.used", (made + 1).is_inference());
    report_error("inference.written", [&] { made.add_(1); });
    report_value("int", (torch::ones({2}, torch::kLong) * x[0]).requires_grad());
    report_value("compare", (x > 0).requires_grad());
    report_value("argmax", x.argmax().requires_grad());
    report_value("detach", x.detach().requires_grad());
    report_value("zeros_like", torch::zeros_like(x).requires_grad());
    report_value("to_int", x.to(torch::kLong).requires_grad());
  });
}

const Program program("grad_options", run);

}  // namespace grad_options

// Higher derivatives: Hessians, gradient penalties, a Newton step, third order.
namespace higher_order {

Tensor gradient(const Tensor& y, const Tensor& x) {
  return torch::autograd::grad({y}, {x}, {}, true, true)[0];
}

void run() {
  section("third", [] {
    Tensor x = ramp({4}).requires_grad_();
    Tensor y = (x.pow(4) + x.sin() * x.exp() + torch::tanh(x * 2)).sum();
    Tensor first = gradient(y, x), second = gradient(first.sum(), x), third = gradient(second.sum(), x);
    report("first", first);
    report("second", second);
    report("third", third);
    report("fourth", gradient(third.sum(), x));
  });

  section("hessian", [] {
    Tensor x = ramp({3}, 0.5, 2).requires_grad_();
    Tensor y = (x[0] * x[1] * x[2] + x.pow(3).sum() + (x[0] / x[2]).log());
    Tensor first = gradient(y, x);
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < 3; ++i) rows.push_back(gradient(first[i], x));
    report("hessian", torch::stack(rows));
    const Tensor v = ramp({3});
    report("hvp", torch::autograd::grad({first}, {x}, {v}, true)[0]);
    report("hvp.dot", torch::autograd::grad({(first * v).sum()}, {x})[0]);
  });

  section("jvp", [] {
    // The double-backward trick: differentiate the vector-Jacobian product with respect to its vector.
    Tensor x = ramp({3}).requires_grad_(), u = torch::zeros({2}, torch::kFloat64).requires_grad_();
    Tensor y = torch::stack({x[0] * x[1], x[2].exp() * x[0]});
    Tensor vjp = torch::autograd::grad({y}, {x}, {u}, true, true)[0];
    report("jvp", torch::autograd::grad({vjp}, {u}, {ramp({3}, 1, 2)})[0]);
  });

  section("penalty", [] {
    torch::nn::Linear first(3, 4), second(4, 1);
    first->to(torch::kFloat64);
    second->to(torch::kFloat64);
    {
      torch::NoGradGuard guard;
      first->weight.copy_(ramp({4, 3}));
      first->bias.copy_(ramp({4}));
      second->weight.copy_(ramp({1, 4}, -1, 1, 1.2));
      second->bias.zero_();
    }
    Tensor x = ramp({5, 3}, -1, 1, 0.9).requires_grad_();
    Tensor out = second->forward(torch::tanh(first->forward(x)));
    Tensor slope = torch::autograd::grad({out}, {x}, {torch::ones_like(out)}, true, true)[0];
    Tensor penalty = (slope.norm(2, 1) - 1).pow(2).mean();
    (out.mean() + penalty * 10).backward();
    report("penalty", penalty);
    report("penalty.weight", first->weight.grad());
    report("penalty.bias", first->bias.grad());
    report("penalty.out", second->weight.grad());
    report("penalty.x", x.grad());
  });

  section("create_graph", [] {
    Tensor x = ramp({3}).requires_grad_();
    (x * x * x).sum().backward({}, true, true);
    Tensor g = x.grad();
    report_value("grad.requires_grad", g.requires_grad());
    Tensor again = torch::autograd::grad({g.sum()}, {x})[0];
    report("again", again);
    x.mutable_grad() = Tensor();
  });

  section("unrolled", [] {
    // Differentiating through three steps of gradient descent.
    Tensor rate = torch::tensor(0.1, torch::kFloat64).requires_grad_();
    Tensor w = ramp({2}, 0.5, 1).requires_grad_();
    Tensor current = w;
    for (int step = 0; step < 3; ++step) {
      Tensor loss = (current.pow(4) - current * 2).sum();
      current = current - rate * torch::autograd::grad({loss}, {current}, {}, true, true)[0];
    }
    current.sum().backward();
    report("unrolled.rate", rate.grad());
    report("unrolled.w", w.grad());
  });

  section("newton", [] {
    Tensor x = torch::tensor({1.5}, torch::kFloat64).requires_grad_();
    for (int step = 0; step < 5; ++step) {
      Tensor f = x.pow(3) - 2 * x - 5;
      Tensor slope = gradient(f, x);
      x = (x - f / slope).detach().requires_grad_();
    }
    report("newton", x);
  });

  section("through_ops", [] {
    Tensor a = ramp({2, 3}).requires_grad_(), b = ramp({3, 2}).requires_grad_();
    Tensor z = torch::softmax(a.mm(b), 1).log().sum();
    Tensor ga = gradient(z, a), gb = gradient(z, b);
    Tensor mixed = (ga.pow(2).sum() + gb.pow(2).sum());
    mixed.backward();
    report("mixed.a", a.grad());
    report("mixed.b", b.grad());
    Tensor image = ramp({1, 2, 4, 4}).requires_grad_(),
           kernel = ramp({2, 2, 3, 3}, -1, 1, 0.8).requires_grad_();
    Tensor energy = torch::tanh(torch::conv2d(image, kernel, {}, 1, 1)).sum();
    Tensor gi = gradient(energy, image);
    gi.square().sum().backward();
    report("conv.image", image.grad());
    report("conv.kernel", kernel.grad());
  });
}

const Program program("higher_order", run);

}  // namespace higher_order
