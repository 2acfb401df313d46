// User-defined optimizers, the states of optimizers, and the options that files contain.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <sstream>

using namespace ebb;
using namespace ebb::optim;
using support::Contains;

namespace {

// A minimal optimizer as programs write it for libtorch: options with a rate, a state, and step().
struct DescentOptions : OptimizerCloneableOptions<DescentOptions> {
  DescentOptions(double lr) : lr_(lr) {}
  EBB_ARG(double, lr);
  EBB_ARG(double, grip) = 0.5;
};

struct DescentState : OptimizerCloneableParamState<DescentState> {
  EBB_ARG(Variable, velocity);
};

class Descent : public Optimizer {
 public:
  explicit Descent(std::vector<OptimizerParamGroup> groups, DescentOptions defaults)
      : Optimizer(std::move(groups), std::make_unique<DescentOptions>(defaults)) {}
  explicit Descent(std::vector<Tensor> params, DescentOptions defaults)
      : Optimizer({std::move(params)}, std::make_unique<DescentOptions>(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    NoGradGuard no_grad;
    Tensor loss;
    if (closure) {
      AutoGradMode enable(true);
      loss = closure();
    }
    for (auto& group : param_groups_) {
      auto& options = static_cast<DescentOptions&>(group.options());
      for (auto& p : group.params()) {
        if (!p.grad().defined()) continue;
        auto& slot = state_[p.unsafeGetTensorImpl()];
        if (!slot) {
          slot = std::make_unique<DescentState>();
          static_cast<DescentState&>(*slot).velocity(zeros_like(p));
        }
        auto& velocity = static_cast<DescentState&>(*slot).velocity();
        velocity.mul_(options.grip()).add_(p.grad());
        p.add_(velocity, -options.lr());
      }
    }
    return loss;
  }
};

// The same optimizer with serialize functions for files.
struct KeptState : OptimizerCloneableParamState<KeptState> {
  EBB_ARG(Variable, velocity);

 public:
  void serialize(serialize::OutputArchive& archive) const override { archive.write("velocity", velocity_); }
  void serialize(serialize::InputArchive& archive) override { archive.read("velocity", velocity_); }
};
class Kept : public Optimizer {
 public:
  explicit Kept(std::vector<Tensor> params)
      : Optimizer({OptimizerParamGroup(std::move(params))}, std::make_unique<DescentOptions>(1)) {}
  Tensor step(LossClosure = nullptr) override {
    for (auto& p : parameters()) state_of<KeptState>(p).velocity(full_like(p.detach(), 3));
    return {};
  }

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override { return std::make_unique<KeptState>(); }
};

struct Bare : OptimizerOptions {};

Tensor leaf() { return tensor({1., -2.}, kDouble).requires_grad_(); }

template <class Options>
std::string text_of(const Options& options) {
  serialize::OutputArchive archive;
  options.serialize(archive);
  std::ostringstream out;
  for (const auto& [name, value] : archive.tensors()) out << name << "=" << value << ";";
  return out.str();
}

}  // namespace

TEST_CASE("a user-defined optimizer needs to implement only step") {
  const Tensor p = leaf();
  Descent optimizer({p}, DescentOptions(0.1));
  const auto loss = [&] {
    optimizer.zero_grad();
    Tensor value = (p * p).sum();
    value.backward();
    return value;
  };
  CHECK_THROWS_WITH(*optimizer.state()[p.unsafeGetTensorImpl()],
                    support::Contains("this parameter has no state"));
  CHECK(optimizer.step(loss).item<double>() == 5);
  CHECK(p.detach().allclose(tensor({0.8, -1.6}, kDouble)));
  optimizer.step(loss);  // velocity 0.5 * 2 + 1.6, and so on
  CHECK(p.detach().allclose(tensor({0.54, -1.08}, kDouble)));
  CHECK(static_cast<DescentState&>(*optimizer.state()[p.unsafeGetTensorImpl()])
            .velocity()
            .allclose(tensor({2.6, -5.2}, kDouble)));
  CHECK(optimizer.param_groups()[0].options().get_lr() == 0.1);

  // Groups without options have the defaults; schedulers change the rates of all groups.
  const Tensor q = leaf(), r = leaf();
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{q}, std::make_unique<DescentOptions>(1));
  groups.emplace_back(std::vector<Tensor>{r});
  Descent grouped(groups, DescentOptions(0.1));
  StepLR schedule(grouped, 1, 0.5);
  schedule.step();
  schedule.step();
  CHECK(grouped.param_groups()[0].options().get_lr() == 0.5);
  CHECK(grouped.param_groups()[1].options().get_lr() == 0.05);
}

TEST_CASE("missing functions of a user-defined optimizer throw when they are called") {
  const Tensor p = leaf();
  Descent optimizer({p}, DescentOptions(0.1));
  std::stringstream bytes;
  save(optimizer, bytes);  // there is no state yet
  Descent restored({p}, DescentOptions(0.3));
  load(restored, bytes);
  p.sum().backward();
  optimizer.step();
  CHECK_THROWS_MATCHES(save(optimizer, bytes), NotImplementedError,
                       support::Saying("OptimizerParamState::serialize() is not implemented by"));
  CHECK_THROWS_WITH(save(optimizer, bytes), Contains("OptimizerParamState::serialize() is not implemented"));
  CHECK_THROWS_WITH(optimizer.load_state_dict({{"0.velocity", ones({2})}}), Contains("Override new_state()"));
  Bare bare;
  CHECK_THROWS_WITH(bare.get_lr(), Contains("OptimizerOptions::get_lr()"));
  CHECK_THROWS_WITH(bare.set_lr(1), Contains("OptimizerOptions::set_lr()"));
  CHECK_THROWS_WITH(bare.clone(), Contains("OptimizerOptions::clone()"));
}

TEST_CASE("a user-defined state is saved and loaded by its serialize function") {
  const Tensor p = leaf();
  Kept optimizer({p}), restored({p});
  optimizer.step();
  std::stringstream bytes;
  save(optimizer, bytes);
  load(restored, bytes);
  CHECK(static_cast<KeptState&>(*restored.state().at(p.unsafeGetTensorImpl()))
            .velocity()
            .equal(tensor({3., 3.}, kDouble)));
}

TEST_CASE("state() gives access to the state of each parameter") {
  const Tensor p = leaf();
  Adam optimizer({p}, AdamOptions(0.1));
  (p * p).sum().backward();
  optimizer.step();
  auto& state = static_cast<AdamParamState&>(*optimizer.state()[p.unsafeGetTensorImpl()]);
  CHECK(state.step() == 1);
  CHECK(state.exp_avg().allclose(tensor({0.2, -0.4}, kDouble)));
}

TEST_CASE("every option of every optimizer survives saving and loading") {
  const Tensor p = leaf();
  const std::vector<std::function<std::unique_ptr<Optimizer>(bool)>> makers = {
      [&](bool other) {
        return std::make_unique<SGD>(std::vector{p},
                                     other ? SGDOptions(0.5).momentum(0.25).weight_decay(0.125).nesterov(true)
                                           : SGDOptions(1).dampening(0.5));
      },
      [&](bool other) {
        return std::make_unique<Adam>(std::vector{p}, other ? AdamOptions(0.5)
                                                                  .betas({0.25, 0.5})
                                                                  .eps(0.125)
                                                                  .weight_decay(2)
                                                                  .amsgrad(true)
                                                                  .master_weights(true)
                                                            : AdamOptions());
      },
      [&](bool other) {
        return std::make_unique<AdamW>(std::vector{p},
                                       other ? AdamWOptions(0.5).weight_decay(2) : AdamWOptions());
      },
      [&](bool other) {
        return std::make_unique<RMSprop>(
            std::vector{p},
            other ? RMSpropOptions(0.5).alpha(0.25).momentum(0.5).centered(true) : RMSpropOptions());
      },
      [&](bool other) {
        return std::make_unique<Adagrad>(
            std::vector{p},
            other ? AdagradOptions(0.5).lr_decay(0.25).initial_accumulator_value(2) : AdagradOptions());
      },
      [&](bool other) {
        return std::make_unique<Adadelta>(std::vector{p},
                                          other ? AdadeltaOptions(0.5).rho(0.25) : AdadeltaOptions());
      },
      [&](bool other) {
        return std::make_unique<Adafactor>(
            std::vector{p}, other ? AdafactorOptions(0.5).eps({0.25, 0.125}).d(2) : AdafactorOptions());
      },
      [&](bool other) {
        return std::make_unique<Adamax>(std::vector{p},
                                        other ? AdamaxOptions(0.5).eps(0.25) : AdamaxOptions());
      },
      [&](bool other) {
        return std::make_unique<ASGD>(std::vector{p},
                                      other ? ASGDOptions(0.5).lambd(0.25).t0(4) : ASGDOptions());
      },
      [&](bool other) {
        return std::make_unique<Lion>(std::vector{p},
                                      other ? LionOptions(0.5).betas({0.25, 0.5}) : LionOptions());
      },
      [&](bool other) {
        return std::make_unique<NAdam>(
            std::vector{p},
            other ? NAdamOptions(0.5).momentum_decay(0.25).decoupled_weight_decay(true) : NAdamOptions());
      },
      [&](bool other) {
        return std::make_unique<RAdam>(
            std::vector{p}, other ? RAdamOptions(0.5).decoupled_weight_decay(true) : RAdamOptions());
      },
      [&](bool other) {
        return std::make_unique<Rprop>(
            std::vector{p},
            other ? RpropOptions(0.5).etas({0.25, 2}).step_sizes({0.125, 4}) : RpropOptions());
      },
      [&](bool other) {
        const Tensor matrix = ones({2, 2}, kDouble).requires_grad_();
        return std::make_unique<Muon>(
            std::vector{matrix},
            other ? MuonOptions(0.5).nesterov(false).ns_coefficients({1, 2, 3}).ns_steps(2).adjust_lr_fn(
                        "original")
                  : MuonOptions());
      },
      [&](bool other) {
        return std::make_unique<LBFGS>(
            std::vector{p}, other ? LBFGSOptions(0.5).max_iter(7).max_eval(9).line_search_fn("strong_wolfe")
                                  : LBFGSOptions());
      }};
  for (const auto& make : makers) {
    for (const bool other : {true, false}) {  // an entry that is missing in the file is removed
      const auto from = make(other), to = make(!other);
      const std::string wanted = text_of(from->param_groups()[0].options());
      INFO(wanted);
      CHECK(text_of(to->param_groups()[0].options()) != wanted);
      std::stringstream bytes;
      save(*from, bytes);
      load(*to, bytes);
      CHECK(text_of(to->param_groups()[0].options()) == wanted);
    }
  }
}

TEST_CASE("options are saved per group with the initial learning rate") {
  const Tensor p = leaf(), q = leaf();
  const auto make = [&](double first, double second) {
    std::vector<OptimizerParamGroup> groups;
    groups.emplace_back(std::vector<Tensor>{p}, std::make_unique<SGDOptions>(first));
    groups.emplace_back(std::vector<Tensor>{q}, std::make_unique<SGDOptions>(second));
    return std::make_unique<SGD>(groups, SGDOptions(1));
  };
  const auto from = make(0.5, 0.25), to = make(1, 1);
  from->param_groups()[0].options().initial_lr();
  from->param_groups()[0].options().set_lr(0.125);
  std::stringstream bytes;
  save(*from, bytes);
  const std::string file = bytes.str();
  load(*to, bytes);
  CHECK(to->param_groups()[0].options().get_lr() == 0.125);
  CHECK(to->param_groups()[0].options().initial_lr() == 0.5);
  CHECK(to->param_groups()[1].options().get_lr() == 0.25);

  SGD one({p}, SGDOptions(3));
  std::stringstream again(file);
  CHECK_THROWS_WITH(load(one, again), Contains("parameter groups"));
  CHECK(one.param_groups()[0].options().get_lr() == 3);
  Adam of_another_kind({p, q}, AdamOptions(3));
  std::stringstream third(file);
  CHECK_THROWS_WITH(load(of_another_kind, third),
                    Contains("Adam: the loaded options contain an entry that this"));
}

TEST_CASE("an optimizer is printed with its class and the options of its groups as in Python") {
  Adam adam({leaf()}, AdamOptions(1e-3).maximize(true));
  adam.add_param_group(OptimizerParamGroup(std::vector<Tensor>{leaf()}, AdamOptions(0.5).clone()));
  std::ostringstream text;
  text << adam;
  const std::string rest =
      "    betas: (0.9, 0.999)\n    decoupled_weight_decay: False\n    eps: 1e-08\n    lr: ";
  CHECK(text.str() ==
        "Adam (\nParameter Group 0\n    amsgrad: False\n" + rest +
            "0.001\n    master_weights: False\n    maximize: True\n    weight_decay: 0\n\nParameter Group 1\n"
            "    amsgrad: False\n" +
            rest + "0.5\n    master_weights: False\n    maximize: False\n    weight_decay: 0\n)");
}

TEST_CASE("invalid options leave the optimizer unchanged") {
  const Tensor p = leaf();
  SGD optimizer({p}, SGDOptions(0.5));
  serialize::InputArchive bad({{"param_groups.0.lr", scalar_tensor(-1, kDouble)}});
  CHECK_THROWS_WITH(optimizer.load(bad), Contains("Invalid learning rate: -1"));
  serialize::InputArchive unknown({{"param_groups.0.speed", scalar_tensor(1, kDouble)}});
  CHECK_THROWS_WITH(optimizer.load(unknown), Contains("does not know"));
  CHECK(optimizer.param_groups()[0].options().get_lr() == 0.5);
}
