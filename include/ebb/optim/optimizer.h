// Optimizer: the base class of all optimizers.
#pragma once

#include <ebb/archive.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/variable.h>
#include <ebb/nn/removable_handle.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb::optim {

/// Options of a parameter group. Each optimizer derives its own class through OptimizerCloneableOptions. A
/// function that is not overridden throws ebb::NotImplementedError when it is called. Only serialize does
/// nothing instead.
class EBB_API OptimizerOptions {
 public:
  virtual ~OptimizerOptions();
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  /// Write the options to an archive, each under its name, and read them back.
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);
  /// Throws if these options of a group are invalid. The argument contains the optimizer's defaults.
  virtual void check(const OptimizerOptions&) const {}
  /// Get and set the momentum, or the first of the betas. Without either, the getter returns nothing.
  virtual optional<double> get_momentum() const { return {}; }
  virtual void set_momentum(double) {}
  /// Returns the rate before any scheduler changed it. This is the rate at the first call of this function. A
  /// scheduler with its own initial rate (OneCycleLR) replaces it by set_initial_lr().
  double initial_lr();
  void set_initial_lr(double lr) { initial_lr_ = lr; }

 protected:
  optional<double> initial_lr_;
};

/// Provides clone() for Derived, and getters and setters for its options `lr` and `momentum` or `betas`.
template <class Derived>
class EBB_API OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override;
  double get_lr() const override;
  void set_lr(double lr) override;
  optional<double> get_momentum() const override;
  void set_momentum(double momentum) override;
};

/// Options of an optimizer of the library. Files contain every option (src/optim/rule_optimizer.h).
template <class Derived>
class EBB_API RuleOptions : public OptimizerCloneableOptions<Derived> {
 public:
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  void check(const OptimizerOptions& group) const override;
  /// Returns whether all options are equal.
  friend bool operator==(const Derived& a, const Derived& b) { return a.equals(b); }

 private:
  bool equals(const Derived& other) const;
};

/// A group of parameters that share their options.
class EBB_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Variable> params);
  OptimizerParamGroup(std::vector<Variable> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other);

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options);
  std::vector<Variable>& params() { return params_; }
  const std::vector<Variable>& params() const { return params_; }

 private:
  std::vector<Variable> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

/// The state of an optimizer for one parameter. Each optimizer derives its own class through
/// OptimizerCloneableParamState. A function that is not overridden throws ebb::NotImplementedError when it is
/// called.
class EBB_API OptimizerParamState {
 public:
  virtual ~OptimizerParamState();
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  /// Write the state to an archive by name, and read it back.
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);
  /// Returns whether a tensor may be part of the state: it has no dimensions or has the parameter's sizes.
  virtual bool fits(const Variable& value, const Variable& parameter) const;
};

/// The key of a parameter's state: `p.unsafeGetTensorImpl()`, as in 2.x, or this address as a string,
/// `c10::guts::to_string(p.unsafeGetTensorImpl())`, as in 1.13. A string that is not an address throws.
class EBB_API ParameterKey {
 public:
  ParameterKey(const void* parameter) noexcept : parameter_(parameter) {}
  ParameterKey(const std::string& address);
  operator const void*() const noexcept { return parameter_; }
  struct Hash {
    std::size_t operator()(ParameterKey key) const noexcept { return std::hash<const void*>()(key); }
  };

 private:
  const void* parameter_;
};

/// The state of one parameter. It is empty before the first step that changes the parameter; `*` and `->`
/// then throw.
class EBB_API OptimizerStateSlot : public std::unique_ptr<OptimizerParamState> {
 public:
  using std::unique_ptr<OptimizerParamState>::unique_ptr;
  using std::unique_ptr<OptimizerParamState>::operator=;
  OptimizerParamState& operator*() const { return checked(); }
  OptimizerParamState* operator->() const { return &checked(); }

 private:
  OptimizerParamState& checked() const;
};

/// The states of an optimizer, by parameter.
using OptimizerStates = std::unordered_map<ParameterKey, OptimizerStateSlot, ParameterKey::Hash>;

/// Provides clone() for Derived.
template <class Derived>
class EBB_API OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override;
};

/// Updates parameters with their gradients (torch::optim::Optimizer). Derive from it and define step(). Store
/// state in state_; new_state() creates an empty state for loading.
class EBB_API Optimizer {
 public:
  using LossClosure = std::function<Variable()>;
  using StateDict = std::vector<std::pair<std::string, Variable>>;

  explicit Optimizer(std::vector<OptimizerParamGroup> param_groups,
                     std::unique_ptr<OptimizerOptions> defaults);
  explicit Optimizer(std::vector<Variable> parameters, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  /// Moves the groups, states and defaults. The optimizer `other` then has no parameters. Its schedulers
  /// still refer to `other`.
  Optimizer(Optimizer&& other);
  Optimizer& operator=(Optimizer&& other);
  virtual ~Optimizer();

  /// Adds parameters with their own options, or with the defaults. Throws for a parameter that is not a leaf
  /// or is in another group, and for options that are invalid or belong to another optimizer. A parameter
  /// that occurs twice in a group is updated twice, with a warning, as in PyTorch.
  void add_param_group(const OptimizerParamGroup& param_group);
  /// Adds parameters to the first group. Throws for the same errors.
  void add_parameters(const std::vector<Variable>& parameters);
  /// Updates all parameters once. A closure, which computes the loss (and calls backward), runs first, and
  /// its value is returned.
  virtual Variable step(LossClosure closure = nullptr) = 0;
  /// Resets the gradients to zeros, as in libtorch 1.13. With set_to_none, makes them undefined.
  void zero_grad(bool set_to_none = false);

  /// Returns all parameters of the first group.
  const std::vector<Variable>& parameters() const noexcept;
  std::vector<Variable>& parameters() noexcept;
  /// Returns the number of parameters in all groups.
  std::size_t size() const noexcept;
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// Returns the states by parameter:
  /// `static_cast<AdamParamState&>(*optimizer.state()[p.unsafeGetTensorImpl()]).exp_avg()`.
  OptimizerStates& state() noexcept { return state_; }
  const OptimizerStates& state() const noexcept { return state_; }

  /// Returns the states as tensors named by the parameter's index and the state's name: "3.exp_avg". Options
  /// are not included.
  StateDict state_dict() const;
  /// Restores the states of an optimizer of the same class, with parameters of the same shapes.
  void load_state_dict(const StateDict& state);
  /// Write the states and the options of all groups ("param_groups.0.lr") to an archive, and read them back.
  /// An archive without options does not change them. An archive with more groups than the optimizer throws.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  /// Loads with `make` in place of new_state().
  using StateMaker = std::function<std::unique_ptr<OptimizerParamState>()>;
  void load(serialize::InputArchive& archive, const StateMaker& make);

  /// Hooks run in the order of registration; with `prepend` a hook runs first. Step hooks run before or after
  /// a step. Those that run before it may change gradients, options and the closure. State hooks run before a
  /// state is written, and afterwards with the written state. Load hooks run before loading, with the state
  /// to load, and after loading. State hooks and load hooks may change the state.
  using StepPreHook = std::function<void(Optimizer&, LossClosure& closure)>;
  using StepPostHook = std::function<void(Optimizer&)>;
  using StateDictPreHook = std::function<void(const Optimizer&)>;
  using StateDictPostHook = std::function<void(const Optimizer&, StateDict& state)>;
  using LoadStateDictPreHook = std::function<void(Optimizer&, StateDict& state)>;
  using LoadStateDictPostHook = std::function<void(Optimizer&)>;
  nn::RemovableHandle register_step_pre_hook(StepPreHook hook);
  nn::RemovableHandle register_step_post_hook(StepPostHook hook);
  nn::RemovableHandle register_state_dict_pre_hook(StateDictPreHook hook, bool prepend = false);
  nn::RemovableHandle register_state_dict_post_hook(StateDictPostHook hook, bool prepend = false);
  nn::RemovableHandle register_load_state_dict_pre_hook(LoadStateDictPreHook hook, bool prepend = false);
  nn::RemovableHandle register_load_state_dict_post_hook(LoadStateDictPostHook hook, bool prepend = false);

 protected:
  /// Run the step hooks. All optimizers of the library call them in step(). A user-defined optimizer must
  /// call them to support hooks.
  void before_step(LossClosure& closure);
  void after_step();
  /// Returns the state of a parameter, and creates it on first use.
  template <class State>
  State& state_of(const Variable& parameter) {
    std::unique_ptr<OptimizerParamState>& slot = state_[parameter.impl()];
    if (!slot) slot = std::make_unique<State>();
    return static_cast<State&>(*slot);
  }
  /// Returns an empty state for load_state_dict. The default returns null, for optimizers without a state.
  virtual std::unique_ptr<OptimizerParamState> new_state() const;
  static Variable run(const LossClosure& closure);
  /// Updates each parameter that has a gradient once, with the rule of `Kind` (src/optim/kind.h, step.h).
  template <class Kind>
  void update_all();
  /// Updates each parameter with a rule that is composed of ops.
  template <class Kind>
  void update_each();

  std::vector<OptimizerParamGroup> param_groups_;
  OptimizerStates state_;
  std::unique_ptr<OptimizerOptions> defaults_;
  /// Whether step() was called or a state was loaded; nothing if the class does not record it. While it is
  /// false, a step of a scheduler warns.
  optional<bool> stepped_;

 private:
  friend class LRScheduler;
  struct Hooks;
  friend nn::RemovableHandle EBB_API register_optimizer_step_pre_hook(StepPreHook hook);
  friend nn::RemovableHandle EBB_API register_optimizer_step_post_hook(StepPostHook hook);
  static const std::shared_ptr<Hooks>& global_hooks();
  const std::shared_ptr<Hooks>& made_hooks();
  void check_new(const std::vector<Variable>& parameters, const OptimizerParamGroup* joined) const;
  void load_states(StateDict state, const StateMaker& make);
  template <class Kind>
  struct Batch;
  struct Replay;  // captured and recorded steps (src/optim/replay.h)
  // Captured steps hold a weak pointer to epoch_, which expires when this optimizer is destroyed and when
  // load_state_dict replaces states.
  std::shared_ptr<const char> epoch_ = std::make_shared<const char>();
  std::shared_ptr<Hooks> hooks_;  // created on first use
};

/// Register hooks for the steps of all optimizers, before and after each step. They are global: register them
/// while no other thread steps.
EBB_API nn::RemovableHandle register_optimizer_step_pre_hook(Optimizer::StepPreHook hook);
EBB_API nn::RemovableHandle register_optimizer_step_post_hook(Optimizer::StepPostHook hook);

/// Prints the optimizer's class and the options of its groups, one on each line, as in Python.
EBB_API std::ostream& operator<<(std::ostream& stream, const Optimizer& optimizer);

/// The state of a rule for one parameter: tensors and numbers by name.
template <class Derived, class Options>
class EBB_API RuleParamState : public OptimizerCloneableParamState<Derived> {
 public:
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  /// Returns whether all numbers and tensors are equal, and the same tensors are defined.
  friend bool operator==(const Derived& a, const Derived& b) { return a.equals(b); }

 private:
  bool equals(const Derived& other) const;
};

/// An optimizer that updates many parameters in one pass with one rule (src/optim/rule_optimizer.h).
template <class Options, class State>
class EBB_API RuleOptimizer : public Optimizer {
 public:
  explicit RuleOptimizer(std::vector<OptimizerParamGroup> param_groups, Options defaults = {});
  explicit RuleOptimizer(std::vector<Variable> params, Options defaults = {});
  Variable step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

// These members are not inline, so that the library compiles them once for its own optimizers.

template <class Derived>
std::unique_ptr<OptimizerOptions> OptimizerCloneableOptions<Derived>::clone() const {
  return std::make_unique<Derived>(static_cast<const Derived&>(*this));
}
template <class Derived>
double OptimizerCloneableOptions<Derived>::get_lr() const {
  if constexpr (requires(const Derived& own) { own.lr(); })
    return static_cast<const Derived&>(*this).lr();
  else
    return OptimizerOptions::get_lr();
}
template <class Derived>
void OptimizerCloneableOptions<Derived>::set_lr(double lr) {
  if constexpr (requires(Derived& own) { own.lr(lr); })
    static_cast<Derived&>(*this).lr(lr);
  else
    OptimizerOptions::set_lr(lr);
}
template <class Derived>
optional<double> OptimizerCloneableOptions<Derived>::get_momentum() const {
  const auto& own = static_cast<const Derived&>(*this);
  if constexpr (requires { own.momentum(); })
    return own.momentum();
  else if constexpr (requires { own.betas(); })
    return std::get<0>(own.betas());
  else
    return {};
}
template <class Derived>
void OptimizerCloneableOptions<Derived>::set_momentum(double momentum) {
  auto& own = static_cast<Derived&>(*this);
  if constexpr (requires { own.momentum(momentum); })
    own.momentum(momentum);
  else if constexpr (requires { own.betas(); })
    std::get<0>(own.betas()) = momentum;
}

template <class Derived>
std::unique_ptr<OptimizerParamState> OptimizerCloneableParamState<Derived>::clone() const {
  return std::make_unique<Derived>(static_cast<const Derived&>(*this));
}

}  // namespace ebb::optim
