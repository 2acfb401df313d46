// Watches that writes are counted.
#include "random_programs/versions.h"

#include <ebb/core/error.h>
#include <ebb/optim.h>

#include <functional>
#include <set>
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
  const auto add_one = [&](const Variable& x) {
    if (!x.defined() || !x.device().is_cpu()) return;
    const ebb::Ref<ebb::Storage>& storage = x.array().storage();
    if (storage->bytes() > kMostBytes || now.contains(storage.get())) return;
    now[storage.get()] = {storage, hash_of(*storage), storage->version()};
  };
  const auto add = [&](const Variable& x) {
    add_one(x);
    // A view that is asked for its history takes that which its base has now.
    if (x.defined() && !x.is_view() && x.is_leaf()) add_one(x.grad());
  };
  for (const Slot& slot : state.slots) {
    add(slot.tensor);
    if (slot.optimizer)
      for (const auto& group : slot.optimizer->param_groups())
        for (const Variable& p : group.params()) add(p);
    if (!slot.module) continue;
    for (const Variable& p : slot.module->parameters()) add(p);
    for (const Variable& b : slot.module->buffers()) add(b);
  }
  // Tensors with counters of their own may share memory, by set_data(): one of them counts a write. It may be
  // a gradient, or a parameter that only an optimizer still has.
  std::set<const void*> counted;
  const auto before = [&](const ebb::Storage* storage) {
    const auto found = known_.find(storage);
    return found == known_.end() ? nullptr : &found->second;
  };
  for (const auto& [storage, seen] : now)
    if (const Known* known = before(storage); known && known->version != seen.version)
      counted.insert(storage->data());
  for (const auto& [storage, seen] : now) {
    const Known* const known = before(storage);
    EBB_CHECK(!known || known->hash == seen.hash || counted.contains(storage->data()),
              text(statement, Language::cpp), " writes to ", std::uint64_t{storage->bytes()},
              " bytes of a tensor whose version stays ", std::int64_t{seen.version}, ".");
  }
  known_ = std::move(now);
}

}  // namespace programs
