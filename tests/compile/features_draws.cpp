// Features: functions that draw random numbers.
#include "features.h"

namespace twins {

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
