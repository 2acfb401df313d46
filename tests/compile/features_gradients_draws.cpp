// Features: derivatives, training steps, and functions that draw random numbers.
#include "features.h"

namespace twins {
namespace {

// The use of a leaf in one call.
using WithLeaf = std::vector<Tensor> (*)(const Tensor& w, const Tensor& x);

Tensor loss_of(const Tensor& w, const Tensor& x) { return (x.detach() * w).tanh().square().sum(); }

struct Scale : autograd::Function<Scale> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, const Tensor& by) {
    ctx->save_for_backward({x, by});
    return x * by;
  }
  static variable_list backward(autograd::AutogradContext* ctx, variable_list g) {
    const variable_list saved = ctx->get_saved_variables();
    return {g[0] * saved[1], (g[0] * saved[0]).sum(0)};
  }
};

}  // namespace

std::vector<Feature> gradient_features() {
  std::vector<Feature> all;
  const auto leaf = [&](const char* name, WithLeaf run, void (*between)(const Tensor& w, int call) = nullptr,
                        bool changes = false) {
    all.push_back({name,
                   [=] {
                     Instance i;
                     const Tensor w = numbers({kColumns}).requires_grad_();
                     i.run = [=](const Tensor& x) { return run(w, x); };
                     if (between) i.between = [=](int call) { between(w, call); };
                     i.more = [=] { return std::vector<Tensor>{w.detach(), w.grad()}; };
                     return i;
                   },
                   changes});
  };
  const WithLeaf accumulates = [](const Tensor& w, const Tensor& x) {
    const Tensor loss = loss_of(w, x);
    loss.backward();
    return std::vector<Tensor>{x * 0.5 + w.grad() * 1e-3, loss.detach()};
  };
  leaf("a gradient that is added to call after call", accumulates);
  leaf("a gradient that the caller drops between calls", accumulates,
       [](const Tensor& w, int) { w.mutable_grad().reset(); });
  leaf("a gradient that the caller sets to zero between calls", accumulates, [](const Tensor& w, int call) {
    if (w.grad().defined() && call % 2) w.mutable_grad().zero_();
  });
  leaf(
      "a gradient that the caller replaces", accumulates,
      [](const Tensor& w, int call) {
        if (call == kChange) w.mutable_grad() = full({kColumns}, 0.25);
      },
      true);
  leaf(
      "a leaf that the caller freezes",
      [](const Tensor& w, const Tensor& x) {
        const Tensor b = zeros({1}).requires_grad_(), loss = loss_of(w, x) * (b + 1).sum();
        return std::vector<Tensor>{x * 0.5, autograd::grad({loss}, {b})[0],
                                   w.requires_grad() ? loss.detach() : w * 2};
      },
      [](const Tensor& w, int call) { w.set_requires_grad(call < kChange); }, true);
  leaf("two backward calls over one graph, and one over another", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    const Tensor h = w * x.detach(), loss = h.square().sum(), other = h.exp().mean();
    loss.backward({}, true);
    loss.backward({}, true);
    other.backward();
    loss_of(w, x).backward();
    return std::vector<Tensor>{h.detach(), w.grad(), w.grad().narrow(0, 2, 3)};
  });
  leaf("a penalty on a gradient", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    const Tensor loss = loss_of(w, x), g = autograd::grad({loss}, {w}, {}, true, true)[0];
    (loss + g.square().sum()).backward();
    return std::vector<Tensor>{x * 0.5, g.detach()};
  });
  leaf("a checkpointed function that writes, and another one in it", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    const auto inner = [&](const Tensor& t) { return (t * w).exp(); };
    const auto outer = [&](const Tensor& t) {
      Tensor h = t * w;
      h.add_(h.tanh());
      return h.sin() * autograd::checkpoint(inner, h);
    };
    const Tensor y = autograd::checkpoint(outer, x.detach());
    y.square().sum().backward();
    return std::vector<Tensor>{y.detach()};
  });
  leaf("hooks on a leaf, on what is between and on its node", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    const unsigned handle = w.register_hook([](const Tensor& g) { return g * 2; });
    const Tensor h = w * x.detach();
    h.register_hook([](const Tensor& g) { return g.clamp(-1, 1); });
    autograd::add_post_hook(*h.grad_fn(), [](const variable_list& in, const variable_list&) {
      variable_list out = in;
      for (Tensor& g : out)
        if (g.defined()) g = g + 1;
      return out;
    });
    h.square().sum().backward();
    w.remove_hook(handle);
    return std::vector<Tensor>{h.detach()};
  });
  leaf("kept gradients as results", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    const Tensor h = w * x.detach(), k = h.tanh();
    h.retain_grad();
    k.sum().backward();
    return std::vector<Tensor>{h.grad(), k.detach(), h.grad().select(1, 1), w.grad() * 1};
  });
  leaf("regions without gradients and in inference mode", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    Tensor scale;
    {
      const NoGradGuard no_grad;
      scale = (w * 2).abs() + 1;
      w.mul_(0.99);
    }
    {
      const InferenceMode inference;
      (void)(x * 3).sum();
    }
    const Tensor loss = (w / scale * x.detach()).square().sum();
    loss.backward();
    return std::vector<Tensor>{x / scale, loss.detach()};
  });
  leaf("a region of autocast", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    Tensor y;
    {
      const amp::autocast scope(kCPU, kBFloat16);
      y = mm(x.detach(), w.unsqueeze(1).expand({kColumns, kColumns}));
    }
    y.to(kFloat).square().mean().backward();
    return std::vector<Tensor>{y.detach().to(kFloat), y.detach()};
  });
  leaf("leaves of its own, one of which gets no gradient", [](const Tensor& w, const Tensor& x) {
    const Tensor a = x.detach().clone().requires_grad_(), b = ones({kColumns}).requires_grad_();
    const Tensor unused = ones({2}).requires_grad_();
    const variable_list g = autograd::grad({(a * b * w).square().sum()}, {a, b, unused}, {}, {}, false, true);
    return std::vector<Tensor>{g[0] * 0.1, g[1], g[2]};
  });
  leaf("leaves that get the same gradient", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    const Tensor a = zeros({kColumns}).requires_grad_();
    ((a + w) * x.detach()).sum().backward();
    w.grad().mul_(2);
    return std::vector<Tensor>{x + a.grad(), a.grad()};
  });
  leaf("an upstream gradient that is expanded, and one that is an argument",
       [](const Tensor& w, const Tensor& x) {
         w.mutable_grad().reset();
         const Tensor y = (w * x.detach()).square();
         y.sum(0, true).expand({3, kColumns}).sum().backward({}, true);
         y.backward(x.detach());
         return std::vector<Tensor>{y.detach()};
       });
  leaf("a function of the program's own", [](const Tensor& w, const Tensor& x) {
    w.mutable_grad().reset();
    const Tensor y = Scale::apply(x.detach().tanh(), w);
    y.square().sum().backward();
    return std::vector<Tensor>{y.detach()};
  });
  return all;
}

std::vector<Feature> training_features() {
  std::vector<Feature> all;
  struct Fit {
    nn::Sequential net;
    std::unique_ptr<optim::Optimizer> optimizer;
  };
  using MakeFit = std::function<std::shared_ptr<Fit>()>;
  const auto train = [&](const char* name, const MakeFit& make, bool to_none = true,
                         void (*between)(Fit&, int) = nullptr, bool changes = false) {
    all.push_back({name,
                   [=] {
                     const auto fit = make();
                     Instance i;
                     i.run = [=](const Tensor& x) {
                       fit->optimizer->zero_grad(to_none);
                       const Tensor y = fit->net(x.detach().tanh()), loss = y.square().mean();
                       loss.backward();
                       fit->optimizer->step();
                       return std::vector<Tensor>{y.detach() * 1, loss.detach()};
                     };
                     if (between) i.between = [=](int call) { between(*fit, call); };
                     i.more = [=] {
                       std::vector<Tensor> state = fit->net->buffers();
                       for (const Tensor& p : fit->net->parameters()) {
                         state.push_back(p.detach());
                         state.push_back(p.grad());
                       }
                       return state;
                     };
                     return i;
                   },
                   changes});
  };
  const auto dense = [] {
    nn::Sequential net(nn::Linear(kColumns, 12), nn::ReLU(), nn::Linear(12, kColumns));
    const NoGradGuard no_grad;
    for (const Tensor& p : net->parameters()) p.copy_(numbers(p.sizes(), 0.4));
    return net;
  };
  const auto normed = [] {
    return nn::Sequential(nn::BatchNorm1d(kColumns), nn::Tanh(),
                          nn::LayerNorm(nn::LayerNormOptions({kColumns})));
  };
  const auto groups = [](const nn::Sequential& net, auto options, double second) {
    std::vector<optim::OptimizerParamGroup> list;
    for (const Tensor& p : net->parameters()) {
      auto own = options.clone();
      own->set_lr(list.empty() ? options.get_lr() : second);
      list.emplace_back(std::vector<Tensor>{p}, std::move(own));
    }
    return list;
  };
  const MakeFit sgd = [=] {
    auto fit = std::make_shared<Fit>(Fit{dense(), nullptr});
    const auto options = optim::SGDOptions(0.05).momentum(0.9).weight_decay(0.01);
    fit->optimizer = std::make_unique<optim::SGD>(groups(fit->net, options, 0.01), options);
    return fit;
  };
  const MakeFit adam = [=] {
    auto fit = std::make_shared<Fit>(Fit{dense(), nullptr});
    const optim::AdamOptions options(0.01);
    fit->optimizer = std::make_unique<optim::Adam>(groups(fit->net, options, 0.002), options);
    return fit;
  };
  const MakeFit norms = [=] {
    auto fit = std::make_shared<Fit>(Fit{normed(), nullptr});
    fit->optimizer = std::make_unique<optim::SGD>(fit->net->parameters(), optim::SGDOptions(0.1));
    return fit;
  };
  train("training with groups of parameters and gradients set to zero", sgd, false);
  train("training with rates that change between calls", adam, true, [](Fit& fit, int call) {
    auto& options = fit.optimizer->param_groups()[static_cast<std::size_t>(call % 3)].options();
    options.set_lr(options.get_lr() * 0.8);
  });
  train("training with running statistics", norms);
  train(
      "training whose modules evaluate from some call on", norms, true,
      [](Fit& fit, int call) { fit.net->train(call < kChange); }, true);
  train(
      "training whose weight is replaced", sgd, true,
      [](Fit& fit, int call) {
        if (call == kChange) fit.net->parameters()[0].set_data(numbers({12, kColumns}, 0.2));
      },
      true);
  train(
      "training with a weight that is frozen from some call on", adam, true,
      [](Fit& fit, int call) { fit.net->parameters()[2].set_requires_grad(call < kChange); }, true);
  return all;
}

std::vector<Feature> draw_features() {
  std::vector<Feature> all;
  const auto add = [&](const char* name, std::function<Instance()> make, bool changes = false) {
    all.push_back({name, std::move(make), changes, true});
  };
  add("two draws of one kind", [] {
    Instance i;
    i.run = [](const Tensor& x) {
      const Tensor a = rand_like(x), b = rand_like(x);
      return std::vector<Tensor>{x * 0.5 + a - b, a, b};
    };
    return i;
  });
  add("draws of several kinds and sizes", [] {
    Instance i;
    const Tensor weights = rand({3, 11}) + 0.1;
    i.run = [=](const Tensor& x) {
      const Tensor order = randperm(kColumns), one = randn({1}), few = randn({17}), u = rand({5, 3});
      const Tensor coins = bernoulli(full({9, 7}, 0.3)), dice = randint(9, {33});
      const Tensor picked = multinomial(weights, 4, true), waits = empty({6}).exponential_(2.0);
      return std::vector<Tensor>{
          x.index_select(1, order) + one, few, u, coins, dice, picked, waits, rand({0})};
    };
    return i;
  });
  add("draws into parts of a captured tensor", [] {
    Instance i;
    const Tensor buffer = zeros({6, kColumns});
    i.run = [=](const Tensor& x) {
      buffer.narrow(0, 1, 2).normal_(1, 2);
      buffer.select(1, 3).uniform_(-1, 1);
      buffer.narrow(1, 5, 2).bernoulli_(0.4);
      return std::vector<Tensor>{x * 0.5 + buffer[1], buffer.narrow(0, 2, 2)};
    };
    i.kept = {buffer};
    return i;
  });
  add("draws from a captured generator that is seeded between calls", [] {
    Instance i;
    Generator own(7);
    i.run = [=](const Tensor& x) {
      const Tensor a = normal(x, 0.5, own), b = empty_like(x).uniform_(0, 1, own);
      return std::vector<Tensor>{a * b, randn({2, 3})};
    };
    i.between = [=](int call) mutable {
      if (call % 3 == 1) own.manual_seed(static_cast<std::uint64_t>(call));
    };
    return i;
  });
  add("draws while the caller draws and seeds between calls", [] {
    Instance i;
    const Tensor seen = zeros({3});
    i.run = [=](const Tensor& x) { return std::vector<Tensor>{x + randn({kColumns}), seen + rand({3})}; };
    i.between = [=](int call) {
      if (call % 4 == 3) manual_seed(static_cast<std::uint64_t>(100 + call));
      seen.copy_(randn({3}));
    };
    i.kept = {seen};
    return i;
  });
  add("dropout twice, and its gradients", [] {
    Instance i;
    const Tensor w = numbers({kColumns}).requires_grad_();
    i.run = [=](const Tensor& x) {
      w.mutable_grad().reset();
      const Tensor h = dropout(x.detach() * w, 0.3, true), k = dropout(h + 1, 0.6, true);
      (h * k).sum().backward();
      return std::vector<Tensor>{k.detach(), h.detach()};
    };
    i.more = [=] { return std::vector<Tensor>{w.grad()}; };
    return i;
  });
  add(
      "dropout in training, and no draw once the module evaluates",
      [] {
        Instance i;
        nn::Dropout layer(0.5);
        i.run = [=](const Tensor& x) mutable {
          const NoGradGuard no_grad;
          return std::vector<Tensor>{layer->forward(x), rand({2})};
        };
        i.between = [=](int call) mutable { layer->train(call < kChange); };
        return i;
      },
      true);
  return all;
}

}  // namespace twins
