// What load_state_dict checks and does, for a dictionary as for a file.
#include "nn/load_state.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/copy.h>

#include <unordered_set>

#include "core/near_names.h"
#include "nn/module_tools.h"

namespace ebb::nn {
namespace {

// A parameter or buffer to load.
struct Slot {
  std::string name;
  Variable tensor;
  bool may_lack;       // is kept as it is where the state has none
  bool found = false;  // in the state
};

std::vector<Slot> slots_of(const Module& module) {
  std::vector<Slot> slots;
  const Module::ConstNamedModuleApplyFunction add = [&](const std::string& path, const Module& m) {
    const std::string prefix = path.empty() ? path : path + ".";
    for (const auto& item : m.named_parameters(false)) slots.push_back({prefix + item.key(), *item, false});
    // States written before PyTorch counted batches have no count.
    const bool counts = counts_batches(m);
    for (const auto& item : m.named_buffers(false))
      slots.push_back({prefix + item.key(), *item, counts && item.key() == "num_batches_tracked"});
  };
  module.apply(add);
  return slots;
}

// Names one to a line, the first of them with the nearest of the other side: of those that fit nothing, or of
// all.
std::string listed(const std::vector<std::string>& names, const std::vector<std::string>& left_over,
                   const std::vector<std::string>& all) {
  constexpr std::size_t suggestions = 20;
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string near;
    if (i < suggestions) near = ebb::detail::near_names(names[i], left_over);
    if (i < suggestions && near.empty()) near = ebb::detail::near_names(names[i], all);
    out += "\n    \"" + names[i] + "\"" + near;
  }
  return out;
}

}  // namespace

IncompatibleKeys load_state(Module& module, const StateSource& source, bool strict, bool assign) {
  std::vector<Slot> slots = slots_of(module);
  const std::vector<std::string> given = source.keys();
  std::vector<std::string> own;
  IncompatibleKeys keys;
  std::string misshaped, unusable;
  for (Slot& slot : slots) {
    own.push_back(slot.name);
    const optional<StateSource::Info> info = source.info(slot.name);
    if (!info) {
      if (!slot.may_lack) keys.missing_keys.push_back(slot.name);
    } else if (!info->obstacle.empty()) {
      unusable += "\n    \"" + slot.name + "\"" + info->obstacle;
    } else if (IntArrayRef(info->sizes) != slot.tensor.sizes()) {
      misshaped += ebb::detail::text("\n    \"", slot.name, "\": the state has ", IntArrayRef(info->sizes),
                                     ", the module ", slot.tensor.sizes());
    } else if (assign && slot.tensor.requires_grad() && !is_floating(info->dtype)) {
      unusable += ebb::detail::text(
          "\n    \"", slot.name, "\" is of dtype ", info->dtype,
          ", and what it is assigned to requires grad. Load with assign=false to convert it.");
    } else {
      slot.found = true;
    }
  }
  const std::unordered_set<std::string> known(own.begin(), own.end());
  for (const std::string& key : given)
    if (!known.contains(key)) keys.unexpected_keys.push_back(key);

  std::string problems, advice;
  if (strict && !keys.missing_keys.empty())
    problems += "\n  Missing:" + listed(keys.missing_keys, keys.unexpected_keys, given);
  if (strict && !keys.unexpected_keys.empty())
    problems += "\n  Unexpected:" + listed(keys.unexpected_keys, keys.missing_keys, own);
  if (!problems.empty())
    advice =
        "\nRename the entries, or pass strict=false, to load_state_dict or ebb::load, to load those that "
        "fit by name.";
  if (!misshaped.empty()) {
    problems += "\n  Of another shape:" + misshaped;
    advice +=
        "\nWhere shapes differ, give the module the state's, or load a state without these entries with "
        "strict=false.";
  }
  if (!unusable.empty()) problems += "\n  Unusable:" + unusable;
  EBB_CHECK(problems.empty(), "load_state_dict: the state does not fit ", module.name(), ":", problems,
            advice);

  NoGradGuard no_grad;
  for (Slot& slot : slots) {
    if (!slot.found) continue;
    if (assign) {
      slot.tensor.set_data(source.tensor(slot.name, slot.tensor));
      if (slot.tensor.grad().defined()) slot.tensor.mutable_grad().reset();
    } else {
      Variable target = slot.tensor.detach();
      source.copy_to(slot.name, target);
    }
  }
  return keys;
}

}  // namespace ebb::nn
