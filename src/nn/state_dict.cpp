// The state of a module by name.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/module.h>
#include <ebb/ops/copy.h>

#include <algorithm>
#include <numeric>

namespace ebb::nn {

namespace {

/// Levenshtein's distance.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& name, const Module::StateDict& among) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(3, name.size() / 2);
  for (const auto& item : among) {
    const std::size_t d = distance(name, item.key());
    if (d < best_distance) best = &item.key(), best_distance = d;
  }
  return best ? " (nearest: \"" + *best + "\")" : "";
}

void collect(const Module& module, const std::string& prefix, Module::StateDict& out) {
  const auto add = [&](const Module::StateDict& own) {
    for (const auto& item : own) out.insert(prefix + item.key(), item->detach());
  };
  add(module.named_parameters(false));
  add(module.named_buffers(false));
  for (const auto& child : module.named_children()) collect(*child.value(), prefix + child.key() + ".", out);
}

}  // namespace

Module::StateDict Module::state_dict() const {
  StateDict out;
  collect(*this, {}, out);
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

}  // namespace ebb::nn
