// The state of a module by name.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/copy.h>

#include "core/near_names.h"
#include "nn/walk.h"

namespace ebb::nn {

namespace {

std::string nearest(const std::string& name, const Module::StateDict& among) {
  std::vector<std::string> names;
  for (const auto& item : among) names.push_back(item.key());
  return ebb::detail::near_names(name, names);
}

}  // namespace

Module::StateDict Module::state_dict() const {
  StateDict out;
  const auto add = [&](const std::string& prefix, const Module& module) {
    for (const StateDict* own : {&module.parameters_, &module.buffers_})
      for (const auto& item : *own)
        if (item->defined()) out.insert(prefix + item.key(), item->detach());
  };
  add({}, *this);
  walk({}, [&](const std::string& path, const std::shared_ptr<Module>& m) { add(path + ".", *m); });
  return out;
}

void Module::load_state_dict(const StateDict& state, bool strict) {
  const StateDict own = state_dict();
  std::string missing, unexpected, misshaped;
  for (const auto& item : own) {
    const Variable* given = state.find(item.key());
    if (!given || !given->defined())
      missing += "\n    \"" + item.key() + "\"" + nearest(item.key(), state);
    else if (given->sizes() != item->sizes())
      misshaped += ebb::detail::text("\n    \"", item.key(), "\": the file has ", given->sizes(),
                                     ", the module ", item->sizes());
  }
  for (const auto& item : state)
    if (!own.contains(item.key())) unexpected += "\n    \"" + item.key() + "\"" + nearest(item.key(), own);

  std::string problems;
  if (strict && !missing.empty()) problems += "\n  Missing:" + missing;
  if (strict && !unexpected.empty()) problems += "\n  Unexpected:" + unexpected;
  if (!misshaped.empty()) problems += "\n  Of another shape:" + misshaped;
  EBB_CHECK(problems.empty(), "load_state_dict: the state does not fit ", name(), ":", problems,
            "\nRename the entries, or pass strict=false to load those that fit by name.");

  NoGradGuard no_grad;
  for (const auto& item : own)
    if (const Variable* given = state.find(item.key()); given && given->defined()) {
      Variable target = *item;
      target.copy_(*given);
    }
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& item : state_dict()) archive.write(item.key(), item.value());
}

void Module::load(serialize::InputArchive& archive) {
  StateDict state;
  for (const auto& [name, tensor] : archive.tensors()) state.insert(name, tensor);
  load_state_dict(state);
}

}  // namespace ebb::nn
