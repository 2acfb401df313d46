// Compiled training steps are bitwise equal to eager ones.
#include "twins.h"

using namespace twins;

namespace {

template <class O, class Options>
MakeOptimizer make(const Options& options) {
  return [=](const std::vector<Tensor>& parameters) { return std::make_unique<O>(parameters, options); };
}

struct Case {
  const char* name;
  MakeOptimizer make;
  bool replayed = true;
};

const std::vector<Case>& cases() {
  using namespace ebb::optim;
  static const std::vector<Case> all = {
      {"SGD", make<SGD>(SGDOptions(0.1))},
      {"SGD with momentum", make<SGD>(SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.01))},
      {"Adam", make<Adam>(AdamOptions(0.01))},
      {"Adam with amsgrad", make<Adam>(AdamOptions(0.01).amsgrad(true))},
      {"AdamW", make<AdamW>(AdamWOptions(0.01))},
      {"AdamW that climbs", make<AdamW>(AdamWOptions(0.01).maximize(true))},
      {"RMSprop", make<RMSprop>(RMSpropOptions(0.01).centered(true).momentum(0.5))},
      {"Adagrad", make<Adagrad>(AdagradOptions(0.05).lr_decay(0.1))},
      {"NAdam", make<NAdam>(NAdamOptions(0.01))},
      {"RAdam", make<RAdam>(RAdamOptions(0.01))},
      {"Adamax", make<Adamax>(AdamaxOptions(0.01))},
      {"Adadelta", make<Adadelta>(AdadeltaOptions(1.0))},
      {"ASGD", make<ASGD>(ASGDOptions(0.05))},
      {"Rprop", make<Rprop>(RpropOptions(0.01))},
      {"Lion", make<Lion>(LionOptions(0.001))},
      {"Adafactor", make<Adafactor>(AdafactorOptions(0.01)), false},
  };
  return all;
}

}  // namespace

TEST_CASE(
    "a compiled step of every optimizer is bitwise equal to an eager step when the learning rate changes") {
  const Case& each = GENERATE(from_range(cases()));
  INFO(each.name);
  const Warnings warnings;
  manual_seed(3);
  Training eager(perceptron(), each.make);
  manual_seed(3);
  Training compiled(perceptron(), each.make);
  auto step = compile([&](const Tensor& x, const Tensor& y) { return compiled.step(x, y); });
  for (int t = 0; t < 14; ++t) {
    const Tensor x = randn({8, 6}), y = randint(3, {8}, kLong);
    for (Training* training : {&eager, &compiled}) {
      auto& options = training->optimizer->param_groups()[0].options();
      if (t % 3 == 2) options.set_lr(options.get_lr() * 0.7);
    }
    const Tensor expected = eager.step(x, y), got = step(x, y);
    INFO("step " << t);
    REQUIRE(same_bits(got, expected.detach()));
    require_same(compiled.state(), eager.state());
  }
  INFO(step.report().reason);
  CHECK(step.report().replayed == each.replayed);
  CHECK(warnings.texts.size() == (each.replayed ? 0 : 1));
  if (each.replayed) CHECK(step.report().replays >= 9);
}

TEST_CASE("dropout, randn and bernoulli draw the same random numbers in replays as in eager calls") {
  const auto sgd = make<optim::SGD>(optim::SGDOptions(0.1));
  manual_seed(3);
  Training eager(perceptron(0.4), sgd);
  manual_seed(3);
  Training compiled(perceptron(0.4), sgd);
  const auto noisy = [](Training& training, const Tensor& x, const Tensor& y) {
    const Tensor noise = randn(x.sizes()) * 0.1 + bernoulli(full(x.sizes(), 0.1));
    return training.step(x + noise, y);
  };
  auto step = compile([&](const Tensor& x, const Tensor& y) { return noisy(compiled, x, y); });
  std::vector<Tensor> expected, got;
  std::vector<std::pair<Tensor, Tensor>> data;
  for (int t = 0; t < 8; ++t) data.emplace_back(randn({8, 6}), randint(3, {8}, kLong));
  manual_seed(11);
  for (const auto& [x, y] : data) expected.push_back(noisy(eager, x, y).detach());
  const Tensor after = randn({3});
  manual_seed(11);
  for (const auto& [x, y] : data) got.push_back(step(x, y).detach());
  require_replays(step, 4);
  require_same(got, expected);
  require_same(compiled.state(), eager.state());
  CHECK(same_bits(randn({3}), after));
}

TEST_CASE("dropout in scaled_dot_product_attention draws new random numbers in every replay") {
  const auto attend = [](const Tensor& q) { return scaled_dot_product_attention(q, q, q, {}, 0.3); };
  auto compiled = compile(attend);
  const Tensor q = randn({1, 2, 9, 4});
  std::vector<Tensor> expected, got;
  manual_seed(5);
  for (int t = 0; t < 6; ++t) expected.push_back(attend(q));
  manual_seed(5);
  for (int t = 0; t < 6; ++t) got.push_back(compiled(q));
  require_replays(compiled, 2);
  require_same(got, expected);
  CHECK_FALSE(equal(got[4], got[5]));
}

TEST_CASE(
    "a compiled step of a network with batch norm has bitwise equal results and buffers to an eager step") {
  const auto build = [] {
    manual_seed(4);
    return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 4, 3)), nn::BatchNorm2d(4), nn::ReLU(),
                          nn::MaxPool2d(2), nn::Flatten(), nn::Linear(36, 3));
  };
  const auto adam = make<optim::Adam>(optim::AdamOptions(0.01));
  Training eager(build(), adam), compiled(build(), adam);
  auto step = compile([&](const Tensor& x, const Tensor& y) { return compiled.step(x, y); });
  for (int t = 0; t < 8; ++t) {
    const Tensor x = randn({5, 1, 8, 8}), y = randint(3, {5}, kLong);
    REQUIRE(same_bits(step(x, y), eager.step(x, y).detach()));
    require_same(compiled.state(), eager.state());
  }
  require_replays(step, 4);
  // Evaluation mode has another tape, and training mode then uses the first tape again.
  auto infer = compile([&](const Tensor& x) {
    const NoGradGuard no_grad;
    return compiled.net(x);
  });
  for (const bool train : {true, false, true, false, true, false, true, false}) {
    compiled.net->train(train);
    eager.net->train(train);
    const Tensor x = randn({5, 1, 8, 8});
    const NoGradGuard no_grad;
    REQUIRE(same_bits(infer(x), eager.net(x)));
  }
  CHECK(infer.report().kinds == 2);
  CHECK(infer.report().replays > 0);
}

TEST_CASE("a replayed step with second derivatives in the loss is bitwise equal to an eager step") {
  const auto build = [] {
    manual_seed(6);
    return nn::Sequential(nn::Linear(1, 12), nn::Tanh(), nn::Linear(12, 12), nn::Tanh(), nn::Linear(12, 1));
  };
  const auto adam = make<optim::Adam>(optim::AdamOptions(0.01));
  Training eager(build(), adam), compiled(build(), adam);
  const auto residual = [](Training& training, const Tensor& points) {  // u'' = -u
    const Tensor x = points.detach().requires_grad_();
    const Tensor u = training.net(x);
    const Tensor du = autograd::grad({u}, {x}, {ones_like(u)}, true, true)[0];
    const Tensor ddu = autograd::grad({du}, {x}, {ones_like(du)}, true, true)[0];
    training.optimizer->zero_grad();
    const Tensor loss = (ddu + u).square().mean();
    loss.backward();
    training.optimizer->step();
    return loss;
  };
  auto step = compile([&](const Tensor& x) { return residual(compiled, x); });
  for (int t = 0; t < 8; ++t) {
    const Tensor x = rand({10, 1});
    REQUIRE(same_bits(step(x), residual(eager, x).detach()));
    require_same(compiled.state(), eager.state());
  }
  require_replays(step, 4);
}

TEST_CASE("a replayed training step of an LSTM with gradient clipping is bitwise equal to an eager step") {
  const auto build = [] {
    manual_seed(8);
    return nn::LSTM(nn::LSTMOptions(5, 7).num_layers(2).batch_first(true));
  };
  nn::LSTM eager = build(), compiled = build();
  optim::SGD of_eager(eager->parameters(), 0.2), of_compiled(compiled->parameters(), 0.2);
  const auto train = [](nn::LSTM& net, optim::SGD& optimizer, const Tensor& x) {
    optimizer.zero_grad();
    const Tensor loss = std::get<0>(net(x)).square().mean();
    loss.backward();
    std::vector<Tensor> grads;
    for (const Tensor& p : net->parameters()) grads.push_back(p.grad());
    const Tensor norm = nn::utils::get_total_norm(grads, 2.0);
    nn::utils::clip_grads_with_norm_(net->parameters(), 0.01, norm);
    optimizer.step();
    return std::make_tuple(loss, norm);
  };
  auto step = compile([&](const Tensor& x) { return train(compiled, of_compiled, x); });
  for (int t = 0; t < 8; ++t) {
    const Tensor x = randn({3, 4, 5});
    const auto [loss, norm] = train(eager, of_eager, x);
    const auto [got_loss, got_norm] = step(x);
    REQUIRE(same_bits(got_loss, loss.detach()));
    REQUIRE(same_bits(got_norm, norm));
    require_same(compiled->parameters(), eager->parameters());
  }
  require_replays(step, 4);
}

TEST_CASE("a matmul that is added to some rows of a zeroed gradient leaves the other rows zero") {
  for (const std::int64_t first : {0, 2, 4})
    for (const bool by_optimizer : {true, false}) {
      INFO("from row " << first << (by_optimizer ? ", zeroed by the optimizer" : ", zeroed by hand"));
      const auto run = [&](const Tensor& p, optim::SGD& optimizer, const Tensor& a, const Tensor& b) {
        const NoGradGuard no_grad;
        if (by_optimizer)
          optimizer.zero_grad(false);
        else
          p.grad().zero_();
        p.grad().narrow(0, first, 2).add_(a.matmul(b));
        const Tensor shown = p.grad() * 1;
        p.grad().add_(1);
        return shown;
      };
      const Tensor p = randn({6, 4}).requires_grad_(), twin = p.detach().clone().requires_grad_();
      p.mutable_grad() = ones({6, 4});
      twin.mutable_grad() = ones({6, 4});
      optim::SGD optimizer({p}, 0.1), optimizer_twin({twin}, 0.1);
      auto f = compile([&](const Tensor& a, const Tensor& b) { return run(p, optimizer, a, b); });
      for (int i = 0; i < 6; ++i) {
        const Tensor a = randn({2, 3}), b = randn({3, 4});
        REQUIRE(same_bits(f(a, b), run(twin, optimizer_twin, a, b)));
        REQUIRE(same_bits(p.grad(), twin.grad()));
      }
      require_replays(f, 2);
    }
}

TEST_CASE("a step is recorded again after another optimizer takes the address of its optimizer") {
  for (const double momentum : {0.0, 0.9}) {
    const Tensor first = ones({3}).requires_grad_(), second = ones({3}).requires_grad_();
    const auto options = optim::SGDOptions(0.5).momentum(momentum);
    std::optional<optim::SGD> sgd(std::in_place, std::vector<Tensor>{first}, options);
    auto step = compile([&](const Tensor& x) {
      (first * x + second * x).sum().backward();
      sgd->step();
    });
    settle(step, full({3}, 2.0));
    sgd.emplace(std::vector<Tensor>{second}, options);
    const Tensor before = first.detach().clone();
    step(full({3}, 2.0));
    CHECK(equal(first, before));
    CHECK(!equal(second, ones({3})));
    settle(step, full({3}, 2.0));
  }
}

TEST_CASE("a function whose checkpoint draws random numbers again is not replayed") {
  const Tensor w = ones({4}).requires_grad_();
  auto step = compile([&](const Tensor& x) {
    const auto masked = [](const Tensor& t) { return dropout(t.exp(), 0.5, true); };
    autograd::checkpoint(masked, w * x).sum().backward();
  });
  for (int i = 0; i < 6; ++i) step(ones({4}));
  CHECK(step.report().replays == 0);
  CHECK_THAT(step.report().reason, support::Contains("drawn again"));
}
