// The recorder of each thread, and the storages allocated while it records.
#include "core/recorder.h"

#include "core/fork.h"

#include <unordered_map>

namespace ebb::detail {
namespace {

constinit thread_local Recorder* of_thread [[gnu::tls_model("initial-exec")]] = nullptr;

struct Recorded {
  struct Made {
    const Recorder* by;
    std::uint64_t serial;
  };
  HeldAtFork mutex;
  std::unordered_map<const Storage*, Made> made;
  std::unordered_map<const void*, const Recorder*> tensors;
  std::uint64_t serial = 0;
  std::uint32_t begun = 0, under_way = 0;  // recordings that have begun, and that have not ended
};
Recorded& recorded() {
  static Recorded& kept = *new Recorded;  // never destroyed: static storages may be freed at exit
  return kept;
}

}  // namespace

constinit std::atomic<int> recordings{0};
constinit std::atomic<std::uint32_t> tape_time{0};

Recorder* current_recorder() noexcept { return of_thread; }
void set_current_recorder(Recorder* recorder) noexcept { of_thread = recorder; }

void host_access(const Storage& storage) {
  if (of_thread) of_thread->host_access(storage);
}

void storage_allocated(const Storage& storage) {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  k.made[&storage] = {of_thread, ++k.serial};
}

void storage_freed(const Storage& storage) noexcept {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  k.made.erase(&storage);
}

void tensor_created(const void* tensor) {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  k.tensors[tensor] = of_thread;
}

void tensor_destroyed(const void* tensor) noexcept {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  k.tensors.erase(tensor);
}

std::vector<const void*> tensors_left(const Recorder& recorder) {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  std::vector<const void*> left;
  for (const auto& [tensor, by] : k.tensors)
    if (by == &recorder) left.push_back(tensor);
  return left;
}

std::uint64_t allocation_serial(const Recorder& recorder, const Storage* storage) noexcept {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  const auto found = k.made.find(storage);
  return found != k.made.end() && found->second.by == &recorder ? found->second.serial : 0;
}

void forget_allocations(const Recorder& recorder) noexcept {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  std::erase_if(k.made, [&](const auto& each) { return each.second.by == &recorder; });
  std::erase_if(k.tensors, [&](const auto& each) { return each.second == &recorder; });
}

std::uint32_t begin_recording() noexcept {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  ++recordings;
  ++k.under_way;
  tape_time = 2 * ++k.begun + 1;
  return k.begun;
}

void end_recording() noexcept {
  Recorded& k = recorded();
  const std::lock_guard lock(k.mutex);
  --recordings;
  if (--k.under_way == 0) tape_time = 2 * k.begun;
}

}  // namespace ebb::detail
