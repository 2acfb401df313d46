// RMSprop, Adagrad, parameter groups, learning rate schedules: trajectories in double precision.
#include "fidelity.h"

#include <memory>

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
    // Warm up, then a cosine.
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
    optimizer.step();  // nothing to do for a
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
