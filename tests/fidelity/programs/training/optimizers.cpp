// Optimizers and schedules.
#include "fidelity.h"

#include <memory>
#include <sstream>

// Optimizers: trajectories on a fixed objective, groups, closures, and their saved state.
namespace optimizers {

using namespace torch::optim;

// A badly scaled objective with a kink, so that every term of an update matters.
Tensor objective(const Tensor& a, const Tensor& b) {
  return (a.square() * ramp({3}, 0.5, 4)).sum() + (b - 1).pow(4).sum() + (a.sum() * b.sum()) * 0.1 +
         a.sin().sum();
}

template <class Optimizer, class Options>
void follow(const std::string& name, const Options& options) {
  section(name, [&] {
    Tensor a = ramp({3}, -1, 2).requires_grad_(), b = ramp({2, 2}, -1, 1).requires_grad_();
    Optimizer optimizer({a, b}, options);
    for (int step = 0; step < 10; ++step) {
      optimizer.zero_grad();
      objective(a, b).backward();
      optimizer.step();
      if (step == 0) report(name + ".first", a);
    }
    report(name + ".a", a);
    report(name + ".b", b);
  });
}

void run() {
  follow<SGD>("sgd", SGDOptions(0.05));
  follow<SGD>("sgd.momentum", SGDOptions(0.02).momentum(0.9));
  follow<SGD>("sgd.dampening", SGDOptions(0.02).momentum(0.9).dampening(0.3));
  follow<SGD>("sgd.nesterov", SGDOptions(0.02).momentum(0.9).nesterov(true));
  follow<SGD>("sgd.decay", SGDOptions(0.05).weight_decay(0.1));
  follow<SGD>("sgd.all", SGDOptions(0.02).momentum(0.8).weight_decay(0.1).nesterov(true));
  follow<Adam>("adam", AdamOptions(0.1));
  follow<Adam>("adam.default", AdamOptions());
  follow<Adam>("adam.betas", AdamOptions(0.1).betas(std::make_tuple(0.5, 0.9)).eps(1e-3));
  follow<Adam>("adam.decay", AdamOptions(0.1).weight_decay(0.1));
  follow<Adam>("adam.amsgrad", AdamOptions(0.3).amsgrad(true));
  follow<AdamW>("adamw", AdamWOptions(0.1));
  follow<AdamW>("adamw.decay", AdamWOptions(0.1).weight_decay(0.2));
  follow<AdamW>("adamw.amsgrad", AdamWOptions(0.3).amsgrad(true).betas({0.8, 0.95}));

  section("groups", [] {
    Tensor a = ramp({3}, -1, 2).requires_grad_(), b = ramp({2, 2}, -1, 1).requires_grad_();
    std::vector<OptimizerParamGroup> groups;
    groups.emplace_back(std::vector<Tensor>{a}, std::make_unique<SGDOptions>(SGDOptions(0.1)));
    groups.emplace_back(std::vector<Tensor>{b});
    SGD optimizer(groups, SGDOptions(0.01).momentum(0.9));
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      objective(a, b).backward();
      optimizer.step();
    }
    report("groups.a", a);
    report("groups.b", b);
    report_value("groups.count", static_cast<double>(optimizer.param_groups().size()));
    report_value("groups.lr", static_cast<SGDOptions&>(optimizer.param_groups()[0].options()).lr());
    report_value("defaults.lr", static_cast<SGDOptions&>(optimizer.defaults()).lr());
    // A handwritten schedule.
    for (auto& group : optimizer.param_groups()) static_cast<SGDOptions&>(group.options()).lr(0.001);
    optimizer.zero_grad();
    objective(a, b).backward();
    optimizer.step();
    report("groups.scheduled", a);
    optimizer.add_param_group(OptimizerParamGroup({torch::zeros({1}).requires_grad_()}));
    report_value("groups.added", static_cast<double>(optimizer.param_groups().size()));
    report_value("groups.get_lr", optimizer.param_groups()[1].options().get_lr());
    optimizer.param_groups()[1].options().set_lr(0.5);
    report_value("groups.set_lr", optimizer.param_groups()[1].options().get_lr());
  });

  section("closure", [] {
    Tensor a = ramp({3}, -1, 2).requires_grad_(), b = ramp({2, 2}, -1, 1).requires_grad_();
    SGD optimizer({a, b}, 0.05);
    Tensor loss = optimizer.step([&] {
      optimizer.zero_grad();
      Tensor value = objective(a, b);
      value.backward();
      return value;
    });
    report("closure.loss", loss);
    report("closure.a", a);
  });

  section("missing", [] {
    Tensor a = ramp({3}).requires_grad_(), unused = ramp({2}).requires_grad_();
    Adam optimizer({a, unused}, 0.1);
    a.sum().backward();
    optimizer.step();
    report("missing.a", a);
    report("missing.unused", unused);
    optimizer.zero_grad();
    report_value("zero_grad", !a.grad().defined() || a.grad().abs().sum().item<double>() == 0);
    Adam empty(std::vector<Tensor>{}, 0.1);
    empty.add_parameters({a});
    report_value("parameters", static_cast<double>(optimizer.param_groups()[0].params().size()));
  });

  section("state", [] {
    auto train = [](Optimizer& optimizer, const Tensor& a, const Tensor& b, int steps) {
      for (int step = 0; step < steps; ++step) {
        optimizer.zero_grad();
        objective(a, b).backward();
        optimizer.step();
      }
    };
    Tensor a = ramp({3}, -1, 2).requires_grad_(), b = ramp({2, 2}, -1, 1).requires_grad_();
    Adam first({a, b}, AdamOptions(0.1));
    train(first, a, b, 3);
    report_value("state.size", static_cast<double>(first.state().size()));
    Tensor c = a.detach().clone().requires_grad_(), d = b.detach().clone().requires_grad_();
    Adam second({c, d}, AdamOptions(0.1));
    std::stringstream stream;
    torch::save(first, stream);
    torch::load(second, stream);
    train(first, a, b, 3);
    train(second, c, d, 3);
    report("state.same", (a - c).abs().max());
    report("state.a", a);
    SGD momentum({c, d}, SGDOptions(0.01).momentum(0.9)), again({c, d}, SGDOptions(0.01).momentum(0.9));
    train(momentum, c, d, 2);
    std::stringstream buffer;
    torch::save(momentum, buffer);
    torch::load(again, buffer);
    train(again, c, d, 2);
    report("state.sgd", c);
  });
}

const Program program("optimizers", run);

}  // namespace optimizers

// RMSprop, Adagrad, parameter groups, learning rate schedules: trajectories in double precision.
namespace schedules {

using namespace torch::optim;

Tensor objective(const Tensor& a, const Tensor& b) {
  return (a.square() * ramp({3}, 0.5, 4)).sum() + (b - 1).pow(4).sum() + (a.sum() * b.sum()) * 0.1 +
         a.sin().sum();
}

struct Point {
  Tensor a = ramp({3}, -1, 2).requires_grad_(), b = ramp({2, 2}, -1, 1).requires_grad_();
  void descend(Optimizer& optimizer) {
    optimizer.zero_grad();
    objective(a, b).backward();
    optimizer.step();
  }
};

template <class Kind, class Options>
void follow(const std::string& name, const Options& options) {
  section(name, [&] {
    Point p;
    Kind optimizer({p.a, p.b}, options);
    for (int step = 0; step < 12; ++step) {
      p.descend(optimizer);
      if (step % 5 == 0) report(name + std::to_string(step), p.a);
    }
    report(name + ".a", p.a);
    report(name + ".b", p.b);
  });
}

void run() {
  follow<RMSprop>("rmsprop", RMSpropOptions(0.05));
  follow<RMSprop>("rmsprop.alpha", RMSpropOptions(0.05).alpha(0.8).eps(1e-4));
  follow<RMSprop>("rmsprop.momentum", RMSpropOptions(0.02).momentum(0.9));
  follow<RMSprop>("rmsprop.centered", RMSpropOptions(0.02).centered(true));
  follow<RMSprop>("rmsprop.all",
                  RMSpropOptions(0.02).centered(true).momentum(0.5).weight_decay(0.1).alpha(0.9));
  follow<Adagrad>("adagrad", AdagradOptions(0.3));
  follow<Adagrad>("adagrad.decay", AdagradOptions(0.3).lr_decay(0.1).weight_decay(0.05));
  follow<Adagrad>("adagrad.start", AdagradOptions(0.3).initial_accumulator_value(0.5).eps(1e-3));

  section("steps", [] {
    Point p;
    SGD optimizer({p.a, p.b}, SGDOptions(0.05).momentum(0.5));
    StepLR schedule(optimizer, 3, 0.4);
    for (int step = 0; step < 10; ++step) {
      p.descend(optimizer);
      schedule.step();
      report_value("steps.lr" + std::to_string(step), optimizer.param_groups()[0].options().get_lr());
    }
    report("steps.a", p.a);
  });

  section("steps.groups", [] {
    Point p;
    std::vector<OptimizerParamGroup> groups;
    groups.emplace_back(std::vector<Tensor>{p.a},
                        std::make_unique<AdamOptions>(AdamOptions(0.1).weight_decay(0.01)));
    groups.emplace_back(std::vector<Tensor>{p.b},
                        std::make_unique<AdamOptions>(AdamOptions(0.02).betas({0.5, 0.9})));
    Adam optimizer(groups, AdamOptions(1e-3));
    StepLR schedule(optimizer, 2);
    for (int step = 0; step < 6; ++step) {
      p.descend(optimizer);
      schedule.step();
    }
    report("steps.groups.a", p.a);
    report("steps.groups.b", p.b);
    report_value("steps.groups.lr0", optimizer.param_groups()[0].options().get_lr());
    report_value("steps.groups.lr1", optimizer.param_groups()[1].options().get_lr());
    report_value("steps.groups.default", static_cast<AdamOptions&>(optimizer.defaults()).lr());
  });

  section("by_hand", [] {
    // Linear warm-up, then cosine annealing.
    Point p;
    AdamW optimizer({p.a, p.b}, AdamWOptions(0.1).weight_decay(0.05));
    for (int step = 0; step < 15; ++step) {
      const double lr =
          step < 5 ? 0.02 * (step + 1) : 0.05 * (1 + std::cos(3.14159265358979 * (step - 5) / 10));
      for (auto& group : optimizer.param_groups()) static_cast<AdamWOptions&>(group.options()).lr(lr);
      p.descend(optimizer);
    }
    report("by_hand.a", p.a);
    report("by_hand.b", p.b);
  });

  section("frozen", [] {
    Point p;
    SGD optimizer({p.a, p.b}, SGDOptions(0.05).momentum(0.9).weight_decay(0.1));
    p.b.set_requires_grad(false);
    p.descend(optimizer);
    p.descend(optimizer);
    report("frozen.a", p.a);
    report("frozen.b", p.b);
    p.b.set_requires_grad(true);
    p.descend(optimizer);
    report("frozen.thawed", p.b);
  });

  section("added", [] {
    Point p;
    Adam optimizer({p.a}, AdamOptions(0.1));
    p.descend(optimizer);
    optimizer.add_param_group(OptimizerParamGroup({p.b}, std::make_unique<AdamOptions>(AdamOptions(0.01))));
    p.descend(optimizer);
    p.descend(optimizer);
    report("added.a", p.a);
    report("added.b", p.b);
    report_value("added.size", static_cast<double>(optimizer.size()));
  });

  section("clipped", [] {
    Point p;
    SGD optimizer({p.a, p.b}, 0.1);
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      objective(p.a, p.b).backward();
      const double norm = torch::nn::utils::clip_grad_norm_({p.a, p.b}, 1.0);
      if (step == 0) report_value("clipped.norm", norm);
      torch::nn::utils::clip_grad_value_({p.a, p.b}, 0.4);
      optimizer.step();
    }
    report("clipped.a", p.a);
    report_value("clipped.inf", torch::nn::utils::clip_grad_norm_({p.a, p.b}, 0.1, kInf));
    const Tensor vector = torch::nn::utils::parameters_to_vector({p.a, p.b});
    report("clipped.vector", vector);
    torch::nn::utils::vector_to_parameters(vector * 2, {p.a, p.b});
    report("clipped.doubled", p.b);
  });

  section("closure", [] {
    Point p;
    RMSprop optimizer({p.a, p.b}, 0.05);
    Tensor loss;
    for (int step = 0; step < 4; ++step)
      loss = optimizer.step([&] {
        optimizer.zero_grad();
        Tensor value = objective(p.a, p.b);
        value.backward();
        return value;
      });
    report("closure", loss);
    report("closure.a", p.a);
  });

  section("grads", [] {
    Point p;
    SGD optimizer({p.a, p.b}, 0.1);
    objective(p.a, p.b).backward();
    optimizer.zero_grad();
    report("zeroed", p.a.grad());
    p.a.mutable_grad().reset();
    optimizer.step();  // there is nothing to update for a
    report("untouched", p.a);
  });

  section("refused", [] {
    Point p;
    report_error("rmsprop.lr", [&] { RMSprop({p.a}, RMSpropOptions(-1)); });
    report_error("rmsprop.alpha", [&] { RMSprop({p.a}, RMSpropOptions(0.1).alpha(-1)); });
    report_error("adagrad.lr", [&] { Adagrad({p.a}, AdagradOptions(-1)); });
    report_error("adagrad.decay", [&] { Adagrad({p.a}, AdagradOptions(0.1).lr_decay(-1)); });
    report_error("adamw.betas", [&] { AdamW({p.a}, AdamWOptions().betas({0.9, 1.0})); });
  });
}

const Program program("schedules", run);

}  // namespace schedules
