// The recorder of a thread, and what recordings and tapes know of storages.
#include "core/recorder.h"

#include "core/fork.h"

#include <unordered_map>

namespace ebb::detail {
namespace {

constinit thread_local Recorder* of_thread [[gnu::tls_model("initial-exec")]] = nullptr;

struct Known {
  struct Made {
    const Recorder* by;
    std::uint64_t serial;
  };
  HeldAtFork mutex;
  std::unordered_map<const Storage*, Made> made;
  struct Read {
    std::weak_ptr<ReadStorage> held;
    bool captured = false;  // by one of the tapes
  };
  std::unordered_map<const Storage*, Read> read;
  std::uint64_t serial = 0;
};
Known& known() {
  static Known& kept = *new Known;  // storages outlive everything
  return kept;
}
std::atomic<std::uint64_t> epoch{0};
std::atomic<int> storages_read{0};

}  // namespace

constinit std::atomic<int> recordings{0};

Recorder* current_recorder() noexcept { return of_thread; }
void set_current_recorder(Recorder* recorder) noexcept { of_thread = recorder; }

void host_access(const Storage& storage) {
  if (of_thread) of_thread->host_access(storage);
}

void storage_made(const Storage& storage) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  k.made[&storage] = {of_thread, ++k.serial};
}

void storage_gone(const Storage& storage) noexcept {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  k.made.erase(&storage);
}

std::uint64_t made_by(const Recorder& recorder, const Storage* storage) noexcept {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  const auto found = k.made.find(storage);
  return found != k.made.end() && found->second.by == &recorder ? found->second.serial : 0;
}

void forget_made(const Recorder& recorder) noexcept {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  std::erase_if(k.made, [&](const auto& each) { return each.second.by == &recorder; });
}

ReadStorage::ReadStorage(Ref<Storage> read) : storage(std::move(read)) { ++storages_read; }

ReadStorage::~ReadStorage() {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  const auto found = k.read.find(storage.get());
  if (found != k.read.end() && found->second.held.expired()) k.read.erase(found);
  --storages_read;
}

std::shared_ptr<ReadStorage> read_by_tape(const Ref<Storage>& storage, bool captured) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  Known::Read& read = k.read[storage.get()];
  std::shared_ptr<ReadStorage> held = read.held.lock();
  if (!held) {
    held = std::make_shared<ReadStorage>(storage);
    read = {held, false};
  }
  read.captured = read.captured || captured;
  return held;
}

namespace {

void replaced(const Storage& storage, bool in_arguments) noexcept {
  if (storages_read.load(std::memory_order_relaxed) == 0) return;
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  const auto found = k.read.find(&storage);
  if (found != k.read.end() && (in_arguments || found->second.captured)) ++epoch;
}

}  // namespace

void tensor_replaced(const Storage& storage) noexcept { replaced(storage, false); }
void graph_replaced(const Storage& storage) noexcept { replaced(storage, true); }
std::uint64_t tape_epoch() noexcept { return epoch.load(std::memory_order_relaxed); }

}  // namespace ebb::detail
