// Rules that hold for every public optimizer: states that are saved and restored at any step, layouts and
// sizes of parameters, groups, missing gradients, and the limits of options.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <algorithm>
#include <functional>
#include <sstream>

using namespace ebb;
using namespace ebb::optim;

namespace {

using Params = std::vector<Variable>;
using Groups = std::vector<OptimizerParamGroup>;

struct Row {
  const char* name;
  std::function<std::unique_ptr<Optimizer>(Groups)> make;
  bool matrices = false;  ///< whether it accepts only parameters of two dimensions
};

template <class O, class Options>
Row row(const char* name, const Options& options, bool matrices = false) {
  return {name, [options](Groups groups) { return std::make_unique<O>(std::move(groups), options); },
          matrices};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      row<SGD>("SGD", SGDOptions(0.05)),
      row<SGD>("SGD, weight decay", SGDOptions(0.05).weight_decay(0.1)),
      row<SGD>("SGD, momentum", SGDOptions(0.05).momentum(0.9).dampening(0.3)),
      row<SGD>("SGD, Nesterov", SGDOptions(0.05).momentum(0.9).nesterov(true).weight_decay(0.1)),
      row<Adam>("Adam", AdamOptions(0.05)),
      row<Adam>("Adam, amsgrad", AdamOptions(0.05).amsgrad(true).weight_decay(0.1)),
      row<Adam>("Adam, no memory", AdamOptions(0.05).betas({0, 0})),
      row<Adam>("Adam, decoupled", AdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true)),
      row<AdamW>("AdamW", AdamWOptions(0.05)),
      row<AdamW>("AdamW, amsgrad", AdamWOptions(0.05).amsgrad(true)),
      row<NAdam>("NAdam", NAdamOptions(0.05).weight_decay(0.1)),
      row<NAdam>("NAdam, decoupled", NAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true)),
      row<RAdam>("RAdam", RAdamOptions(0.05).betas({0.8, 0.9}).weight_decay(0.1)),
      row<RAdam>("RAdam, decoupled", RAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true)),
      row<Adamax>("Adamax", AdamaxOptions(0.05).weight_decay(0.1)),
      row<Adadelta>("Adadelta", AdadeltaOptions(1.0).weight_decay(0.1)),
      row<Adadelta>("Adadelta, rho 1", AdadeltaOptions(0.02).rho(1)),
      row<Adagrad>("Adagrad",
                   AdagradOptions(0.05).lr_decay(0.3).weight_decay(0.1).initial_accumulator_value(0.2)),
      row<RMSprop>("RMSprop", RMSpropOptions(0.05).weight_decay(0.1)),
      row<RMSprop>("RMSprop, alpha 0", RMSpropOptions(0.05).alpha(0)),
      row<RMSprop>("RMSprop, alpha 1", RMSpropOptions(1e-10).alpha(1)),
      row<RMSprop>("RMSprop, centered", RMSpropOptions(0.05).momentum(0.5).centered(true)),
      row<ASGD>("ASGD", ASGDOptions(0.05).t0(3).lambd(0.01).weight_decay(0.1)),
      row<Rprop>("Rprop", RpropOptions(0.05)),
      row<Lion>("Lion", LionOptions(0.05).weight_decay(0.1)),
      row<Adafactor>("Adafactor", AdafactorOptions(0.05).weight_decay(0.1)),
      row<Muon>("Muon", MuonOptions(0.05), true),
      row<Muon>("Muon, plain", MuonOptions(0.05).nesterov(false).adjust_lr_fn("match_rms_adamw"), true),
  };
  return all;
}

constexpr int kSteps = 7;

Variable numbers(IntArrayRef sizes, double from) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return (sin(arange(n, kDouble) * 1.3 + from) * 1.5).view(sizes);
}

// A training run with these parameters: a scalar or a matrix of one element, a transposed one, one of several
// thousand elements, an empty one, and one with a gradient only in every third step.
struct Training {
  Params params;
  std::unique_ptr<Optimizer> optimizer;

  explicit Training(const Row& row, double from = 0) {
    const auto leaf = [&](const Variable& values) { params.push_back(values.requires_grad_()); };
    leaf(row.matrices ? numbers({1, 1}, from) : numbers({}, from));
    leaf(numbers({3, 2}, from + 1).t());
    leaf(numbers({40, 70}, from + 2));
    if (!row.matrices) leaf(numbers({0, 3}, from));
    leaf(numbers({2, 2}, from + 3));
    Groups groups;
    groups.emplace_back(Params(params.begin(), params.begin() + 2));
    groups.emplace_back(Params(params.begin() + 2, params.end()));
    optimizer = row.make(std::move(groups));
    OptimizerOptions& second = optimizer->param_groups()[1].options();
    second.set_lr(second.get_lr() / 2);
  }

  /// `sign` multiplies the gradients of the first group.
  void step(int t, double sign = 1) {
    optimizer->zero_grad(true);
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (i + 1 == params.size() && t % 3 != 2) continue;
      const Variable x = params[i].detach() - 0.3;
      params[i].mutable_grad() = (x.pow(3) * 4 + sin(x * 7 + t) * 0.5) * (i < 2 ? sign : 1);
    }
    optimizer->step();
  }
  void take(const Training& other) {
    for (std::size_t i = 0; i < params.size(); ++i) params[i].detach().copy_(other.params[i].detach());
  }
};

void require_equal(const Training& a, const Training& b) {
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    INFO("parameter " << i);
    REQUIRE(equal(a.params[i], b.params[i]));
  }
}

}  // namespace

TEST_CASE("an optimizer that took other steps before it loads a state continues exactly like the saved one") {
  for (const Row& row : rows())
    for (int saved = 0; saved <= kSteps; ++saved)
      for (const int moved : {0, 1, 4}) {
        INFO(row.name << ", saved after " << saved << " steps, restored after " << moved);
        Training first(row), second(row, 5);
        for (int t = 0; t < saved; ++t) first.step(t);
        for (int t = 0; t < moved; ++t) second.step(10 + t);
        std::stringstream bytes;
        save(*first.optimizer, bytes);
        load(*second.optimizer, bytes);
        second.take(first);
        for (int t = saved; t < saved + 4; ++t) {
          first.step(t);
          second.step(t);
          require_equal(second, first);
        }
      }
}

TEST_CASE("maximize takes the same steps as minimising with the negative gradient") {
  for (const Row& row : rows()) {
    INFO(row.name);
    Training up(row), down(row), saved(row);
    OptimizerOptions& options = up.optimizer->param_groups()[0].options();
    serialize::OutputArchive now;
    options.serialize(now);
    Optimizer::StateDict other = now.tensors();
    const auto found =
        std::find_if(other.begin(), other.end(), [](auto& o) { return o.first == "maximize"; });
    if (found == other.end()) {
      CHECK((std::string(row.name) == "Lion" || row.matrices));  // as in PyTorch, or missing
      continue;
    }
    found->second = scalar_tensor(true);
    serialize::InputArchive changed(other);
    options.serialize(changed);
    std::stringstream bytes;
    save(*up.optimizer, bytes);
    load(*saved.optimizer, bytes);
    for (int t = 0; t < kSteps; ++t) {
      up.step(t);
      saved.step(t);
      down.step(t, -1);
      require_equal(up, down);
      require_equal(saved, down);
    }
  }
}

TEST_CASE("Adam with decoupled_weight_decay equals AdamW") {
  Training adam(row<Adam>("Adam", AdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true)));
  Training adamw(row<AdamW>("AdamW", AdamWOptions(0.05).weight_decay(0.1)));
  for (int t = 0; t < kSteps; ++t) {
    adam.step(t);
    adamw.step(t);
    require_equal(adam, adamw);
  }
}

TEST_CASE("an optimizer updates a parameter equally in every layout, shape and group") {
  for (const Row& row : rows()) {
    INFO(row.name);
    const Variable values = numbers({6, 8}, 1);
    const auto run = [&](const Variable& start, const std::function<Variable(const Variable&)>& view) {
      const Variable p = start.clone(MemoryFormat::Preserve).requires_grad_();
      Groups groups;
      groups.emplace_back(Params{p});
      const auto optimizer = row.make(std::move(groups));
      for (int t = 0; t < kSteps; ++t) {
        const Variable x = view(p.detach()) - 0.3;
        p.mutable_grad() = (x.pow(3) * 4 + sin(x * 7 + t) * 0.5).reshape(p.sizes());
        optimizer->step();
      }
      return view(p.detach());
    };
    const auto same = [](const Variable& x) { return x; };
    const Variable expected = run(values, same);
    CHECK_FALSE(equal(expected, values));
    CHECK(expected.isfinite().all().item<bool>());
    const Variable turned = run(values.t().contiguous().t(), same);
    if (row.matrices || std::string(row.name) == "Adafactor") {  // these optimizers sum rows and columns
      CHECK(allclose(turned, expected, 1e-12, 1e-12));
      continue;
    }
    CHECK(equal(turned, expected));
    const auto matrix = [](const Variable& x) { return x.view({6, 8}); };
    CHECK(equal(run(values.flatten(), matrix), expected));
    CHECK(equal(run(values.view({2, 3, 8, 1}), matrix), expected));
    // Each element alone, as a scalar.
    const auto scalar = [](const Variable& x) { return x; };
    for (const std::int64_t i : {0, 17, 47})
      CHECK(equal(run(values.flatten()[i].clone(), scalar), expected.flatten()[i]));
  }
}

TEST_CASE("float and double parameters take the same steps within rounding") {
  for (const Row& row : rows()) {
    INFO(row.name);
    const auto run = [&](DType dtype) {
      const Variable p = numbers({6, 8}, 1).to(dtype).requires_grad_();
      Groups groups;
      groups.emplace_back(Params{p});
      const auto optimizer = row.make(std::move(groups));
      for (int t = 0; t < kSteps; ++t) {
        p.mutable_grad() = (numbers({6, 8}, 2 + t) * 2).to(dtype);
        optimizer->step();
      }
      return p.detach().to(kDouble);
    };
    const Variable wide = run(kDouble), narrow = run(kFloat);
    // The Newton-Schulz iteration of Muon computes in bf16.
    CHECK(allclose(narrow, wide, row.matrices ? 2e-2 : 1e-4, row.matrices ? 2e-2 : 1e-4));
  }
}

TEST_CASE("zero_grad sets gradients to zero or undefined, and step without gradients changes no parameter") {
  for (const Row& row : rows()) {
    INFO(row.name);
    Training training(row);
    training.step(2);
    training.optimizer->zero_grad(false);
    for (const Variable& p : training.params) {
      REQUIRE(p.grad().defined());
      CHECK(equal(p.grad(), zeros_like(p)));
    }
    training.optimizer->zero_grad(true);
    Params before;
    for (const Variable& p : training.params) before.push_back(p.detach().clone());
    training.optimizer->step();
    for (std::size_t i = 0; i < before.size(); ++i) {
      CHECK_FALSE(training.params[i].grad().defined());
      CHECK(equal(training.params[i].detach(), before[i]));
    }
  }
}

TEST_CASE("parameters with equal step counts but different options are updated independently") {
  for (const Row& row : rows()) {
    INFO(row.name);
    const auto train = [&](const std::vector<int>& present) {
      Params params;
      for (const int which : present) params.push_back(numbers({3, 2}, which).requires_grad_());
      Groups groups;
      groups.emplace_back(params);
      const auto optimizer = row.make(std::move(groups));
      for (int t = 0; t < 4; ++t) {
        OptimizerOptions& options = optimizer->param_groups()[0].options();
        if (t == 1) options.set_lr(options.get_lr() / 8);
        if (auto* nadam = dynamic_cast<NAdamOptions*>(&options); nadam && t == 1) nadam->betas({0.5, 0.9});
        optimizer->zero_grad(true);
        for (std::size_t i = 0; i < params.size(); ++i)
          if (t > 1 || t == present[i]) params[i].mutable_grad() = sin(params[i].detach() * 7 + t);
        optimizer->step();
      }
      return params;
    };
    const Params together = train({0, 1});
    CHECK(equal(together[0], train({0})[0]));
    CHECK(equal(together[1], train({1})[0]));
  }
}

TEST_CASE("a step with learning rate 0 updates the state and not the parameter") {
  for (const Row& row : rows()) {
    const std::string name = row.name;
    if (name.starts_with("Rprop") || name.starts_with("ASGD")) continue;  // their step sizes are states
    INFO(name);
    Training training(row);
    for (OptimizerParamGroup& group : training.optimizer->param_groups()) group.options().set_lr(0);
    Params before;
    for (const Variable& p : training.params) before.push_back(p.detach().clone());
    for (int t = 0; t < 3; ++t) training.step(t);
    for (std::size_t i = 0; i < before.size(); ++i) CHECK(equal(training.params[i].detach(), before[i]));
  }
}

namespace {

template <class O, class Options>
void refuse(const Options& options, const char* words) {
  INFO(words);
  CHECK_THROWS_WITH(O(Params{ones({2, 2}).requires_grad_()}, options), support::Contains(words));
}
template <class O, class Options>
void accept(const Options& options) {
  const Variable p = numbers({2, 2}, 1).requires_grad_();
  O optimizer(Params{p}, options);
  p.mutable_grad() = ones_like(p);
  optimizer.step();
  CHECK_FALSE(p.detach().isnan().any().item<bool>());
}

}  // namespace

TEST_CASE("options accept the limits of their ranges, and errors for values beyond them name the option") {
  accept<SGD>(SGDOptions(0));
  accept<SGD>(SGDOptions(1).momentum(0).weight_decay(0));
  refuse<SGD>(SGDOptions(-1e-9), "learning rate");
  refuse<SGD>(SGDOptions(1).momentum(-0.1), "momentum");
  refuse<SGD>(SGDOptions(1).weight_decay(-0.1), "weight_decay");
  accept<Adam>(AdamOptions(0.1).betas({0, 0}));
  refuse<Adam>(AdamOptions(-1), "learning rate");
  refuse<Adam>(AdamOptions().betas({1, 0.9}), "index 0");
  refuse<Adam>(AdamOptions().betas({0.9, -0.1}), "index 1");
  refuse<Adam>(AdamOptions().eps(-1), "epsilon");
  refuse<Adam>(AdamOptions().weight_decay(-1), "weight_decay");
  refuse<AdamW>(AdamWOptions().betas({-0.1, 0.9}), "index 0");
  refuse<AdamW>(AdamWOptions().betas({0.9, 1}), "index 1");
  refuse<AdamW>(AdamWOptions().eps(-1), "epsilon");
  refuse<NAdam>(NAdamOptions().betas({1, 0.9}), "index 0");
  refuse<NAdam>(NAdamOptions().weight_decay(-1), "weight_decay");
  refuse<RAdam>(RAdamOptions().eps(-1), "epsilon");
  refuse<RAdam>(RAdamOptions(-1), "learning rate");
  refuse<Adamax>(AdamaxOptions().betas({0.9, 1}), "index 1");
  refuse<Adamax>(AdamaxOptions().weight_decay(-1), "weight_decay");
  accept<Adadelta>(AdadeltaOptions().rho(0));
  accept<Adadelta>(AdadeltaOptions().rho(1));
  refuse<Adadelta>(AdadeltaOptions().rho(1.0001), "rho");
  refuse<Adadelta>(AdadeltaOptions().rho(-0.0001), "rho");
  refuse<Adadelta>(AdadeltaOptions().eps(-1), "epsilon");
  refuse<Adagrad>(AdagradOptions().lr_decay(-1), "lr_decay");
  refuse<Adagrad>(AdagradOptions().initial_accumulator_value(-1), "initial_accumulator_value");
  refuse<Adagrad>(AdagradOptions().eps(-1), "epsilon");
  accept<RMSprop>(RMSpropOptions().alpha(0));
  accept<RMSprop>(RMSpropOptions(1e-9).alpha(1));
  refuse<RMSprop>(RMSpropOptions().alpha(-0.0001), "alpha");
  refuse<RMSprop>(RMSpropOptions().momentum(-1), "momentum");
  refuse<RMSprop>(RMSpropOptions().eps(-1), "epsilon");
  refuse<ASGD>(ASGDOptions(-1), "learning rate");
  refuse<ASGD>(ASGDOptions().weight_decay(-1), "weight_decay");
  refuse<ASGD>(ASGDOptions().lambd(-1), "ASGD: Invalid lambd");
  refuse<ASGD>(ASGDOptions().alpha(-0.1), "ASGD: Invalid alpha");
  refuse<Adadelta>(AdadeltaOptions(-1), "Adadelta: Invalid learning rate");
  refuse<Adafactor>(AdafactorOptions().d(0.5), "Adafactor: Invalid clipping threshold");
  refuse<Adafactor>(AdafactorOptions().eps({-1, 1e-3}), "Adafactor: Invalid epsilon value at index 0");
  refuse<Muon>(MuonOptions().momentum(-1), "Muon: Invalid momentum");
  refuse<LBFGS>(LBFGSOptions(-1), "LBFGS: Invalid learning rate");
  refuse<Rprop>(RpropOptions().etas({0, 1.2}), "Rprop: Invalid eta values: 0, 1.2");
  refuse<Rprop>(RpropOptions().etas({0.5, 1}), "0.5, 1");
  refuse<Lion>(LionOptions().betas({0.9, 1.1}), "index 1");
  refuse<Muon>(MuonOptions().adjust_lr_fn("none"), "adjust_lr_fn");
}

TEST_CASE("add_param_group checks options and parameters as the constructor does") {
  const Variable p = ones({2, 2}).requires_grad_(), q = ones({2, 2}).requires_grad_();
  const auto group = [&](const OptimizerOptions& options) {
    return OptimizerParamGroup(Params{q}, options.clone());
  };
  CHECK_THROWS_WITH(Adam(Groups{group(AdamOptions(-1))}), support::Contains("Adam: Invalid learning rate"));
  Adam adam(Params{p});
  CHECK_THROWS_WITH(adam.add_param_group(group(AdamOptions().betas({0.9, 1}))),
                    support::Contains("Adam: Invalid beta parameter at index 1"));
  CHECK_THROWS_WITH(adam.add_param_group(group(SGDOptions(1))),
                    support::Contains("another optimizer's. Give it AdamOptions"));
  CHECK_THROWS_WITH(adam.add_parameters({p * 2}), support::Contains("non-leaf"));
  CHECK_THROWS_WITH(adam.add_parameters({Variable()}), support::Contains("undefined"));
  CHECK(adam.size() == 1);
  adam.add_param_group(group(AdamOptions(0.1)));
  CHECK_THROWS_WITH(adam.add_parameters({q}), support::Contains("more than one parameter group"));
  struct : WarningHandler {
    void process(const Warning& warning) override { warned += warning.msg(); }
    std::string warned;
  } handler;
  const WarningHandlerGuard guard(&handler);
  const SGD sgd(Params{p, p});
  CHECK_THAT(handler.warned, support::Contains("duplicate parameters"));
}
