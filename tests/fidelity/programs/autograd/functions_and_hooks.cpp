// Custom functions, hooks, and concurrent threads.
#include "fidelity.h"

#include <thread>

// User-defined functions: contexts, views of arguments, in-place, several outputs, higher orders.
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

// Hooks on tensors and nodes: order, replacement, removal; retained gradients.
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
    // A hook gets the whole gradient once, for any number of uses.
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
    // Hooks that record the norm of the gradient of every layer.
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

// Concurrent threads: separate graphs, a shared leaf, the modes of each thread.
namespace threads {

void run() {
  section("threads", [] {
    Tensor shared = ramp({3}).requires_grad_();
    std::vector<Tensor> own(4);
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i)
      workers.emplace_back([&own, i] {
        Tensor x = ramp({3}, -1, 1, i).requires_grad_();
        for (int k = 0; k < 20; ++k) (x * x * (k + 1)).sum().backward();
        own[i] = x.grad();
      });
    for (auto& worker : workers) worker.join();
    for (int i = 0; i < 4; ++i) report("own" + std::to_string(i), own[i]);
    workers.clear();
    for (int i = 0; i < 4; ++i)
      workers.emplace_back([&shared] {
        for (int k = 0; k < 25; ++k) (shared * 0.5).sum().backward();
      });
    for (auto& worker : workers) worker.join();
    report("shared", shared.grad());
    torch::NoGradGuard guard;
    bool enabled = false;
    std::thread([&enabled] { enabled = torch::GradMode::is_enabled(); }).join();
    report_value("mode.other", enabled);
    report_value("mode.here", torch::GradMode::is_enabled());
  });
  section("one_graph", [] {
    Tensor x = ramp({4}).requires_grad_();
    Tensor y = (x.sin() * x).sum();
    std::vector<std::thread> workers;
    std::vector<Tensor> grads(3);
    for (int i = 0; i < 3; ++i)
      workers.emplace_back([&, i] { grads[i] = torch::autograd::grad({y}, {x}, {}, true)[0]; });
    for (auto& worker : workers) worker.join();
    for (int i = 0; i < 3; ++i) report("one_graph" + std::to_string(i), grads[i]);
  });
}

const Program program("threads", run);

}  // namespace threads
