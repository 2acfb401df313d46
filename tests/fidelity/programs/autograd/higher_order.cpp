// Derivatives of derivatives: Hessians, gradient penalties, a Newton step, third order.
#include "fidelity.h"

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
