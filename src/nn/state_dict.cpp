// Module::state_dict and load_state_dict.
#include <ebb/ops/creation.h>

#include "nn/hooks.h"
#include "nn/load_state.h"
#include "nn/walk.h"

#include <map>

namespace ebb::nn {

namespace {

// A dictionary in memory, and the names and dtypes of file entries that a dictionary cannot contain.
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
    // The source is the module's own tensor, so a copy is not needed.
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
