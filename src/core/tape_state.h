// The state on which a tape of ebb::compile depends in addition to its arguments: the storages that the tape
// reads, the states of the tensors on these storages, and the settings of the program. The functions below
// report changes of this state.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/ref.h>
#include <ebb/core/storage.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

namespace ebb::detail {

/// The finaliser of SplitMix64, a hash of 64 bits. Inputs that differ in one bit give unrelated outputs.
constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Returns the fingerprint of the settings that are not stored in tensors: the training mode of modules, and
/// the hooks of modules and optimizers. A function recorded by ebb::compile is valid for one fingerprint.
EBB_API std::uint64_t settings_fingerprint() noexcept;
/// Turns the setting `which` on or off. The fingerprint depends only on the settings that are on, not on the
/// order of the calls.
EBB_API void toggle_setting(std::uint64_t which) noexcept;

/// Returns whether a tensor of age `born` (VariableImpl::born) existed before the recording began.
inline bool is_older(std::uint32_t born, std::uint32_t recording) noexcept { return born < 2 * recording; }

/// A storage that tapes read but did not allocate. It belongs to a captured tensor, or to an argument that
/// was the same in all calls. All tapes share one reference to the storage. If no other reference exists, the
/// recorded tensor has been destroyed.
struct EBB_API ReadStorage {
  explicit ReadStorage(Ref<Storage> read);
  ~ReadStorage();
  ReadStorage(const ReadStorage&) = delete;
  ReadStorage& operator=(const ReadStorage&) = delete;

  /// Returns a hash of the destroyed tensors that were older than a recording.
  std::uint64_t gone(std::uint32_t recording) const;

  const Ref<Storage> storage;
  /// A hash of the states of the storage's tensors. Each change removes the hash of the old state and adds
  /// the hash of the new one. When all tensors have returned to their earlier states, the value is therefore
  /// the earlier value again.
  std::atomic<std::uint64_t> state{0};
  /// The number of destroyed tensors that a tape may refer to. It often changes, because the assignment of
  /// another tensor to a handle destroys the previous tensor.
  std::atomic<std::uint64_t> deaths{0};
  /// A hash of these tensors for each age, protected by the mutex in tape_state.cpp.
  std::map<std::uint32_t, std::uint64_t> gone_by_age;
  /// The last recording that read the storage. No tape refers to younger tensors.
  std::atomic<std::uint32_t> recording{0};
};
EBB_API std::shared_ptr<ReadStorage> read_by_tape(const Ref<Storage>& storage, std::uint32_t recording);
/// Declares that the recording has become a tape, which may read all tensors that are older than the
/// recording.
EBB_API void tape_recorded(std::uint32_t recording) noexcept;

/// The states of a storage's tensors when a tape was recorded.
struct EBB_API ReadState {
  ReadState() = default;
  /// Reads the current states. Includes destroyed tensors only if they are older than the recording
  /// `older_than`.
  ReadState(const ReadStorage& read, std::uint32_t older_than);
  /// Returns whether no tensor older than `older_than` has been destroyed since the tape was recorded.
  bool none_gone(const ReadStorage& read) {
    return read.deaths.load(std::memory_order_relaxed) == deaths || still_none_gone(read);
  }

  std::uint64_t state = 0, gone = 0;

 private:
  bool still_none_gone(const ReadStorage& read);

  std::uint64_t deaths = 0;
  std::uint32_t older_than = 0;
};

/// The last recording that became a tape.
extern EBB_API constinit std::atomic<std::uint32_t> last_read;
/// Returns whether a tape may refer to a tensor of age `born`.
inline bool may_be_read(std::uint32_t born) noexcept {
  return is_older(born, last_read.load(std::memory_order_relaxed));
}

/// A tensor that a tape may refer to, identified by its address and its age.
struct AgedTensor {
  const void* tensor;
  std::uint32_t born;
};
/// Reports that a tensor's state changed from the hash `before` on `storage_before` to the hash `after` on
/// `storage`.
EBB_API void tensor_changed(AgedTensor x, const Storage& storage_before, std::uint64_t before,
                            const Storage& storage, std::uint64_t after) noexcept;
/// Reports that a tensor was destroyed.
EBB_API void tensor_gone(AgedTensor x, const Storage& storage) noexcept;
/// Notices that one tensor, of which a tape assumes that it exists, is destroyed or gets other memory.
struct WatchedTensor {
  std::atomic<bool> gone{false};
};
/// Watches an existing tensor that is older than a recording which became a tape. All tapes share the result.
EBB_API std::shared_ptr<const WatchedTensor> watch(AgedTensor x);
/// Returns a hash of the changes of all tensors, for functions that read tensors' shapes but not their
/// elements.
EBB_API std::uint64_t changes_of_tensors() noexcept;
/// Drops the recorded changes of a tensor that is passed as an argument, because the key of the call contains
/// its current state.
EBB_API void forget_changes(AgedTensor x) noexcept;
/// Returns the hash that a destroyed tensor contributes to gone().
EBB_API std::uint64_t number_of(AgedTensor x) noexcept;
/// Returns a hash that no earlier state has had, for a change that cannot be undone.
EBB_API std::uint64_t new_state() noexcept;

}  // namespace ebb::detail
