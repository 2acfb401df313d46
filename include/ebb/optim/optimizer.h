// Optimizer: the base of all update rules.
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

/// Settings of a group of parameters; each optimizer derives its own, by OptimizerCloneableOptions. A
/// function that is not overridden throws ebb::NotImplementedError when it is called, but for serialize,
/// which does nothing.
class EBB_API OptimizerOptions {
 public:
  virtual ~OptimizerOptions();
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  /// Writes the settings into an archive, each under its name; and reads them back.
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);
  /// Throws where the options of a group make no sense beside these, which are the optimizer's defaults.
  virtual void check(const OptimizerOptions&) const {}
  /// The momentum, or the first of the betas; none where there is neither. And back.
  virtual optional<double> get_momentum() const { return {}; }
  virtual void set_momentum(double) {}
  /// The rate before any schedule changed it: as it is when this is first asked, or what a schedule sets that
  /// begins with a rate of its own (OneCycleLR).
  double initial_lr();
  void set_initial_lr(double lr) { initial_lr_ = lr; }

 protected:
  optional<double> initial_lr_;
};

/// Gives Derived clone(), and, where it has options `lr` and `momentum` or `betas`, what gets and sets them.
template <class Derived>
class EBB_API OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override;
  double get_lr() const override;
  void set_lr(double lr) override;
  optional<double> get_momentum() const override;
  void set_momentum(double momentum) override;
};

/// Options of an optimizer of the library: files keep every option (src/optim/rule_optimizer.h).
template <class Derived>
class EBB_API RuleOptions : public OptimizerCloneableOptions<Derived> {
 public:
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  void check(const OptimizerOptions& group) const override;
  /// Whether every option is the same.
  friend bool operator==(const Derived& a, const Derived& b) { return a.equals(b); }

 private:
  bool equals(const Derived& other) const;
};

/// Parameters that share their options.
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

/// The state that an optimizer keeps of one parameter; each derives its own, by OptimizerCloneableParamState.
/// A function that is not overridden throws ebb::NotImplementedError when it is called.
class EBB_API OptimizerParamState {
 public:
  virtual ~OptimizerParamState();
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  /// Writes the state into an archive, by name; and reads it back.
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);
  /// Whether a tensor may be part of the state: a number, or of the parameter's sizes.
  virtual bool fits(const Variable& value, const Variable& parameter) const;
};

/// The key of a parameter's state in an optimizer: `p.unsafeGetTensorImpl()`, as in 2.x, or that
/// address as text, `c10::guts::to_string(p.unsafeGetTensorImpl())`, as in 1.13. Text that is no address
/// throws.
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

/// The state of one parameter. It is empty before the first step that changes the parameter: `*` and `->`
/// throw then.
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

/// Gives Derived its clone().
template <class Derived>
class EBB_API OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override;
};

/// Changes parameters by their gradients (torch::optim::Optimizer). Derive, and write step(); what it
/// remembers goes into state_, and new_state() makes an empty one for what is loaded from a file.
class EBB_API Optimizer {
 public:
  using LossClosure = std::function<Variable()>;
  using StateDict = std::vector<std::pair<std::string, Variable>>;

  explicit Optimizer(std::vector<OptimizerParamGroup> param_groups,
                     std::unique_ptr<OptimizerOptions> defaults);
  explicit Optimizer(std::vector<Variable> parameters, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  /// Takes the groups, what is remembered and the defaults. The other one is left without parameters, and
  /// schedules go on referring to it.
  Optimizer(Optimizer&& other);
  Optimizer& operator=(Optimizer&& other);
  virtual ~Optimizer();

  /// Adds parameters with options of their own, or else the defaults. A parameter that is not a leaf, or is
  /// in another group, is an error, and so are options of another optimizer, or out of their ranges. One that
  /// is listed twice in a group is updated twice, as in PyTorch, with a warning.
  void add_param_group(const OptimizerParamGroup& param_group);
  /// Adds parameters to the first group; the same ones are errors.
  void add_parameters(const std::vector<Variable>& parameters);
  /// One update. With a closure that computes the loss (and calls backward), it is called first; its value is
  /// returned.
  virtual Variable step(LossClosure closure = nullptr) = 0;
  /// Clears the gradients: to zeros, as libtorch 1.13 does, or to undefined.
  void zero_grad(bool set_to_none = false);

  /// All parameters of the first group.
  const std::vector<Variable>& parameters() const noexcept;
  std::vector<Variable>& parameters() noexcept;
  /// The number of parameters in all groups.
  std::size_t size() const noexcept;
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// The states, by parameter:
  /// `static_cast<AdamParamState&>(*optimizer.state()[p.unsafeGetTensorImpl()]).exp_avg()`.
  OptimizerStates& state() noexcept { return state_; }
  const OptimizerStates& state() const noexcept { return state_; }

  /// The states, as tensors named by the parameter's position and the quantity: "3.exp_avg". Options
  /// are not part of it.
  StateDict state_dict() const;
  /// Restores it into an optimizer of the same kind over parameters of the same shapes.
  void load_state_dict(const StateDict& state);
  /// The same into an archive, with the options of every group ("param_groups.0.lr"), and back. An archive
  /// without options leaves them as they are; one with more groups is an error.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  /// The same with `make` in the place of new_state().
  using StateMaker = std::function<std::unique_ptr<OptimizerParamState>()>;
  void load(serialize::InputArchive& archive, const StateMaker& make);

  /// Hooks, which run in the order of their registration, but first with `prepend`: before a step, where they
  /// may change gradients, options and the closure, and after it; before a state is written, and with what
  /// was written, which they may change; with what is loaded, which they may change, and after that.
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
  /// Run the hooks of steps. Every optimizer of the library calls them around its step(); one of the
  /// program's own does so where it wants to be hooked.
  void before_step(LossClosure& closure);
  void after_step();
  /// The state of a parameter, made on first use.
  template <class State>
  State& state_of(const Variable& parameter) {
    std::unique_ptr<OptimizerParamState>& slot = state_[parameter.impl()];
    if (!slot) slot = std::make_unique<State>();
    return static_cast<State&>(*slot);
  }
  /// An empty state of this optimizer's kind, for load_state_dict; null, as here, when it keeps none.
  virtual std::unique_ptr<OptimizerParamState> new_state() const;
  static Variable run(const LossClosure& closure);
  /// One update of every parameter that has a gradient, by the rule of `Kind` (src/optim/kind.h, step.h).
  template <class Kind>
  void update_all();
  /// The same where the update is made of ops.
  template <class Kind>
  void update_each();

  std::vector<OptimizerParamGroup> param_groups_;
  OptimizerStates state_;
  std::unique_ptr<OptimizerOptions> defaults_;
  /// Whether step() was called, or a state was loaded; nothing where the class does not say so. A schedule
  /// that is stepped before warns.
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
  // Captured steps watch it: it ends with this optimizer, and with the states that load_state_dict replaces.
  std::shared_ptr<const char> epoch_ = std::make_shared<const char>();
  std::shared_ptr<Hooks> hooks_;  // made on first use
};

/// Hooks of the steps of all optimizers, before those of each and after them. They are no thread's own:
/// register them while no other thread steps.
EBB_API nn::RemovableHandle register_optimizer_step_pre_hook(Optimizer::StepPreHook hook);
EBB_API nn::RemovableHandle register_optimizer_step_post_hook(Optimizer::StepPostHook hook);

/// The optimizer's class and the options of its groups, a line each, as Python prints them.
EBB_API std::ostream& operator<<(std::ostream& stream, const Optimizer& optimizer);

/// The state that a rule keeps of a parameter: tensors and numbers, by name.
template <class Derived, class Options>
class EBB_API RuleParamState : public OptimizerCloneableParamState<Derived> {
 public:
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  /// Whether every number and tensor is the same, and the same tensors are defined.
  friend bool operator==(const Derived& a, const Derived& b) { return a.equals(b); }

 private:
  bool equals(const Derived& other) const;
};

/// An optimizer that updates every parameter by one rule, many in one pass (src/optim/rule_optimizer.h).
template <class Options, class State>
class EBB_API RuleOptimizer : public Optimizer {
 public:
  explicit RuleOptimizer(std::vector<OptimizerParamGroup> param_groups, Options defaults = {});
  explicit RuleOptimizer(std::vector<Variable> params, Options defaults = {});
  Variable step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

// Not inline: for the library's own optimizers they are compiled there, once.

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
