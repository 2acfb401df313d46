// The registry of module numbers.
#include "autograd/module_registry.h"

#include "core/fork.h"

#include <unordered_map>

namespace ebb::autograd {

constinit thread_local std::uint32_t current_place = 0;

namespace {

struct Place {
  const void* module;
  std::string (*describe)(const void* module);
};
struct Places {
  detail::HeldAtFork mutex;
  std::unordered_map<std::uint32_t, Place> open;
  std::uint32_t last = 0;
};
// Never destroyed: modules in static variables unregister at exit.
Places& places() {
  static Places& all = *new Places;
  return all;
}

}  // namespace

std::uint32_t register_module_number(const void* module, std::string (*describe)(const void* module)) {
  Places& all = places();
  const std::lock_guard lock(all.mutex);
  all.open[++all.last] = {module, describe};
  return all.last;
}

void release_module_number(std::uint32_t place) noexcept {
  if (place == 0) return;
  Places& all = places();
  const std::lock_guard lock(all.mutex);
  all.open.erase(place);
}

std::string module_text(std::uint32_t place) {
  if (place == 0) return {};
  Places& all = places();
  const std::lock_guard lock(all.mutex);
  const auto found = all.open.find(place);
  return found == all.open.end() ? std::string() : found->second.describe(found->second.module);
}

}  // namespace ebb::autograd
