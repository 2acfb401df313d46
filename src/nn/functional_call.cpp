// functional_call: calls a module with parameters and buffers other than its own.
#include <ebb/nn/functional_call.h>

#include "autograd/swap_tensor.h"
#include "core/messages.h"
#include "nn/hooks.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb::nn::utils {

struct SubstituteGuard::Swaps {
  std::deque<autograd::ScopedSwap> swaps;
};

namespace {

// Returns all parameters and buffers by name. A shared tensor has several names.
Module::StateDict named_tensors(Module& module) {
  Module::StateDict all;
  const Module::NamedModuleApplyFunction add = [&](const std::string& path, Module& m) {
    const std::string prefix = path.empty() ? path : path + ".";
    for (const Module::StateDict* own :
         {&detail::ModuleAccess::parameters(m), &detail::ModuleAccess::buffers(m)})
      for (const auto& item : *own)
        if (item->defined()) all.insert(prefix + item.key(), *item);
  };
  module.apply(add);
  return all;
}

bool is_own(const Module::StateDict& own, const Variable& x) {
  return std::any_of(own.begin(), own.end(), [&](const auto& item) { return item->is_same(x); });
}

}  // namespace

SubstituteGuard::SubstituteGuard(Module& module, const Module::StateDict& tensors, bool strict)
    : swaps_(std::make_unique<Swaps>()) {
  const Module::StateDict own = named_tensors(module);
  std::unordered_map<const VariableImpl*, const Module::StateDict::Item*> given;
  for (const auto& item : tensors) {
    const Variable* const target = own.find(item.key());
    EBB_CHECK(target || !strict, "functional_call: ", module.name(), " has no parameter or buffer '",
              item.key(), "'", ebb::detail::near_names(item.key(), own.keys()), ".");
    if (!target) continue;
    EBB_CHECK(item->defined(), "functional_call: the tensor given for '", item.key(), "' is undefined.");
    const auto [first, fresh] = given.emplace(target->impl(), &item);
    EBB_CHECK(fresh || first->second->value().is_same(*item), "functional_call: '", first->second->key(),
              "' and '", item.key(), "' are one tensor of ", module.name(),
              ", but two tensors are given for these names. Give only one of them.");
  }
  for (const auto& item : own)
    EBB_CHECK(!strict || given.contains(item->impl()), "functional_call: no tensor is given for '",
              item.key(), "' of ", module.name(), ", and strict is true.");
  // The swaps exchange the contents of the module's own tensors. If a given tensor is one of these, a view
  // with its current values is swapped in instead.
  std::vector<std::pair<Variable, Variable>> pairs;
  for (const auto& item : own)
    if (const auto found = given.find(item->impl()); found != given.end()) {
      const Variable& value = found->second->value();
      pairs.emplace_back(*item, is_own(own, value) ? value.view(value.sizes()) : value);
      given.erase(found);
    }
  for (const auto& [target, value] : pairs) swaps_->swaps.emplace_back(target, value);
}

SubstituteGuard::~SubstituteGuard() = default;

}  // namespace ebb::nn::utils
