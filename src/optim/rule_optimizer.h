// Members of RuleOptimizer, RuleOptions and RuleParamState: checks, steps, serialization and comparisons.
#pragma once

#include <ebb/optim/optimizer.h>

#include "optim/fields.h"
#include "optim/kind.h"
#include "optim/step.h"

#include <string_view>

namespace ebb::optim {

inline void check_option(const char* optimizer, bool holds, const char* what, double value) {
  EBB_CHECK(holds, optimizer, ": Invalid ", what, ": ", value, ".");
}
/// Checks the options of rules with two moments.
template <class Options>
void check_moments(const char* optimizer, const Options& o) {
  const auto [beta1, beta2] = o.betas();
  check_option(optimizer, o.lr() >= 0, "learning rate", o.lr());
  check_option(optimizer, beta1 >= 0 && beta1 < 1, "beta parameter at index 0", beta1);
  check_option(optimizer, beta2 >= 0 && beta2 < 1, "beta parameter at index 1", beta2);
  check_option(optimizer, o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
  if constexpr (requires { o.eps(); }) check_option(optimizer, o.eps() >= 0, "epsilon value", o.eps());
}

[[noreturn]] inline void unknown_state(const char* optimizer, const std::string& name) {
  ebb::detail::fail(optimizer, ": the state has an entry '", name, "' that this optimizer does not know.");
}

template <class Options>
std::unique_ptr<OptimizerOptions> checked(const Options& options) {
  Kind<Options>::check(options);
  return options.clone();
}

template <class Options, class State>
RuleOptimizer<Options, State>::RuleOptimizer(std::vector<OptimizerParamGroup> param_groups, Options defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {
  stepped_ = false;
}
template <class Options, class State>
RuleOptimizer<Options, State>::RuleOptimizer(std::vector<Variable> params, Options defaults)
    : Optimizer(std::move(params), checked(defaults)) {
  stepped_ = false;
}
template <class Options, class State>
Variable RuleOptimizer<Options, State>::step(LossClosure closure) {
  before_step(closure);
  Variable loss = run(closure);
  EBB_CHECK(
      size() > 0, Kind<Options>::kName,
      ": there are no parameters. Give the optimizer net->parameters(), after all modules of the net are "
      "registered.");
  stepped_ = true;
  if constexpr (ComposedRule<Kind<Options>>)
    update_each<Kind<Options>>();
  else
    update_all<Kind<Options>>();
  after_step();
  return loss;
}
template <class Options, class State>
std::unique_ptr<OptimizerParamState> RuleOptimizer<Options, State>::new_state() const {
  return std::make_unique<State>();
}

template <class State, class Options>
void RuleParamState<State, Options>::serialize(serialize::OutputArchive& archive) const {
  Kind<Options>::fields(static_cast<const State&>(*this),
                        [&](const char* name, const auto& field) { write_field(archive, name, field); });
}
template <class State, class Options>
void RuleParamState<State, Options>::serialize(serialize::InputArchive& archive) {
  for (const auto& item : archive.tensors()) {
    bool known = false;
    Kind<Options>::fields(static_cast<State&>(*this), [&](const char* name, auto& field) {
      if (item.first != name) return;
      known = true;
      set_field(item.first, field, item.second);
    });
    if (!known) unknown_state(Kind<Options>::kName, item.first);
  }
}

template <class Options>
void RuleOptions<Options>::serialize(serialize::OutputArchive& archive) const {
  Kind<Options>::options(static_cast<const Options&>(*this),
                         [&](const char* name, const auto& field) { write_field(archive, name, field); });
  write_field(archive, "initial_lr", this->initial_lr_);
}
template <class Options>
void RuleOptions<Options>::serialize(serialize::InputArchive& archive) {
  std::size_t known = 0;
  const auto read = [&](const char* name, auto& field) {
    Variable value;
    if (archive.try_read(name, value)) {
      ++known;
      set_field(name, field, value);
    } else if constexpr (is_optional<std::remove_cvref_t<decltype(field)>>) {
      field.reset();
    }
  };
  auto& own = static_cast<Options&>(*this);
  Kind<Options>::options(own, read);
  read("initial_lr", this->initial_lr_);
  EBB_CHECK(known == archive.keys().size(), Kind<Options>::kName,
            ": the loaded options contain an entry that this optimizer does not know.");
  Kind<Options>::check(own);
}

template <class Options>
void RuleOptions<Options>::check(const OptimizerOptions& group) const {
  const auto* const own = dynamic_cast<const Options*>(&group);
  EBB_CHECK(own, Kind<Options>::kName,
            ": a parameter group has options that are another optimizer's. Give it ", Kind<Options>::kName,
            "Options.");
  Kind<Options>::check(*own);
}

/// Returns whether all fields of a and b are equal. `list(x, f)` calls f(name, field) for each field of x.
template <class T, class List>
bool same_fields(const T& a, const T& b, const List& list) {
  bool same = true;
  list(a, [&](std::string_view name, const auto& mine) {
    list(b, [&](std::string_view theirs, const auto& field) {
      if constexpr (std::is_same_v<decltype(mine), decltype(field)>)
        if (name == theirs && !same_field(mine, field)) same = false;
    });
  });
  return same;
}

template <class State, class Options>
bool RuleParamState<State, Options>::equals(const State& other) const {
  return same_fields(static_cast<const State&>(*this), other,
                     [](const State& state, const auto& f) { Kind<Options>::fields(state, f); });
}
template <class Options>
bool RuleOptions<Options>::equals(const Options& other) const {
  return same_fields(static_cast<const Options&>(*this), other,
                     [](const Options& options, const auto& f) { Kind<Options>::options(options, f); });
}

}  // namespace ebb::optim

/// Instantiates an optimizer with its options and its state. Its Kind must be defined before.
#define EBB_RULE_OPTIMIZER(name)                                  \
  static_assert(OptimizerRule<Kind<name##Options>>);              \
  template class OptimizerCloneableOptions<name##Options>;        \
  template class RuleOptions<name##Options>;                      \
  template class OptimizerCloneableParamState<name##ParamState>;  \
  template class RuleParamState<name##ParamState, name##Options>; \
  template class RuleOptimizer<name##Options, name##ParamState>
