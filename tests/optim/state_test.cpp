// The state of optimizers for each parameter: late parameters, saved states, writes that backward detects,
// and master weights of 16-bit parameters.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <sstream>

using namespace ebb;
using namespace ebb::optim;

namespace {

using Params = std::vector<Variable>;
using Maker = std::function<std::unique_ptr<Optimizer>(Params)>;

struct Case {
  const char* name;
  Maker make;
  bool noticed = true;  // whether backward detects the write of step()
};

template <class O, class Options>
Case one(const char* name, const Options& options, bool noticed = true) {
  return {name, [options](Params p) { return std::make_unique<O>(std::move(p), options); }, noticed};
}

std::vector<Case> cases() {
  return {one<SGD>("SGD", SGDOptions(0.1), false),
          one<SGD>("SGD with momentum", SGDOptions(0.1).momentum(0.9).dampening(0.3), false),
          one<Adam>("Adam", AdamOptions(0.1).amsgrad(true)),
          one<AdamW>("AdamW", AdamWOptions(0.1)),
          one<RMSprop>("RMSprop", RMSpropOptions(0.1).momentum(0.5).centered(true)),
          one<Adagrad>("Adagrad", AdagradOptions(0.1).lr_decay(0.5))};
}

Variable start(double from) { return linspace(from, from + 1, 4, TensorOptions(kDouble)).requires_grad_(); }

/// Makes one step on the sum of fourth powers of `used`; the others have no gradient yet, or a zero gradient.
void step(Optimizer& optimizer, const Params& used) {
  optimizer.zero_grad();
  for (const Variable& p : used) p.pow(4).sum().backward();
  optimizer.step();
}

/// Returns p after `steps` steps alone.
Variable alone(const Case& c, double from, int steps) {
  const Variable p = start(from);
  const auto optimizer = c.make({p});
  for (int i = 0; i < steps; ++i) step(*optimizer, {p});
  return p;
}

}  // namespace

TEST_CASE("backward throws if step modified a parameter that the graph needs") {
  for (const Case& c : cases()) {
    INFO(c.name);
    // The second parameter is not contiguous.
    for (const Variable& p : {start(1), ones({4, 6}, kDouble).slice(1, 0, 3).detach().requires_grad_()}) {
      const auto optimizer = c.make({p});
      const Variable loss = (p * p).sum();
      p.mutable_grad() = ones_like(p.detach());
      const auto version = p._version();
      optimizer->step();
      if (c.noticed) {
        CHECK(p._version() > version);
        CHECK_THROWS_WITH(loss.backward(), support::Contains("modified by an inplace operation"));
      } else {  // libtorch's SGD writes through data()
        CHECK(p._version() == version);
        CHECK_NOTHROW(loss.backward());
      }
    }
  }
}

TEST_CASE("a parameter whose first gradient is late has a step count of its own") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const Variable early = start(1), late = start(2), never = start(3);
    const auto optimizer = c.make({early, late, never});
    for (int i = 0; i < 3; ++i) step(*optimizer, {early});
    CHECK(equal(late, start(2)));
    for (int i = 0; i < 4; ++i) step(*optimizer, {early, late});
    CHECK(equal(early, alone(c, 1, 7)));
    CHECK(equal(late, alone(c, 2, 4)));
    CHECK(equal(never, start(3)));
  }
}

TEST_CASE("parameters and groups that are added later have step counts of their own") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const Variable first = start(1), added = start(2), grouped = start(3);
    const auto optimizer = c.make({first});
    step(*optimizer, {first});
    optimizer->add_parameters({added});
    step(*optimizer, {first, added});
    optimizer->add_param_group(OptimizerParamGroup(Params{grouped}));
    for (int i = 0; i < 3; ++i) step(*optimizer, {first, added, grouped});
    CHECK(equal(first, alone(c, 1, 5)));
    CHECK(equal(added, alone(c, 2, 4)));
    CHECK(equal(grouped, alone(c, 3, 3)));
  }
}

TEST_CASE("a saved state contains the names of the state of each parameter") {
  const Variable early = start(1), late = start(2), never = start(3);
  Adam optimizer({early, late, never}, AdamOptions(0.1));
  step(optimizer, {early});
  step(optimizer, {early, late});
  std::vector<std::string> names;
  for (const auto& [name, value] : optimizer.state_dict()) {
    names.push_back(name);
    if (name == "0.step") CHECK(value.item<int>() == 2);
    if (name == "1.step") CHECK(value.item<int>() == 1);
  }
  CHECK(names == std::vector<std::string>{"0.step", "0.exp_avg", "0.exp_avg_sq", "1.step", "1.exp_avg",
                                          "1.exp_avg_sq"});
}

TEST_CASE("RMSprop stores only the state that its options need") {
  const auto names = [](const RMSpropOptions& options) {
    const Variable p = start(1);
    RMSprop optimizer({p}, options);
    step(optimizer, {p});
    std::vector<std::string> out;
    for (const auto& item : optimizer.state_dict()) out.push_back(item.first);
    return out;
  };
  using Names = std::vector<std::string>;
  CHECK(names(RMSpropOptions(0.1)) == Names{"0.step", "0.square_avg"});
  CHECK(names(RMSpropOptions(0.1).momentum(0.5)) == Names{"0.step", "0.square_avg", "0.momentum_buffer"});
  CHECK(names(RMSpropOptions(0.1).centered(true)) == Names{"0.step", "0.square_avg", "0.grad_avg"});
}

TEST_CASE("StepLR counts steps as libtorch or, with kPython, as PyTorch in Python") {
  const auto rates = [](auto... counting) {
    SGD optimizer({start(1)}, SGDOptions(1));
    StepLR schedule(optimizer, 3, 0.5, counting...);
    std::vector<double> out;
    for (int i = 0; i < 8; ++i) {
      schedule.step();
      out.push_back(optimizer.param_groups()[0].options().get_lr());
    }
    return out;
  };
  const std::vector<double> libtorch{1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25};
  CHECK(rates() == libtorch);
  CHECK(rates(StepLR::Counting::kLibtorch) == libtorch);
  CHECK(rates(StepLR::Counting::kPython) == std::vector<double>{1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25});
}

// Master weights: 16-bit parameters whose updates are computed on copies in f32.

namespace {

constexpr DType kNarrow[] = {kHalf, kBFloat16};

template <class O>
O options(bool master) {
  return O(1e-3).weight_decay(0.01).master_weights(master);
}

/// Returns the gradient of update `step`, which is the same for every dtype of the parameter.
Variable gradient(const Variable& p, int step) {
  manual_seed(static_cast<std::uint64_t>(step));
  return randn(p.sizes()).to(kBFloat16).to(kHalf).to(p.dtype());
}

void step(Optimizer& optimizer, Variable& p, int from, int to) {
  for (int i = from; i < to; ++i) {
    p.mutable_grad() = gradient(p, i);
    optimizer.step();
  }
}

Variable start(DType dtype, IntArrayRef sizes = {37, 5}) {
  manual_seed(3);
  return randn(sizes).to(dtype).requires_grad_();
}

template <class Kind, class O>
void follows_float(DType dtype, const O& how) {
  Variable narrow = start(dtype), wide = narrow.detach().to(kFloat).requires_grad_();
  Kind optimizer({narrow}, how(true)), reference({wide}, how(false));
  for (int i = 0; i < 20; ++i) {
    step(optimizer, narrow, i, i + 1);
    step(reference, wide, i, i + 1);
    REQUIRE(equal(narrow, wide.to(dtype)));
  }
}

}  // namespace

TEST_CASE("parameters with master weights equal float parameters rounded to 16 bits") {
  for (const DType dtype : kNarrow) {
    INFO(dtype);
    follows_float<Adam>(dtype, options<AdamOptions>);
    follows_float<AdamW>(dtype, options<AdamWOptions>);
    follows_float<Adam>(dtype, [](bool master) { return options<AdamOptions>(master).amsgrad(true); });
  }
}

TEST_CASE("updates too small for 16 bits accumulate in the master weights") {
  const auto moved = [](bool master) {
    Variable p = ones({4}, kBFloat16).requires_grad_();
    Adam optimizer({p}, AdamOptions(1e-4).master_weights(master));
    for (int i = 0; i < 200; ++i) {
      p.mutable_grad() = ones({4}, kBFloat16);
      optimizer.step();
    }
    return 1 - p[0].item<double>();
  };
  CHECK(moved(false) == 0);
  CHECK(moved(true) == Approx(0.02).margin(0.004));
}

TEST_CASE("a write to the parameter resets its master weights") {
  Variable p = start(kHalf);
  AdamW optimizer({p}, options<AdamWOptions>(true));
  step(optimizer, p, 0, 5);
  {
    NoGradGuard no_grad;
    p.fill_(3);
  }
  Variable master = static_cast<const AdamWParamState&>(*optimizer.state().at(p.impl())).master();
  CHECK_FALSE(equal(master, full_like(master, 3)));
  optimizer.param_groups()[0].options().set_lr(0);
  step(optimizer, p, 5, 6);
  CHECK(equal(p, full_like(p, 3)));
  CHECK(equal(master, full_like(master, 3)));
}

TEST_CASE("master weights and float moments are bitwise equal after saving and loading") {
  for (const DType dtype : kNarrow) {
    Variable p = start(dtype);
    Adam optimizer({p}, options<AdamOptions>(true));
    step(optimizer, p, 0, 4);
    std::stringstream bytes;
    save(optimizer, bytes);
    Variable q = p.detach().clone().requires_grad_();
    Adam restored({q}, options<AdamOptions>(true));
    load(restored, bytes);
    for (const auto& [name, value] : restored.state_dict())
      CHECK((name == "0.step" || value.dtype() == kFloat));
    CHECK(optimizer.state_dict().size() == 4);
    CHECK(restored.state_dict().size() == 4);
    step(optimizer, p, 4, 8);
    step(restored, q, 4, 8);
    CHECK(equal(p, q));
  }
}

TEST_CASE("states change their dtype when master weights are switched on or off") {
  Variable p = start(kBFloat16);
  Adam optimizer({p}, options<AdamOptions>(false));
  const auto state = [&]() -> const AdamParamState& {
    return static_cast<const AdamParamState&>(*optimizer.state().at(p.impl()));
  };
  step(optimizer, p, 0, 2);
  CHECK(state().exp_avg().dtype() == kBFloat16);
  auto& how = static_cast<AdamOptions&>(optimizer.param_groups()[0].options());
  how.master_weights(true);
  step(optimizer, p, 2, 4);
  CHECK(state().exp_avg().dtype() == kFloat);
  CHECK(equal(state().master().to(kBFloat16), p));
  how.master_weights(false);
  step(optimizer, p, 4, 6);
  CHECK(state().exp_avg_sq().dtype() == kBFloat16);
}

TEST_CASE("float parameters have no master weights and strided 16-bit parameters have them") {
  for (const DType dtype : {kFloat, kDouble}) {
    Variable p = start(dtype), q = start(dtype);
    Adam with({p}, options<AdamOptions>(true)), without({q}, options<AdamOptions>(false));
    step(with, p, 0, 3);
    step(without, q, 0, 3);
    CHECK(equal(p, q));
    CHECK(with.state_dict().size() == 3);
  }
  Variable strided = start(kHalf, {20, 30}).detach().t().requires_grad_();
  Variable plain = strided.detach().contiguous().requires_grad_();
  Adam a({strided}, options<AdamOptions>(true)), b({plain}, options<AdamOptions>(true));
  step(a, strided, 0, 3);
  step(b, plain, 0, 3);
  CHECK(equal(strided, plain));
}
