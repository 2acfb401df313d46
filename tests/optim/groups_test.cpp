// Parameter groups, options and states as values: copies, comparison, and defaults of base classes.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <utility>

using namespace ebb;
using namespace ebb::optim;

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

TEST_CASE("get_momentum and set_momentum use momentum or the first beta if the options have one") {
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
