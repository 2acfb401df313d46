// Optimizer: parameter groups, their options, zero_grad, hooks and operator<<.
#include <ebb/core/warning.h>
#include <ebb/optim/optimizer.h>

#include "autograd/tensor_state.h"
#include "core/messages.h"
#include "core/recorder.h"
#include "ops/elementwise/foreach.h"
#include "optim/hooks.h"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <unordered_set>

namespace ebb::optim {

namespace {

[[noreturn]] void not_overridden(const char* type, const char* function) {
  throw NotImplementedError(std::string(type) + "::" + function +
                            "() is not implemented by the class derived from it. Override it.");
}

}  // namespace

OptimizerOptions::~OptimizerOptions() = default;
OptimizerParamState::~OptimizerParamState() = default;
OptimizerParamState& OptimizerStateSlot::checked() const {
  EBB_CHECK(get(),
            "Optimizer::state: this parameter has no state, because step() has not changed it yet. "
            "state().find(key), or get() of the slot, tells whether there is one.");
  return *get();
}
std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  not_overridden("OptimizerOptions", "clone");
}
double OptimizerOptions::get_lr() const { not_overridden("OptimizerOptions", "get_lr"); }
void OptimizerOptions::set_lr(double) { not_overridden("OptimizerOptions", "set_lr"); }
void OptimizerOptions::serialize(serialize::OutputArchive&) const {}
void OptimizerOptions::serialize(serialize::InputArchive&) {}
std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  not_overridden("OptimizerParamState", "clone");
}
void OptimizerParamState::serialize(serialize::OutputArchive&) const {
  not_overridden("OptimizerParamState", "serialize");
}
void OptimizerParamState::serialize(serialize::InputArchive&) {
  not_overridden("OptimizerParamState", "serialize");
}
std::unique_ptr<OptimizerParamState> Optimizer::new_state() const { return nullptr; }
bool OptimizerParamState::fits(const Variable& value, const Variable& parameter) const {
  return value.dim() == 0 || value.sizes() == parameter.sizes();
}
Optimizer::~Optimizer() = default;
// A captured step contains the address of its optimizer. A move therefore invalidates the captured steps of
// both optimizers.
Optimizer::Optimizer(Optimizer&& other)
    : param_groups_(std::move(other.param_groups_)),
      state_(std::move(other.state_)),
      defaults_(std::move(other.defaults_)),
      stepped_(other.stepped_),
      hooks_(std::move(other.hooks_)) {
  other.epoch_ = std::make_shared<const char>();
}
Optimizer& Optimizer::operator=(Optimizer&& other) {
  param_groups_ = std::move(other.param_groups_);
  state_ = std::move(other.state_);
  defaults_ = std::move(other.defaults_);
  stepped_ = other.stepped_;
  hooks_ = std::move(other.hooks_);
  epoch_ = std::make_shared<const char>();
  other.epoch_ = std::make_shared<const char>();
  return *this;
}

ParameterKey::ParameterKey(const std::string& address) {
  const std::size_t prefix = address.starts_with("0x") ? 2 : 0;
  const char* const end = address.data() + address.size();
  std::uintptr_t number = 0;
  const auto parsed = std::from_chars(address.data() + prefix, end, number, 16);
  EBB_CHECK(parsed.ec == std::errc() && parsed.ptr == end, "Optimizer: the key '", address,
            "' is not the address of a parameter. Use p.unsafeGetTensorImpl().");
  parameter_ = reinterpret_cast<const void*>(number);
}

double OptimizerOptions::initial_lr() {
  if (!initial_lr_) initial_lr_ = get_lr();
  return *initial_lr_;
}

OptimizerParamGroup::OptimizerParamGroup(std::vector<Variable> params) : params_(std::move(params)) {}
OptimizerParamGroup::OptimizerParamGroup(std::vector<Variable> params,
                                         std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}
OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}
OptimizerParamGroup& OptimizerParamGroup::operator=(const OptimizerParamGroup& other) {
  params_ = other.params_;
  options_ = other.options_ ? other.options_->clone() : nullptr;
  return *this;
}

OptimizerOptions& OptimizerParamGroup::options() {
  EBB_CHECK(has_options(), "This parameter group has no options yet. An optimizer sets them.");
  return *options_;
}
const OptimizerOptions& OptimizerParamGroup::options() const {
  return const_cast<OptimizerParamGroup&>(*this).options();
}
void OptimizerParamGroup::set_options(std::unique_ptr<OptimizerOptions> options) {
  options_ = std::move(options);
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> param_groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (const OptimizerParamGroup& group : param_groups) add_param_group(group);
}

Optimizer::Optimizer(std::vector<Variable> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))},
                std::move(defaults)) {}

void Optimizer::check_new(const std::vector<Variable>& parameters, const OptimizerParamGroup* joined) const {
  for (const Variable& parameter : parameters) {
    EBB_CHECK(parameter.defined(), "optimizer: a parameter is undefined.");
    EBB_CHECK(parameter.is_leaf(), "optimizer: can't optimize a non-leaf Tensor, of shape ",
              parameter.sizes(), " and computed by ", parameter.grad_fn()->name(),
              ". Pass the leaf, such as one of module->parameters(), or a detach()ed copy.");
  }
  std::unordered_set<const void*> others, own;
  for (const OptimizerParamGroup& group : param_groups_)
    for (const Variable& parameter : group.params())
      (&group == joined ? own : others).insert(parameter.impl());
  bool twice = false;
  for (const Variable& parameter : parameters) {
    EBB_CHECK(!others.contains(parameter.impl()),
              "optimizer: some parameters appear in more than one parameter group: a parameter of shape ",
              parameter.sizes(), " does. Leave it out of one group.");
    twice |= !own.insert(parameter.impl()).second;
  }
  if (twice) warn("optimizer: a group has duplicate parameters; each is updated as often as it is listed.");
}

void Optimizer::add_param_group(const OptimizerParamGroup& param_group) {
  check_new(param_group.params(), nullptr);
  OptimizerParamGroup group(param_group);
  if (!group.has_options()) group.set_options(defaults_->clone());
  if (defaults_) defaults_->check(group.options());
  param_groups_.push_back(std::move(group));
}

void Optimizer::add_parameters(const std::vector<Variable>& parameters) {
  std::vector<Variable>& all = this->parameters();
  check_new(parameters, &param_groups_[0]);
  all.insert(all.end(), parameters.begin(), parameters.end());
}

void Optimizer::zero_grad(bool set_to_none) {
  std::vector<Variable> grads;
  for (OptimizerParamGroup& group : param_groups_)
    for (Variable& parameter : group.params()) {
      if (set_to_none) {
        autograd::drop_gradient(parameter);
      } else if (parameter.grad().defined()) {
        Variable& grad = parameter.mutable_grad();
        grad = grad.detach();
        grads.push_back(grad);
      }
    }
  foreach
    ::zero_(grads);
}

const std::vector<Variable>& Optimizer::parameters() const noexcept { return param_groups_.at(0).params(); }
std::vector<Variable>& Optimizer::parameters() noexcept { return param_groups_.at(0).params(); }

std::size_t Optimizer::size() const noexcept {
  std::size_t count = 0;
  for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
  return count;
}

Variable Optimizer::run(const LossClosure& closure) {
  if (!closure) return {};
  AutoGradMode enable(true);
  return closure();
}

using nn::RemovableHandle;
using nn::detail::add_hook;

const std::shared_ptr<Optimizer::Hooks>& Optimizer::global_hooks() {
  static const auto hooks = std::make_shared<Hooks>();
  return hooks;
}
const std::shared_ptr<Optimizer::Hooks>& Optimizer::made_hooks() {
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  return hooks_;
}

void Optimizer::before_step(LossClosure& closure) {
  run_hooks<&Hooks::step_pre>(global_hooks(), *this, closure);
  run_hooks<&Hooks::step_pre>(hooks_, *this, closure);
}
void Optimizer::after_step() {
  run_hooks<&Hooks::step_post>(hooks_, *this);
  run_hooks<&Hooks::step_post>(global_hooks(), *this);
}

RemovableHandle Optimizer::register_step_pre_hook(StepPreHook hook) {
  return add_hook<&Hooks::step_pre>(made_hooks(), std::move(hook));
}
RemovableHandle Optimizer::register_step_post_hook(StepPostHook hook) {
  return add_hook<&Hooks::step_post>(made_hooks(), std::move(hook));
}
RemovableHandle Optimizer::register_state_dict_pre_hook(StateDictPreHook hook, bool prepend) {
  return add_hook<&Hooks::state_pre>(made_hooks(), std::move(hook), prepend);
}
RemovableHandle Optimizer::register_state_dict_post_hook(StateDictPostHook hook, bool prepend) {
  return add_hook<&Hooks::state_post>(made_hooks(), std::move(hook), prepend);
}
RemovableHandle Optimizer::register_load_state_dict_pre_hook(LoadStateDictPreHook hook, bool prepend) {
  return add_hook<&Hooks::load_pre>(made_hooks(), std::move(hook), prepend);
}
RemovableHandle Optimizer::register_load_state_dict_post_hook(LoadStateDictPostHook hook, bool prepend) {
  return add_hook<&Hooks::load_post>(made_hooks(), std::move(hook), prepend);
}

RemovableHandle register_optimizer_step_pre_hook(Optimizer::StepPreHook hook) {
  return add_hook<&Optimizer::Hooks::step_pre>(Optimizer::global_hooks(), std::move(hook));
}
RemovableHandle register_optimizer_step_post_hook(Optimizer::StepPostHook hook) {
  return add_hook<&Optimizer::Hooks::step_post>(Optimizer::global_hooks(), std::move(hook));
}

namespace {

void print(std::ostream& stream, double number) {
  char text[32];
  stream << std::string_view(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// Prints an option in Python's format. The option is a tensor here (src/optim/fields.h).
void print(std::ostream& stream, const Variable& value) {
  if (value.dtype() == kByte) {
    const auto* const text = value.data_ptr<std::uint8_t>();
    stream << std::string(text, text + value.numel());
  } else if (value.dtype() == kBool) {
    stream << (value.item<bool>() ? "True" : "False");
  } else if (value.dim() == 0) {
    print(stream, value.item<double>());
  } else {
    stream << '(';
    for (std::int64_t i = 0; i < value.numel(); ++i) {
      stream << (i > 0 ? ", " : "");
      print(stream, value.data_ptr<double>()[i]);
    }
    stream << ')';
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Optimizer& optimizer) {
  ebb::detail::not_replayed("it prints an optimizer");
  const std::string type = ebb::detail::demangled(typeid(optimizer));
  const std::size_t colon = type.rfind(':');
  stream << (colon == std::string::npos ? type : type.substr(colon + 1)) << " (";
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    serialize::OutputArchive archive;
    optimizer.param_groups()[i].options().serialize(archive);
    Optimizer::StateDict options = archive.tensors();
    std::sort(options.begin(), options.end(), [](auto& a, auto& b) { return a.first < b.first; });
    stream << "\nParameter Group " << i << '\n';
    for (const auto& [name, value] : options) {
      stream << "    " << name << ": ";
      print(stream, value);
      stream << '\n';
    }
  }
  return stream << ')';
}

}  // namespace ebb::optim
