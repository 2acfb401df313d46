// The state that a tape depends on: the fingerprint of the settings, the storages that tapes read, and the
// hashes of their tensors' states.
#include "core/tape_state.h"

#include "core/fork.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>

namespace ebb::detail {
namespace {

std::atomic<std::uint64_t> fingerprint{0};

struct ReadStorages {
  HeldAtFork mutex;
  std::unordered_map<const Storage*, std::weak_ptr<ReadStorage>> read;
  std::unordered_map<const void*, std::uint64_t> changed;  // the hash of each existing tensor's change
  std::unordered_map<const void*, std::weak_ptr<WatchedTensor>> watched;
};
ReadStorages& read_storages() {
  static ReadStorages& kept = *new ReadStorages;  // never destroyed: static storages may be freed at exit
  return kept;
}
std::atomic<std::uint64_t> states{0}, changes{0};
std::atomic<std::size_t> changed_tensors{0};

// Returns the record of `storage` if a tape may read a tensor of age `born` on it, otherwise null. The caller
// holds the mutex.
std::shared_ptr<ReadStorage> known_to_tapes(const ReadStorages& k, const Storage& storage,
                                            std::uint32_t born) {
  const auto found = k.read.find(&storage);
  std::shared_ptr<ReadStorage> read = found == k.read.end() ? nullptr : found->second.lock();
  return read && is_older(born, read->recording) ? read : nullptr;
}

// Notifies the tapes that watch a tensor that they are no longer valid. The caller holds the mutex.
void lose_watched(ReadStorages& k, AgedTensor x) {
  const auto found = k.watched.find(x.tensor);
  if (found == k.watched.end()) return;
  if (const std::shared_ptr<WatchedTensor> watched = found->second.lock()) watched->gone = true;
  k.watched.erase(found);
}

}  // namespace

std::uint64_t settings_fingerprint() noexcept { return fingerprint.load(std::memory_order_relaxed); }
void toggle_setting(std::uint64_t which) noexcept {
  fingerprint.fetch_xor(mixed(which), std::memory_order_relaxed);
}

constinit std::atomic<std::uint32_t> last_read{0};

ReadStorage::ReadStorage(Ref<Storage> read) : storage(std::move(read)) {}

ReadStorage::~ReadStorage() {
  ReadStorages& k = read_storages();
  const std::lock_guard lock(k.mutex);
  const auto found = k.read.find(storage.get());
  if (found != k.read.end() && found->second.expired()) k.read.erase(found);
}

std::shared_ptr<ReadStorage> read_by_tape(const Ref<Storage>& storage, std::uint32_t recording) {
  ReadStorages& k = read_storages();
  const std::lock_guard lock(k.mutex);
  std::weak_ptr<ReadStorage>& kept = k.read[storage.get()];
  std::shared_ptr<ReadStorage> held = kept.lock();
  if (!held) kept = held = std::make_shared<ReadStorage>(storage);
  held->recording = std::max(held->recording.load(), recording);
  return held;
}

void tape_recorded(std::uint32_t recording) noexcept {
  const std::lock_guard lock(read_storages().mutex);
  last_read = std::max(last_read.load(), recording);
}

std::uint64_t ReadStorage::gone(std::uint32_t recording) const {
  const std::lock_guard lock(read_storages().mutex);
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

void tensor_changed(AgedTensor x, const Storage& storage_before, std::uint64_t before, const Storage& storage,
                    std::uint64_t after) noexcept {
  if (!may_be_read(x.born)) return;
  ReadStorages& k = read_storages();
  std::shared_ptr<ReadStorage> from, to;  // destroyed after the mutex is unlocked
  const std::lock_guard lock(k.mutex);
  if (&storage_before != &storage) lose_watched(k, x);
  if ((from = known_to_tapes(k, storage_before, x.born))) from->state ^= before;
  if ((to = known_to_tapes(k, storage, x.born))) to->state ^= after;
  try {
    std::uint64_t& change = k.changed[x.tensor];
    change ^= before ^ after;
    changes ^= before ^ after;
    if (change == 0) k.changed.erase(x.tensor);
    changed_tensors = k.changed.size();
  } catch (const std::bad_alloc&) {
    changes ^= new_state();
  }
}

void tensor_gone(AgedTensor x, const Storage& storage) noexcept {
  ReadStorages& k = read_storages();
  std::shared_ptr<ReadStorage> read;  // destroyed after the mutex is unlocked
  const std::lock_guard lock(k.mutex);
  // The hash of the tensor's change stays in `changes`, because a destroyed tensor cannot return to its
  // earlier state.
  k.changed.erase(x.tensor);
  changed_tensors = k.changed.size();
  lose_watched(k, x);
  if (!(read = known_to_tapes(k, storage, x.born))) return;
  try {
    read->gone_by_age[x.born] ^= number_of(x);
    ++read->deaths;
  } catch (const std::bad_alloc&) {
    read->state ^= new_state();
  }
}

std::shared_ptr<const WatchedTensor> watch(AgedTensor x) {
  ReadStorages& k = read_storages();
  const std::lock_guard lock(k.mutex);
  std::weak_ptr<WatchedTensor>& kept = k.watched[x.tensor];
  std::shared_ptr<WatchedTensor> held = kept.lock();
  if (!held) kept = held = std::make_shared<WatchedTensor>();
  return held;
}

std::uint64_t changes_of_tensors() noexcept { return changes.load(std::memory_order_relaxed); }

void forget_changes(AgedTensor x) noexcept {
  if (changed_tensors.load(std::memory_order_relaxed) == 0 || !may_be_read(x.born)) return;
  ReadStorages& k = read_storages();
  const std::lock_guard lock(k.mutex);
  const auto found = k.changed.find(x.tensor);
  if (found == k.changed.end()) return;
  changes ^= found->second;
  k.changed.erase(found);
  changed_tensors = k.changed.size();
}

std::uint64_t number_of(AgedTensor x) noexcept { return mixed(reinterpret_cast<std::uintptr_t>(x.tensor)); }
std::uint64_t new_state() noexcept { return mixed(states.fetch_add(1, std::memory_order_relaxed) + 1); }

}  // namespace ebb::detail
