// Optimizers: values of libtorch 1.13, closures, schedulers and errors; parameter groups, options and states
// as values.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace ebb;
using namespace ebb::optim;

namespace {

using Params = std::vector<Variable>;

/// Makes three steps from 1 on the sum of cubes; libtorch 1.13 printed `expected`.
template <class O, class Options>
void check_path(const Options& options, const std::vector<double>& expected) {
  Variable p = ones({3}, kDouble).requires_grad_();
  O optimizer({p}, options);
  for (const double value : expected) {
    optimizer.zero_grad();
    (p * p * p).sum().backward();
    optimizer.step();
    CHECK(p[0].item<double>() == Approx(value).epsilon(1e-12));
    CHECK(p[2].item<double>() == p[0].item<double>());
  }
}

}  // namespace

TEST_CASE("steps of optimizers give the parameter values of libtorch") {
  check_path<SGD>(SGDOptions(0.1), {0.69999999999999996, 0.55299999999999994, 0.46125729999999998});
  check_path<SGD>(SGDOptions(0.1).momentum(0.9).dampening(0.1).weight_decay(0.01),
                  {0.69899999999999995, 0.29554862999999998, -0.091407824794616802});
  check_path<SGD>(SGDOptions(0.1).momentum(0.9).nesterov(true),
                  {0.42999999999999994, 0.081606999999999916, -0.18581973039593008});
  check_path<Adam>(AdamOptions(0.1).weight_decay(0.01).amsgrad(true),
                   {0.90000000033222594, 0.8010879590584461, 0.70414285647048758});
  check_path<AdamW>(AdamWOptions(0.1), {0.89900000033333338, 0.79920882686362571, 0.70151967286684036});
  check_path<RMSprop>(RMSpropOptions(0.1).momentum(0.9).centered(true).weight_decay(0.1),
                      {-0.0050377826753090667, -0.90943245235044556, -2.343921227405104});
  check_path<Adagrad>(AdagradOptions(0.1).lr_decay(0.1).weight_decay(0.1).initial_accumulator_value(0.1),
                      {0.90051626571331211, 0.84331240780181205, 0.8029749096456672});
}

TEST_CASE("amsgrad uses the maximum of the second moment when gradients shrink") {
  Variable p = ones({1}, kDouble).requires_grad_();
  Adam optimizer({p}, AdamOptions(0.1).amsgrad(true));
  double mean = 0, square = 0, largest = 0, expected = 1;
  for (int step = 1; step <= 3; ++step) {
    const double gradient = std::pow(0.01, step);
    p.mutable_grad() = full({1}, gradient, kDouble);
    optimizer.step();
    mean = 0.9 * mean + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    largest = std::max(largest, square);
    expected -=
        0.1 * mean / (1 - std::pow(0.9, step)) / (std::sqrt(largest / (1 - std::pow(0.999, step))) + 1e-8);
    CHECK(p.item<double>() == Approx(expected).epsilon(1e-10));
  }
  CHECK(largest > square);
}

TEST_CASE("amsgrad propagates a NaN second moment") {
  Variable p = ones({2}).requires_grad_();
  Adam optimizer({p}, AdamOptions(0.1).amsgrad(true));
  p.mutable_grad() = tensor({1.0, double{NAN}});
  optimizer.step();
  const auto state = optimizer.state_dict();
  const auto largest = std::find_if(state.begin(), state.end(),
                                    [](const auto& item) { return item.first == "0.max_exp_avg_sq"; });
  REQUIRE(largest != state.end());
  CHECK(std::isfinite(largest->second[0].item<float>()));
  CHECK(std::isnan(largest->second[1].item<float>()));
}

TEST_CASE("parameter groups have separate options and share the defaults") {
  Variable a = ones({2}, kDouble).requires_grad_(), b = ones({2}, kDouble).requires_grad_();
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(Params{a}, std::make_unique<SGDOptions>(0.5));
  groups.emplace_back(Params{b});
  SGD optimizer(groups, SGDOptions(0.25));
  (a.sum() + b.sum()).backward();
  optimizer.step();
  CHECK(a[0].item<double>() == 0.5);
  CHECK(b[0].item<double>() == 0.75);
  optimizer.param_groups()[1].options().set_lr(1);
  static_cast<SGDOptions&>(optimizer.param_groups()[0].options()).lr() = 0;
  optimizer.step();
  CHECK(a[0].item<double>() == 0.5);
  CHECK(b[0].item<double>() == -0.25);
  CHECK(optimizer.size() == 2);
  CHECK(optimizer.param_groups().size() == 2);
}

TEST_CASE("step runs its closure with grad mode on and returns the loss") {
  Variable p = ones({2}, kDouble).requires_grad_();
  SGD optimizer({p}, 0.1);
  NoGradGuard no_grad;
  const Variable loss = optimizer.step([&] {
    optimizer.zero_grad();
    Variable value = (p * p).sum();
    value.backward();
    return value;
  });
  CHECK(loss.item<double>() == 2);
  CHECK(p[0].item<double>() == Approx(0.8));
}

TEST_CASE("zero_grad zeroes or resets gradients and skips undefined ones") {
  Variable p = ones({2}).requires_grad_(), unused = ones({2}).requires_grad_();
  Adam optimizer({p, unused}, 0.1);
  p.sum().backward();
  optimizer.step();
  CHECK(unused[0].item<float>() == 1);
  optimizer.zero_grad();
  CHECK(p.grad().abs().sum().item<float>() == 0);
  optimizer.zero_grad(/*set_to_none=*/true);
  CHECK_FALSE(p.grad().defined());
}

TEST_CASE("step also updates the parameters that follow one without a gradient") {
  Variable unused = ones({2}).requires_grad_(), p = ones({2}).requires_grad_();
  SGD optimizer({unused, p}, 0.5);
  p.sum().backward();
  optimizer.step();
  CHECK(equal(p, full({2}, 0.5)));
  CHECK(equal(unused, ones({2})));
}

TEST_CASE("step throws for a gradient of another shape and accepts another layout") {
  Variable p = zeros({2, 3}).t().requires_grad_();
  REQUIRE_FALSE(p.is_contiguous());
  for (const bool momentum : {false, true}) {
    SGD optimizer({p}, SGDOptions(1).momentum(momentum ? 0.5 : 0));
    const Variable before = p.detach().clone(), gradient = arange(6, kFloat).view({3, 2});
    p.mutable_grad() = gradient;
    optimizer.step();
    CHECK(equal(p, before - gradient));
    p.mutable_grad() = ones({2, 3});
    CHECK_THROWS_WITH(optimizer.step(), support::Contains("They must agree in shape and device"));
    CHECK(equal(p, before - gradient));
  }
}

TEST_CASE("load_state_dict throws for entries of another optimizer and names them") {
  Variable p = ones({2}).requires_grad_();
  Adam adam({p}, 0.1);
  CHECK_THROWS_WITH(adam.load_state_dict({{"7.exp_avg", ones({2})}}), support::Contains("7.exp_avg"));
  CHECK_THROWS_WITH(adam.load_state_dict({{"0.velocity", ones({2})}}), support::Contains("velocity"));
}

TEST_CASE("StepLR multiplies the learning rate every step_size steps") {
  Variable p = ones({2}).requires_grad_();
  SGD optimizer({p}, 0.1);
  StepLR schedule(optimizer, 2, 0.5);
  std::vector<double> rates;
  for (int i = 0; i < 5; ++i) {
    schedule.step();
    rates.push_back(optimizer.param_groups()[0].options().get_lr());
  }
  CHECK(rates == std::vector<double>{0.1, 0.1, 0.05, 0.05, 0.025});
}

TEST_CASE("optimizers throw for invalid options and parameters") {
  using support::Contains;
  Variable p = ones({2}).requires_grad_();
  CHECK_THROWS_WITH(SGD(Params{p}, SGDOptions(-1)), Contains("Invalid learning rate: -1"));
  CHECK_THROWS_WITH(SGD(Params{p}, SGDOptions(1).nesterov(true)), Contains("Nesterov momentum requires"));
  CHECK_THROWS_WITH(Adam(Params{p}, AdamOptions().betas(std::make_tuple(1.0, 0.9))), Contains("index 0: 1"));
  CHECK_THROWS_WITH(Adam(Params{p}, AdamOptions().betas(std::make_tuple(0.9, 1.0))), Contains("index 1: 1"));
  CHECK_THROWS_WITH(SGD(Params{p}, SGDOptions(1).momentum(0.9).dampening(0.1).nesterov(true)),
                    Contains("Nesterov momentum requires"));
  CHECK_THROWS_WITH(RMSprop(Params{p}, RMSpropOptions().alpha(-1)), Contains("alpha"));
  CHECK_THROWS_WITH(SGD(Params{p * 2}, SGDOptions(1)), Contains("non-leaf"));
}

TEST_CASE("SGD updates a Half parameter") {
  Variable half = ones({4}, kHalf).requires_grad_();
  SGD three({half}, SGDOptions(0.5));
  half.sum().backward();
  three.step();
  CHECK(half[0].item<float>() == 0.5F);
}

// Parameter groups, options and states as values: copies, comparison, and defaults of base classes.

namespace {

Tensor leaf() { return tensor({1., -2.}, kDouble).requires_grad_(); }

struct Bare : OptimizerOptions {};
struct BareState : OptimizerParamState {};
struct Plain : OptimizerCloneableOptions<Plain> {};
struct Own : OptimizerCloneableParamState<Own> {
  EBB_ARG(std::int64_t, count) = 0;
};

template <class Optimizer, class State>
void check_clone() {
  const Tensor p = leaf();
  Optimizer optimizer({p});
  const auto step = [&] {
    optimizer.zero_grad();
    (p * p).sum().backward();
    optimizer.step();
  };
  step();
  const auto& state = static_cast<const State&>(*optimizer.state().at(p.unsafeGetTensorImpl()));
  const auto clone = state.clone();
  const auto& copy = dynamic_cast<const State&>(*clone);
  CHECK(copy == state);
  step();
  CHECK(state.step() == 2);
  CHECK(copy.step() == 1);
  CHECK_FALSE(copy == state);
}

}  // namespace

TEST_CASE("a copied parameter group shares the parameters and has separate options") {
  const Tensor p = leaf(), q = leaf();
  OptimizerParamGroup from({p, q}, std::make_unique<SGDOptions>(0.5)),
      to({q}, std::make_unique<AdamOptions>());
  to = from;
  REQUIRE(to.params().size() == 2);
  CHECK(to.params()[0].is_same(p));
  CHECK(to.params()[1].is_same(q));
  from.options().set_lr(0.25);
  CHECK(dynamic_cast<const SGDOptions&>(to.options()).lr() == 0.5);
  to.set_options(std::make_unique<SGDOptions>(2));
  CHECK(to.options().get_lr() == 2);
  CHECK(from.options().get_lr() == 0.25);
  to.set_options(nullptr);
  CHECK_FALSE(to.has_options());
  CHECK_THROWS_MATCHES(to.options(), Error, support::Saying("This parameter group has no options yet"));
  from = to;
  CHECK_FALSE(from.has_options());
}

TEST_CASE("parameters() and add_parameters refer to the first group of an optimizer") {
  const Tensor p = leaf(), q = leaf(), r = leaf();
  SGD optimizer({OptimizerParamGroup({p}), OptimizerParamGroup({q})}, SGDOptions(1));
  optimizer.add_parameters({r});
  const std::vector<Tensor>& first = std::as_const(optimizer).parameters();
  REQUIRE(first.size() == 2);
  CHECK(first[0].is_same(p));
  CHECK(first[1].is_same(r));
  CHECK(&first == &optimizer.param_groups()[0].params());
  CHECK(optimizer.size() == 3);
}

TEST_CASE("get_momentum and set_momentum access momentum or the first beta, and do nothing without either") {
  SGDOptions sgd(1);
  AdamOptions adam;
  sgd.set_momentum(0.25);
  adam.set_momentum(0.25);
  CHECK(*sgd.get_momentum() == 0.25);
  CHECK(sgd.momentum() == 0.25);
  CHECK(adam.betas() == std::tuple(0.25, 0.999));
  CHECK(*adam.get_momentum() == 0.25);
  Bare bare;
  Plain plain;
  for (OptimizerOptions* const options :
       {static_cast<OptimizerOptions*>(&bare), static_cast<OptimizerOptions*>(&plain)}) {
    options->set_momentum(0.25);
    CHECK_FALSE(options->get_momentum().has_value());
  }
}

TEST_CASE("clone of a state has the same class and is independent") {
  check_clone<Adadelta, AdadeltaParamState>();
  check_clone<Adagrad, AdagradParamState>();
  check_clone<Adamax, AdamaxParamState>();
  check_clone<Lion, LionParamState>();
  check_clone<RAdam, RAdamParamState>();
  check_clone<Rprop, RpropParamState>();
  Own own;
  own.count(4);
  const auto clone = static_cast<const OptimizerParamState&>(own).clone();
  own.count(5);
  CHECK(dynamic_cast<const Own&>(*clone).count() == 4);
  BareState bare;
  serialize::InputArchive in;
  CHECK_THROWS_MATCHES(
      bare.clone(), NotImplementedError,
      support::Saying("OptimizerParamState::clone() is not implemented by the class derived"));
  CHECK_THROWS_MATCHES(bare.serialize(in), NotImplementedError,
                       support::Saying("OptimizerParamState::serialize() is not implemented"));
}

TEST_CASE("options are equal if all their fields are equal") {
  const auto options = [] { return RpropOptions(0.5).etas({0.25, 2}).step_sizes({0.125, 4}); };
  CHECK(options() == options());
  CHECK_FALSE(options() == options().lr(0.25));
  CHECK_FALSE(options() == options().etas({0.25, 3}));
  CHECK_FALSE(options() == options().step_sizes({0.5, 4}));
}
