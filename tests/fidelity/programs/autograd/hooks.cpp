// Hooks on tensors and nodes: order, replacement, removal; retained gradients.
#include "fidelity.h"

namespace hooks {

void run() {
  section("order", [] {
    Tensor x = ramp({3}).requires_grad_();
    std::string seen;
    Tensor y = x * 2, z = y.sin();
    z.register_hook([&](Tensor) { seen += "z"; });
    y.register_hook([&](Tensor) { seen += "a"; });
    y.register_hook([&](Tensor) { seen += "b"; });
    x.register_hook([&](Tensor) { seen += "x"; });
    y.retain_grad();
    z.sum().backward();
    report_text("order", seen);
    report("order.y", y.grad());
    report("order.x", x.grad());
  });

  section("replace", [] {
    Tensor x = ramp({3}).requires_grad_();
    Tensor y = x * x;
    y.register_hook([](Tensor g) { return g * 2; });
    y.register_hook([](Tensor g) { return g + 1; });
    y.register_hook([](Tensor g) { return g * 10; });
    y.retain_grad();
    (y * 3).sum().backward();
    report("replace.y", y.grad());
    report("replace.x", x.grad());
    Tensor w = ramp({3}).requires_grad_();
    w.register_hook([](Tensor g) { return g.clamp(-0.1, 0.1); });
    w.square().sum().backward();
    w.square().sum().backward();
    report("replace.leaf", w.grad());
  });

  section("remove", [] {
    Tensor x = ramp({2}).requires_grad_();
    int calls = 0;
    Tensor y = x * 2;
    const auto first = y.register_hook([&](Tensor g) { return ++calls, g * 100; });
    y.register_hook([&](Tensor g) { return ++calls, g * 2; });
    y.sum().backward({}, true);
    y.remove_hook(first);
    y.sum().backward();
    report("remove.x", x.grad());
    report_value("remove.calls", calls);
    report_error("remove.unknown", [&] { y.remove_hook(17); });
    report_error("hook.no_grad", [] { ramp({2}).register_hook([](Tensor g) { return g; }); });
  });

  section("several", [] {
    // A hook sees the whole gradient, once, however many uses there are.
    Tensor x = ramp({2}).requires_grad_();
    Tensor y = x * 2;
    int calls = 0;
    y.register_hook([&](Tensor g) {
      ++calls;
      report("several.seen", g);
    });
    (y.sin() + y * y + y).sum().backward();
    report_value("several.calls", calls);
    report("several.x", x.grad());
  });

  section("grad_call", [] {
    Tensor x = ramp({2}).requires_grad_();
    Tensor y = x * x;
    int calls = 0;
    y.register_hook([&](Tensor g) { return ++calls, g * 3; });
    const auto found = torch::autograd::grad({y.sum()}, {x});
    report("grad_call", found[0]);
    report_value("grad_call.calls", calls);
    report_value("grad_call.untouched", !x.grad().defined());
    Tensor z = (x * 2).exp();
    report("grad_call.inner", torch::autograd::grad({z.square().sum()}, {z})[0]);
  });

  section("second_order", [] {
    Tensor x = ramp({3}).requires_grad_();
    Tensor y = x.pow(3);
    y.register_hook([](Tensor g) { return g * g; });
    const Tensor first = torch::autograd::grad({(y * 2).sum()}, {x}, {}, torch::nullopt, true)[0];
    report("second_order.first", first);
    report("second_order.second", torch::autograd::grad({first.sum()}, {x})[0]);
  });

  section("in_place", [] {
    Tensor x = ramp({3}).requires_grad_();
    Tensor y = x * 2;
    y.retain_grad();
    y.mul_(3);
    y.sin().sum().backward();
    report("in_place.y", y.grad());
    report("in_place.x", x.grad());
    Tensor a = ramp({2, 2}).requires_grad_();
    Tensor b = a * 1, row = b[0];
    row.retain_grad();
    row.square().sum().backward();
    report("in_place.row", row.grad());
    report_value("in_place.b", b.retains_grad());
  });

  section("nodes", [] {
    Tensor x = ramp({2}).requires_grad_();
    Tensor y = (x * 2).tanh(), z = y.sum();
    std::string names;
    auto node = z.grad_fn();
    while (node && node->num_outputs()) {  // an accumulator has no outputs
      names += node->name() + " ";
      node = node->next_edge(0).function;
    }
    report_text("nodes", names);
    report_value("nodes.inputs", static_cast<double>(y.grad_fn()->num_inputs()));
    report_value("nodes.edges", static_cast<double>(y.grad_fn()->next_edges().size()));
    report_value("nodes.leaf", x.grad_fn() == nullptr);
    report_value("nodes.output", static_cast<double>((x * 2).output_nr()));
  });

  section("threaded_through", [] {
    // Hooks that record the norm of every layer's gradient.
    torch::nn::Linear first(3, 3), second(3, 1);
    std::vector<double> norms;
    {
      torch::NoGradGuard guard;
      for (auto* layer : {&first, &second})
        for (auto& p : (*layer)->parameters()) p.copy_(ramp(p.sizes().vec()));
    }
    for (auto* layer : {&first, &second})
      (*layer)->weight.register_hook([&](Tensor g) { norms.push_back(g.norm().item<double>()); });
    second(first(ramp({4, 3}).to(torch::kFloat32)).tanh()).square().mean().backward();
    for (size_t i = 0; i < norms.size(); ++i)
      report("norm" + std::to_string(i), torch::tensor(static_cast<float>(norms[i])));
  });
}

const Program program("hooks", run);

}  // namespace hooks
