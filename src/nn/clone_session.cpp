// CloneSession: clones a tree of modules. Modules that the tree shares are also shared in the copy.
#include <ebb/nn/cloneable.h>

#include "nn/hooks.h"

#include <unordered_map>
#include <unordered_set>

namespace ebb::nn::detail {
namespace {

struct Cloned {
  int depth = 0;
  std::unordered_map<const Module*, std::shared_ptr<Module>> copies;
};

// The state of the thread's outermost clone().
Cloned& cloned() {
  static thread_local Cloned state;
  return state;
}

// Returns the further names of shared parameters: each name after the first.
std::vector<std::string> shared_names(const Module& module) {
  std::vector<std::string> names;
  std::unordered_set<const VariableImpl*> seen;
  const Module::ConstNamedModuleApplyFunction add = [&](const std::string& path, const Module& m) {
    for (const auto& item : ModuleAccess::parameters(m))
      if (item->defined() && !seen.insert(item->impl()).second)
        names.push_back(path.empty() ? item.key() : path + "." + item.key());
  };
  module.apply(add);
  return names;
}

}  // namespace

CloneSession::CloneSession(const Module& module) : module_(module) {
  constexpr int kDeepest = 1000;
  EBB_CHECK(cloned().depth < kDeepest, "clone: ", module.name(), " is nested more than ", kDeepest,
            " levels deep. Construct a new module and call its load_state_dict().");
  ++cloned().depth;
}

CloneSession::~CloneSession() {
  if (--cloned().depth == 0) cloned().copies.clear();
}

std::shared_ptr<Module> CloneSession::known() const {
  const auto found = cloned().copies.find(&module_);
  return found == cloned().copies.end() ? nullptr : found->second;
}

std::shared_ptr<Module> CloneSession::done(std::shared_ptr<Module> copy) const {
  copy->tie_weights();
  cloned().copies.emplace(&module_, copy);
  if (cloned().depth > 1) return copy;
  const std::vector<std::string> before = shared_names(module_);
  if (before.empty()) return copy;
  const std::vector<std::string> after = shared_names(*copy);
  const std::unordered_set<std::string> kept(after.begin(), after.end());
  for (const std::string& name : before)
    EBB_CHECK(
        kept.contains(name), "clone: '", name, "' of ", module_.name(),
        " is a parameter that several modules share, but in the copy it is a parameter of its own. Override "
        "tie_weights() to assign it, and call tie_weights() in the constructor.");
  return copy;
}

}  // namespace ebb::nn::detail
