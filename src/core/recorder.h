// The interface that records a thread's kernel calls, for ebb::compile and ebb::watch.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace ebb::detail {

class KeptCall;

/// Receives every kernel call of a thread, for example of a function that ebb::compile records. It is also
/// notified of every action of the host that a replay of the calls would miss.
class Recorder {
 public:
  virtual ~Recorder() = default;

  /// Called before a kernel call runs. Adds the call's arrays to the tape.
  virtual void begin(KeptCall& kept) = 0;
  /// Called after a call has run; `after` contains its arguments in their current state.
  virtual void end(std::unique_ptr<KeptCall> kept, KeptCall& after) = 0;

  // The default implementations of the following functions ignore what happens between kernel calls.

  /// Marks the function as impossible to replay, for the given reason, for example because a call could not
  /// be recorded.
  virtual void refuse(const std::string& /*reason*/) {}

  /// Called before a kernel receives the bare address of the array.
  virtual void will_access(const NdArray& /*array*/) {}
  /// Records that a view of `array` extends to the byte `end` of the array's storage, possibly beyond the
  /// array. The view begins at the array's offset if `from_own_offset` is true, otherwise at a fixed offset
  /// in the storage.
  virtual void reaches(const NdArray& /*array*/, std::int64_t /*end*/, bool /*from_own_offset*/) {}
  /// Called before the host reads or writes elements.
  virtual void host_access(const Storage& /*storage*/) {}
  /// Called after an in-place write has incremented the version counter of a storage.
  virtual void version_bumped(const Ref<Storage>& /*storage*/) {}
  /// Called when the geometry, the dtype or the device of a tensor is read, or whether it requires grad.
  virtual void queries(const Variable& /*x*/) {}
  /// Called when the storage of a tensor is read.
  virtual void queries_memory(const Variable& /*x*/) {}
  /// Called when two tensors are compared: whether they are the same tensor, or share memory.
  virtual void compares(const Variable& /*a*/, const Variable& /*b*/) {}
  /// Called before the geometry, the memory, requires_grad, the hooks or the history of a tensor changes.
  virtual void changes(const Variable& /*x*/) {}
  /// Called before the gradient of a tensor is read, or assigned through a reference.
  virtual void uses_gradient(const Variable& /*x*/, bool /*may_assign*/) {}
  /// Called before the gradient of a tensor is dropped without being read.
  virtual void drops_gradient(const Variable& /*x*/) {}
  /// Called before a gradient is added to the gradient of a leaf.
  virtual void accumulates(const Variable& /*leaf*/) {}
  /// Called before a backward pass begins at a tensor.
  virtual void backward_begins(const Variable& /*root*/) {}
  /// Called after a backward pass has released the graph below a tensor.
  virtual void backward_ended(const Variable& /*root*/) {}
};

/// Returns the calling thread's recorder. It is null outside of recordings, and within a call that is being
/// recorded.
EBB_API Recorder* current_recorder() noexcept;
EBB_API void set_current_recorder(Recorder* recorder) noexcept;

/// Sets the thread's recorder for a scope; null suspends recording.
class RecorderScope {
 public:
  explicit RecorderScope(Recorder* recorder) : previous_(current_recorder()) {
    set_current_recorder(recorder);
  }
  ~RecorderScope() { set_current_recorder(previous_); }
  RecorderScope(const RecorderScope&) = delete;
  RecorderScope& operator=(const RecorderScope&) = delete;

 private:
  Recorder* previous_;
};

/// Returns the thread's recorder. If no thread records, this costs one memory load.
inline Recorder* recorder() noexcept {
  return recordings.load(std::memory_order_relaxed) == 0 ? nullptr : current_recorder();
}

/// Marks the function as impossible to replay. Must be called before the host makes a decision that depends
/// on values, or does work that a replay would miss.
inline void not_replayed(const char* reason) {
  if (Recorder* r = recorder()) [[unlikely]]
    r->refuse(reason);
}
/// Notifies the recorder. Must be called before the host reads or writes elements of an array.
inline void host_access(const NdArray& array) {
  if (array.defined() && recorder()) [[unlikely]]
    host_access(*array.storage());
}

/// Notifies the recorder. Must be called before a kernel receives the bare address of an array.
inline void will_access(const NdArray& array) {
  if (Recorder* r = recorder()) [[unlikely]]
    r->will_access(array);
}

/// Tracks the storages allocated while a thread records, until they are freed by any thread.
void storage_allocated(const Storage& storage);
void storage_freed(const Storage& storage) noexcept;
/// Tracks the tensors created while a thread records, until they are destroyed by any thread.
void tensor_created(const void* tensor);
void tensor_destroyed(const void* tensor) noexcept;
/// Returns the addresses of the tensors that were created while `recorder` was recording and still exist.
EBB_API std::vector<const void*> tensors_left(const Recorder& recorder);
/// Returns a number that distinguishes successive storages at the same address. Returns 0 if the storage was
/// not allocated while `recorder` was recording.
EBB_API std::uint64_t allocation_serial(const Recorder& recorder, const Storage* storage) noexcept;
/// Stops tracking the storages and tensors of a recorder.
EBB_API void forget_allocations(const Recorder& recorder) noexcept;

/// Begins a recording and returns its number, counted from 1. end_recording() ends it.
EBB_API std::uint32_t begin_recording() noexcept;
EBB_API void end_recording() noexcept;

}  // namespace ebb::detail
