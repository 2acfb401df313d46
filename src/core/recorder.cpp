// The recorder of a thread, and what recordings and tapes know of storages.
#include "core/recorder.h"

#include "core/fingerprint.h"
#include "core/fork.h"

#include <algorithm>
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
  std::unordered_map<const Storage*, std::weak_ptr<ReadStorage>> read;
  std::uint64_t serial = 0;
  std::uint32_t begun = 0, under_way = 0;  // recordings
};
Known& known() {
  static Known& kept = *new Known;  // storages outlive everything
  return kept;
}
std::atomic<std::uint64_t> states{0};

}  // namespace

constinit std::atomic<int> recordings{0};
constinit std::atomic<std::uint32_t> tape_time{0};
constinit std::atomic<std::uint32_t> last_read{0};

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

std::uint32_t begin_recording() noexcept {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  ++recordings;
  ++k.under_way;
  tape_time = 2 * ++k.begun + 1;
  return k.begun;
}

void end_recording() noexcept {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  --recordings;
  if (--k.under_way == 0) tape_time = 2 * k.begun;
}

ReadStorage::ReadStorage(Ref<Storage> read) : storage(std::move(read)) {}

ReadStorage::~ReadStorage() {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  const auto found = k.read.find(storage.get());
  if (found != k.read.end() && found->second.expired()) k.read.erase(found);
}

std::shared_ptr<ReadStorage> read_by_tape(const Ref<Storage>& storage, std::uint32_t recording) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  std::weak_ptr<ReadStorage>& kept = k.read[storage.get()];
  std::shared_ptr<ReadStorage> held = kept.lock();
  if (!held) kept = held = std::make_shared<ReadStorage>(storage);
  held->recording = std::max(held->recording.load(), recording);
  last_read = std::max(last_read.load(), recording);
  return held;
}

std::uint64_t ReadStorage::gone(std::uint32_t recording) const {
  const std::lock_guard lock(known().mutex);
  std::uint64_t all = 0;
  for (const auto& [born, which] : gone_by_age)
    if (is_older(born, recording)) all ^= which;
  return all;
}

ReadState::ReadState(const ReadStorage& read, std::uint32_t older_than)
    : state(read.state), gone(read.gone(older_than)), deaths(read.deaths), older_than(older_than) {}

bool ReadState::still_none_gone(const ReadStorage& read) {
  const std::uint64_t now = read.deaths;
  if (read.gone(older_than) != gone) return false;
  deaths = now;
  return true;
}

namespace {

// Calls `change` for what tapes read, if they may know a tensor of that age.
template <class Change>
void note(const Storage& storage, std::uint32_t born, const Change& change) noexcept {
  Known& k = known();
  std::shared_ptr<ReadStorage> read;  // destroyed without the mutex
  const std::lock_guard lock(k.mutex);
  const auto found = k.read.find(&storage);
  if (found != k.read.end()) read = found->second.lock();
  if (read && is_older(born, read->recording)) change(*read);
}

}  // namespace

void tensor_changed(const Storage& storage, std::uint32_t born, std::uint64_t difference) noexcept {
  if (may_be_read(born)) note(storage, born, [&](ReadStorage& read) { read.state.fetch_xor(difference); });
}
void tensor_gone(const Storage& storage, std::uint32_t born, std::uint64_t which) noexcept {
  note(storage, born, [&](ReadStorage& read) {
    try {
      read.gone_by_age[born] ^= which;
      ++read.deaths;
    } catch (const std::bad_alloc&) {
      read.state.fetch_xor(new_state());
    }
  });
}
std::uint64_t new_state() noexcept { return mixed(states.fetch_add(1, std::memory_order_relaxed) + 1); }

}  // namespace ebb::detail
