// Watches that writes are counted.
#include "random_programs/versions.h"

#include <ebb/core/error.h>
#include <ebb/optim.h>

#include <functional>
#include <string_view>

#include "random_programs/kinds.h"

namespace programs {
namespace {

constexpr std::size_t kMostBytes = 1 << 14;

std::size_t hash_of(const ebb::Storage& storage) {
  return std::hash<std::string_view>()({static_cast<const char*>(storage.data()), storage.bytes()});
}

// As in libtorch, whose SGD writes to the parameters' data().
bool writes_uncounted(const State& state, const Statement& statement) {
  return statement.kind == "step" && dynamic_cast<const ebb::optim::SGD*>(&state.optimizer(statement.in[0]));
}

}  // namespace

void VersionWatch::look(const State& state, const Statement& statement) {
  if (writes_uncounted(state, statement)) known_.clear();
  std::unordered_map<const ebb::Storage*, Known> now;
  const auto add = [&](const Variable& x) {
    if (!x.defined() || !x.device().is_cpu()) return;
    const ebb::Ref<ebb::Storage>& storage = x.array().storage();
    if (storage->bytes() > kMostBytes || now.contains(storage.get())) return;
    const Known& seen = now[storage.get()] = {storage, hash_of(*storage), storage->version()};
    const auto before = known_.find(storage.get());
    EBB_CHECK(
        before == known_.end() || before->second.hash == seen.hash || before->second.version != seen.version,
        text(statement, Language::cpp), " writes to a tensor of shape ", x.sizes(), " whose version stays ",
        std::int64_t{seen.version}, ".");
  };
  for (const Slot& slot : state.slots) {
    add(slot.tensor);
    if (!slot.module) continue;
    for (const Variable& p : slot.module->parameters()) add(p);
    for (const Variable& b : slot.module->buffers()) add(b);
  }
  known_ = std::move(now);
}

}  // namespace programs
