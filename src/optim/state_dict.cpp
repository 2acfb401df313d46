// Optimizer::state_dict, load_state_dict and serialization.
#include <ebb/core/warning.h>
#include <ebb/ops/creation.h>
#include <ebb/optim/optimizer.h>

#include "optim/hooks.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace ebb::optim {

namespace {

const std::string kGroups = "param_groups.";

constexpr std::string_view kSize = "_buffers/size";

constexpr std::pair<std::string_view, const char*> kLists[] = {
    {"exp_average_buffers", "exp_avg"},
    {"exp_average_sq_buffers", "exp_avg_sq"},
    {"grad_average_buffers", "grad_avg"},
    {"max_exp_average_sq_buffers", "max_exp_avg_sq"},
    {"momentum_buffers", "momentum_buffer"},
    {"square_average_buffers", "square_avg"},
    {"step_buffers", "step"},
    {"sum_buffers", "sum"},
};

/// Converts the state of a file of libtorch before 1.5 to the names of state_dict(), with a warning. Returns
/// other states unchanged. For each quantity, the old files contain one list over all parameters
/// ("momentum_buffers/3"). They contain no options.
Optimizer::StateDict from_old_file(Optimizer::StateDict state) {
  if (std::none_of(state.begin(), state.end(), [](const auto& item) { return item.first.ends_with(kSize); }))
    return state;
  warn(
      "load: the optimizer's file is in the old serialization format, of libtorch before 1.5, which has no "
      "options. Save the optimizer again.");
  Optimizer::StateDict renamed;
  for (auto& [name, value] : state) {
    if (name == "iteration_" || name.ends_with(kSize)) continue;
    const std::size_t slash = name.find('/');
    const std::string_view old = std::string_view(name).substr(0, slash);
    const auto* const list = std::find_if(std::begin(kLists), std::end(kLists),
                                          [&](const auto& known) { return known.first == old; });
    if (slash != std::string::npos && list != std::end(kLists))
      name = name.substr(slash + 1) + "." + list->second;
    renamed.emplace_back(std::move(name), std::move(value));
  }
  return renamed;
}

}  // namespace

Optimizer::StateDict Optimizer::state_dict() const {
  run_hooks<&Hooks::state_pre>(hooks_, *this);
  serialize::OutputArchive out;
  std::size_t position = 0;
  for (const OptimizerParamGroup& group : param_groups_)
    for (const Variable& parameter : group.params()) {
      const std::string name = std::to_string(position++);
      const auto found = state_.find(parameter.impl());
      if (found == state_.end()) continue;
      serialize::OutputArchive one;
      found->second->serialize(one);
      out.write(name, one);
    }
  StateDict state = out.tensors();
  run_hooks<&Hooks::state_post>(hooks_, *this, state);
  return state;
}

void Optimizer::load_state_dict(const StateDict& state) {
  load_states(state, [this] { return new_state(); });
  run_hooks<&Hooks::load_post>(hooks_, *this);
}

void Optimizer::load_states(StateDict state, const StateMaker& make) {
  run_hooks<&Hooks::load_pre>(hooks_, *this, state);
  std::vector<Variable> all;
  for (const OptimizerParamGroup& group : param_groups_)
    all.insert(all.end(), group.params().begin(), group.params().end());
  NoGradGuard no_grad;
  OptimizerStates loaded;
  std::map<std::size_t, StateDict> entries;
  for (const auto& [name, value] : state) {
    const std::size_t dot = name.find('.');
    std::size_t position = 0;
    const char* const end = name.data() + (dot == std::string::npos ? 0 : dot);
    const auto parsed = std::from_chars(name.data(), end, position);
    EBB_CHECK(
        dot != std::string::npos && parsed.ec == std::errc() && parsed.ptr == end && position < all.size(),
        "load_state_dict: the entry '", name, "' belongs to none of the optimizer's ",
        std::uint64_t{all.size()}, " parameters.");
    const Variable& parameter = all[position];
    std::unique_ptr<OptimizerParamState>& slot = loaded[parameter.impl()];
    if (!slot) slot = make();
    EBB_CHECK(slot, "load_state_dict: there is an entry '", name,
              "', and this optimizer has no state to load it into. Override new_state() in its class.");
    EBB_CHECK(slot->fits(value, parameter), "load_state_dict: '", name, "' is of size ", value.sizes(),
              ", but its parameter is of size ", parameter.sizes(), ".");
    // Scalars stay on the host. Tensors get the parameter's dtype, except the f32 tensors of master weights.
    const bool number = value.dim() == 0 && (value.dtype() == kLong || value.dtype() == kDouble);
    const bool wide = value.dtype() == kFloat && element_size(parameter.dtype()) == 2;
    const TensorOptions options = wide ? parameter.options().dtype(kFloat) : parameter.options();
    entries[position].emplace_back(
        name.substr(dot + 1),
        number && parameter.dim() > 0 ? value : value.detach().to(options, false, /*copy=*/true));
  }
  for (auto& [position, values] : entries) {
    serialize::InputArchive one(std::move(values));
    loaded[all[position].impl()]->serialize(one);
  }
  state_ = std::move(loaded);
  if (stepped_) stepped_ = true;
  epoch_ = std::make_shared<const char>();
}

void Optimizer::save(serialize::OutputArchive& archive) const {
  for (const auto& [name, tensor] : state_dict()) archive.write(name, tensor);
  for (std::size_t i = 0; i < param_groups_.size(); ++i) {
    serialize::OutputArchive options;
    param_groups_[i].options().serialize(options);
    archive.write(kGroups + std::to_string(i), options);
  }
}

void Optimizer::load(serialize::InputArchive& archive) {
  load(archive, [this] { return new_state(); });
}

void Optimizer::load(serialize::InputArchive& archive, const StateMaker& make) {
  StateDict state;
  for (const auto& item : archive.tensors())
    if (!item.first.starts_with(kGroups)) state.push_back(item);
  std::vector<serialize::InputArchive> groups(param_groups_.size());
  serialize::InputArchive all;
  if (archive.try_read("param_groups", all)) {
    std::size_t known = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (!all.try_read(std::to_string(i), groups[i])) continue;
      ++known;
      param_groups_[i].options().clone()->serialize(groups[i]);  // throws before anything changes
    }
    EBB_CHECK(known == all.keys().size(), "load: the optimizer has ", std::uint64_t{groups.size()},
              " parameter groups, but the loaded state also has the entry ", all.keys().back(), ".");
  }
  load_states(from_old_file(std::move(state)), make);
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (!groups[i].tensors().empty()) param_groups_[i].options().serialize(groups[i]);
  run_hooks<&Hooks::load_post>(hooks_, *this);
}

}  // namespace ebb::optim
