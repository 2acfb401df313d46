// Hooks of optimizers: before and after a step, and in state_dict and load_state_dict.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <sstream>
#include <string>

using namespace ebb;
using namespace ebb::optim;

namespace {

Variable leaf() { return ones({2}, kDouble).requires_grad_(); }

/// Calls step() with a closure that adds to the log and leaves a gradient of 1.
void step(Optimizer& optimizer, std::string& log) {
  optimizer.step([&] {
    log += "closure ";
    for (Variable& p : optimizer.parameters()) p.mutable_grad() = ones_like(p.detach());
    return ones({}, kDouble);
  });
}

}  // namespace

TEST_CASE("step hooks run in the order of registration until they are removed") {
  std::string log;
  const auto note = [&](const char* text) { return [&log, text](Optimizer&, auto&...) { log += text; }; };
  SGD sgd({leaf()}, SGDOptions(1));
  LBFGS lbfgs({leaf()}, LBFGSOptions(1).max_iter(1));
  auto everywhere = register_optimizer_step_pre_hook(note("all+ "));
  auto afterwards = register_optimizer_step_post_hook(note("all- "));
  for (Optimizer* const optimizer : std::initializer_list<Optimizer*>{&sgd, &lbfgs}) {
    log.clear();
    auto first = optimizer->register_step_pre_hook(note("a+ "));
    auto second = optimizer->register_step_pre_hook(note("b+ "));
    auto after = optimizer->register_step_post_hook(note("a- "));
    step(*optimizer, log);
    CHECK(log == "all+ a+ b+ closure a- all- ");
    log.clear();
    first.remove();
    after.remove();
    after.remove();
    step(*optimizer, log);
    CHECK(log == "all+ b+ closure all- ");
  }
  everywhere.remove();
  afterwards.remove();
  log.clear();
  step(sgd, log);
  CHECK(log == "b+ closure ");
  CHECK_THROWS_WITH(sgd.register_step_pre_hook(nullptr), support::Contains("empty function"));
  nn::RemovableHandle left;
  {
    SGD gone({leaf()}, SGDOptions(1));
    left = gone.register_step_post_hook(note("gone "));
  }
  left.remove();
}

TEST_CASE("a step pre-hook can change gradients, options and closure") {
  const Variable p = leaf();
  SGD sgd({p}, SGDOptions(1));
  std::string log;
  sgd.register_step_pre_hook([](Optimizer& optimizer, Optimizer::LossClosure& closure) {
    optimizer.param_groups()[0].options().set_lr(0.25);
    closure = [&optimizer] {
      optimizer.parameters()[0].mutable_grad() = full({2}, 2.0, kDouble);
      return zeros({}, kDouble);
    };
  });
  step(sgd, log);
  CHECK(log.empty());
  CHECK(equal(p, full({2}, 0.5, kDouble)));
  // Hooks move with the optimizer.
  SGD moved(std::move(sgd));
  step(moved, log);
  CHECK(log.empty());
}

TEST_CASE("state_dict and load_state_dict hooks can change the state") {
  const Variable p = leaf();
  SGD sgd({p}, SGDOptions(1).momentum(0.5));
  std::string log;
  step(sgd, log);
  log.clear();
  sgd.register_state_dict_pre_hook([&](const Optimizer&) { log += "before "; });
  sgd.register_state_dict_post_hook([&](const Optimizer&, Optimizer::StateDict& state) {
    log += "after ";
    state[0].second = state[0].second * 3;
  });
  sgd.register_state_dict_pre_hook([&](const Optimizer&) { log += "first "; }, /*prepend=*/true);
  std::stringstream bytes;
  save(sgd, bytes);
  CHECK(log == "first before after ");
  SGD other({leaf()}, SGDOptions(9).momentum(0.5));
  log.clear();
  other.register_load_state_dict_pre_hook([&](Optimizer& optimizer, Optimizer::StateDict& state) {
    log += optimizer.state().empty() ? "empty " : "full ";
    state[0].second = state[0].second + 1;
  });
  other.register_load_state_dict_post_hook([&](Optimizer& optimizer) {
    log += optimizer.state().empty() ? "empty " : "full ";
    CHECK(optimizer.param_groups()[0].options().get_lr() == 1);
  });
  load(other, bytes);
  CHECK(log == "empty full ");
  const auto velocity = [&] { return other.state_dict()[0].second; };
  CHECK(equal(velocity(), full({2}, 4.0, kDouble)));
  other.load_state_dict(other.state_dict());
  CHECK(log == "empty full full full ");
  CHECK(equal(velocity(), full({2}, 5.0, kDouble)));
}
