// Storages that tapes read: the states of the tensors on them, and notices of changes.
#pragma once

#include <ebb/core/ref.h>
#include <ebb/core/storage.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

namespace ebb::detail {

/// Whether a tensor of that age (VariableImpl::born) existed before the recording began.
inline bool is_older(std::uint32_t born, std::uint32_t recording) noexcept { return born < 2 * recording; }

/// A storage that tapes read and did not make: captured ones, and an argument's that was the same in all
/// calls. All of them hold it by one reference: if that is the last, the tensor is gone that it was recorded
/// from.
struct EBB_API ReadStorage {
  explicit ReadStorage(Ref<Storage> read);
  ~ReadStorage();
  ReadStorage(const ReadStorage&) = delete;
  ReadStorage& operator=(const ReadStorage&) = delete;

  /// A number of the destroyed tensors that were older than a recording.
  std::uint64_t gone(std::uint32_t recording) const;

  const Ref<Storage> storage;
  /// A number of the states of the storage's tensors. Each change takes the number of the state before out of
  /// it and puts that of the state after in, so that it returns to its value when all tensors return to their
  /// states.
  std::atomic<std::uint64_t> state{0};
  /// How many tensors have been destroyed that a tape may know. A handle that is given another tensor often
  /// is the last of its own.
  std::atomic<std::uint64_t> deaths{0};
  std::map<std::uint32_t, std::uint64_t> gone_by_age;  ///< of all; gone() reads it under the mutex
  /// The last recording that read it: younger tensors are unknown to every tape.
  std::atomic<std::uint32_t> recording{0};
};
EBB_API std::shared_ptr<ReadStorage> read_by_tape(const Ref<Storage>& storage, std::uint32_t recording);
/// A recording becomes a tape, whatever it read.
EBB_API void tape_recorded(std::uint32_t recording) noexcept;

/// The states of the tensors on a storage as a tape has recorded them.
struct EBB_API ReadState {
  ReadState() = default;
  /// As they are now. Of destroyed ones only those matter that are older than the recording `older_than`.
  ReadState(const ReadStorage& read, std::uint32_t older_than);
  /// Whether none has been destroyed since.
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
/// Whether tapes may know a tensor of that age.
inline bool may_be_read(std::uint32_t born) noexcept {
  return is_older(born, last_read.load(std::memory_order_relaxed));
}

/// A tensor, by its address and its age, for those whom tapes may know.
struct AgedTensor {
  const void* tensor;
  std::uint32_t born;
};
/// The tensor changed from the state of the number `before`, on that storage, to another.
EBB_API void tensor_changed(AgedTensor x, const Storage& storage_before, std::uint64_t before,
                            const Storage& storage, std::uint64_t after) noexcept;
/// It is destroyed. Handles of tensors that were made within a recording are none of the caller's.
EBB_API void tensor_gone(AgedTensor x, const Storage& storage, bool made_within_a_recording) noexcept;
/// A number of the changes of all tensors, for functions that ask for their shapes and read none of their
/// elements.
EBB_API std::uint64_t changes_of_tensors() noexcept;
/// The tensor is an argument: what it is now stands in the key of the call.
EBB_API void forget_changes(AgedTensor x) noexcept;
/// The number by which gone() knows a tensor.
EBB_API std::uint64_t number_of(AgedTensor x) noexcept;
/// A number that no state has had: for a change that nothing takes back.
EBB_API std::uint64_t new_state() noexcept;

}  // namespace ebb::detail
