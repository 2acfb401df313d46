// Module::state_dict, which returns the state of a module, and load_state_dict, which checks and loads a
// state from a dictionary or a file.
#include "nn/load_state.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>

#include "core/messages.h"
#include "io/shared_tensors.h"
#include "nn/hooks.h"
#include "nn/module_tools.h"
#include "nn/walk.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <unordered_set>

namespace ebb::nn {
namespace {

// A parameter or buffer to load.
struct Slot {
  std::string name;
  Variable tensor;
  bool may_lack;       // true if the state need not have a tensor of this name
  bool found = false;  // true if the state has a tensor of this name
};

std::vector<Slot> slots_of(const Module& module) {
  std::vector<Slot> slots;
  const Module::ConstNamedModuleApplyFunction add = [&](const std::string& path, const Module& m) {
    const std::string prefix = path.empty() ? path : path + ".";
    for (const auto& item : detail::ModuleAccess::parameters(m))
      if (item->defined()) slots.push_back({prefix + item.key(), *item, false});
    // num_batches_tracked may be missing, because old PyTorch versions did not write it.
    const bool counts = counts_batches(m);
    for (const auto& item : detail::ModuleAccess::buffers(m))
      if (item->defined())
        slots.push_back({prefix + item.key(), *item, counts && item.key() == "num_batches_tracked"});
  };
  module.apply(add);
  return slots;
}

// Writes one name per line of text. After each of the first 20 names, suggests the most similar name in
// `left_over`. If `left_over` has none, suggests one in `all`.
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

using Hooked = std::vector<std::pair<std::string, Module*>>;

// Returns the modules with hooks and their prefixes ("encoder.0."), the outermost first.
Hooked hooked_modules(Module& module) {
  Hooked hooked;
  const Module::NamedModuleApplyFunction add = [&](const std::string& path, Module& m) {
    if (m.has_hooks()) hooked.emplace_back(path.empty() ? path : path + ".", &m);
  };
  module.apply(add);
  return hooked;
}

// A state in memory, which hooks may change. It also lists the entries of the source that cannot be loaded.
class ChangedState final : public StateSource {
 public:
  explicit ChangedState(const StateSource& source) : source_(source) {
    const Variable anywhere(NdArray::empty({0}, kFloat, kCPU));
    for (const std::string& key : source.keys()) {
      const optional<Info> info = source.info(key);
      if (info && info->obstacle.empty())
        state.insert(key, source.tensor(key, anywhere));
      else
        obstacles_.push_back(key);
    }
  }
  std::vector<std::string> keys() const override {
    std::vector<std::string> keys = state.keys();
    keys.insert(keys.end(), obstacles_.begin(), obstacles_.end());
    return keys;
  }
  optional<Info> info(const std::string& key) const override {
    const Variable* const found = state.find(key);
    if (found && found->defined()) return Info{DimVector(found->sizes()), found->dtype(), {}};
    const bool had = std::find(obstacles_.begin(), obstacles_.end(), key) != obstacles_.end();
    return had ? source_.info(key) : nullopt;
  }
  Variable tensor(const std::string& key, const Variable& old) const override {
    return state[key].detach().to(old.device());
  }
  void copy_to(const std::string& key, Variable& target) const override { target.copy_(state[key]); }

  Module::StateDict state;

 private:
  const StateSource& source_;
  std::vector<std::string> obstacles_;
};

std::string fit(const IncompatibleKeys& keys, const std::vector<std::string>& given,
                const std::vector<std::string>& own) {
  std::string problems;
  if (!keys.missing_keys.empty())
    problems += "\n  Missing:" + listed(keys.missing_keys, keys.unexpected_keys, given);
  if (!keys.unexpected_keys.empty())
    problems += "\n  Unexpected:" + listed(keys.unexpected_keys, keys.missing_keys, own);
  return problems;
}

enum class Do { check, load };

IncompatibleKeys load_as_is(Module& module, const StateSource& source, bool strict, bool assign,
                            const Hooked& hooked, Do what) {
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
          ", but the module's tensor requires grad. Load with assign=false to convert the entry.");
    } else {
      slot.found = true;
    }
  }
  const std::unordered_set<std::string> known(own.begin(), own.end());
  for (const std::string& key : given)
    if (!known.contains(key)) keys.unexpected_keys.push_back(key);
  // A tensor that modules share has several names. The state needs only one of them, so the other names are
  // not missing.
  for (const Slot& slot : slots)
    if (!slot.found && std::any_of(slots.begin(), slots.end(), [&](const Slot& other) {
          return other.found && safetensors::shared(other.tensor, slot.tensor);
        }))
      std::erase(keys.missing_keys, slot.name);

  // Post hooks may accept missing or unexpected names. They run only after the load, so with post hooks these
  // names are not an error here.
  const bool forgiving = std::any_of(hooked.begin(), hooked.end(), [](const auto& each) {
    return !detail::ModuleAccess::hooks(*each.second)->load_post.empty();
  });
  std::string problems = strict && !forgiving ? fit(keys, given, own) : "", advice;
  if (!problems.empty())
    advice =
        "\nRename the entries, or pass strict=false, to load_state_dict or ebb::load, to load those whose "
        "names match.";
  if (!misshaped.empty()) {
    problems += "\n  Of another shape:" + misshaped;
    advice +=
        "\nWhere shapes differ, construct the module with those of the state, or load a state without these "
        "entries with "
        "strict=false.";
  }
  if (!unusable.empty()) problems += "\n  Unusable:" + unusable;
  EBB_CHECK(problems.empty(), "load_state_dict: the state does not fit ", module.name(), ":", problems,
            advice);
  if (what == Do::check) return keys;

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
  for (std::size_t i = hooked.size(); i-- > 0;)
    for (const auto& [id, hook] : detail::ModuleAccess::hooks(*hooked[i].second)->load_post)
      hook(*hooked[i].second, keys);
  if (strict && forgiving) problems = fit(keys, given, own);
  EBB_CHECK(problems.empty(), "load_state_dict: the state does not fit ", module.name(),
            ". The entries that fit are loaded:", problems);
  return keys;
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const IncompatibleKeys& keys) {
  if (keys.missing_keys.empty() && keys.unexpected_keys.empty())
    return stream << "<All keys matched successfully>";
  const std::string text = fit(keys, keys.unexpected_keys, keys.missing_keys);
  return stream << "IncompatibleKeys:" << text;
}

namespace {

IncompatibleKeys load(Module& module, const StateSource& source, bool strict, bool assign, Do what) {
  const Hooked hooked = hooked_modules(module);
  const bool changing = std::any_of(hooked.begin(), hooked.end(), [](const auto& each) {
    return !detail::ModuleAccess::hooks(*each.second)->load_pre.empty();
  });
  if (!changing) return load_as_is(module, source, strict, assign, hooked, what);
  ChangedState changed(source);
  for (const auto& [prefix, m] : hooked)
    for (const auto& [id, hook] : detail::ModuleAccess::hooks(*m)->load_pre) hook(*m, changed.state, prefix);
  return load_as_is(module, changed, strict, assign, hooked, what);
}

}  // namespace

IncompatibleKeys load_state(Module& module, const StateSource& source, bool strict, bool assign) {
  return load(module, source, strict, assign, Do::load);
}
void check_state(Module& module, const StateSource& source, bool strict, bool assign) {
  load(module, source, strict, assign, Do::check);
}

namespace {

// A dictionary in memory. It also contains the names and dtypes of the file's entries that a dictionary
// cannot contain.
class Dictionary final : public StateSource {
 public:
  explicit Dictionary(const Module::StateDict& state,
                      const std::map<std::string, std::string>& unsupported = {})
      : state_(state), unsupported_(unsupported) {}

  std::vector<std::string> keys() const override {
    std::vector<std::string> keys = state_.keys();
    for (const auto& item : unsupported_) keys.push_back(item.first);
    return keys;
  }
  optional<Info> info(const std::string& key) const override {
    if (const auto found = unsupported_.find(key); found != unsupported_.end())
      return Info{{}, DType::Undefined, " is of dtype " + found->second + ", which ebb does not have."};
    const Variable* found = state_.find(key);
    if (!found || !found->defined()) return nullopt;
    return Info{DimVector(found->sizes()), found->dtype(), {}};
  }
  Variable tensor(const std::string& key, const Variable&) const override { return state_[key].detach(); }
  void copy_to(const std::string& key, Variable& target) const override {
    const NdArray &from = state_[key].array(), &to = target.array();
    const bool shared = from.storage() == to.storage();
    // Returns without a copy if the source is the module's own tensor.
    if (shared && from.address() == to.address() && from.strides() == to.strides() &&
        from.dtype() == to.dtype())
      return;
    target.copy_(shared ? state_[key].clone() : state_[key]);
  }

 private:
  const Module::StateDict& state_;
  const std::map<std::string, std::string> unsupported_;
};

}  // namespace

Module::StateDict Module::state_dict() const {
  StateDict out;
  std::vector<std::pair<std::string, const Module*>> hooked;
  const auto add = [&](const std::string& prefix, const Module& module) {
    if (module.hooks_) {
      hooked.emplace_back(prefix, &module);
      for (const auto& [id, hook] : module.hooks_->state_pre) hook(module, prefix);
    }
    for (const StateDict* own : {&module.parameters_, &module.buffers_})
      for (const auto& item : *own)
        if (item->defined()) out.insert(prefix + item.key(), item->detach());
  };
  add({}, *this);
  walk({}, [&](const std::string& path, const std::shared_ptr<Module>& m) { add(path + ".", *m); });
  for (std::size_t i = hooked.size(); i-- > 0;)
    for (const auto& [id, hook] : hooked[i].second->hooks_->state_post)
      hook(*hooked[i].second, out, hooked[i].first);
  return out;
}

IncompatibleKeys Module::load_state_dict(const StateDict& state, bool strict, bool assign) {
  return load_state(*this, Dictionary(state), strict, assign);
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& item : state_dict()) archive.write(item.key(), item.value());
}

void Module::load(serialize::InputArchive& archive) {
  StateDict state;
  for (const auto& [name, tensor] : archive.tensors()) state.insert(name, tensor);
  load_state(*this, Dictionary(state, archive.unsupported()), /*strict=*/true, /*assign=*/false);
}

}  // namespace ebb::nn
