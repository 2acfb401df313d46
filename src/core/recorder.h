// Who takes down what a thread computes, for ebb::compile.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/fwd.h>

#include <memory>
#include <string>

namespace ebb::detail {

class KeptCall;

/// What ebb::compile must know of a function while it runs: every kernel call, and whatever the host does
/// that a replay of the calls would miss.
class Recorder {
 public:
  virtual ~Recorder() = default;

  /// A call is about to run: its arrays become the tape's.
  virtual void begin(KeptCall& kept) = 0;
  /// It has run; `after` are its arguments as they are now.
  virtual void end(std::unique_ptr<KeptCall> kept, KeptCall& after) = 0;
  /// A call that could not be kept, or work of the host, has been seen: the function is not replayed, for
  /// that reason.
  virtual void refuse(const std::string& reason) = 0;

  /// Arrays of which a call will be given the bare address.
  virtual void will_touch(const NdArray& array) = 0;
  /// A view reaches to `end`, in bytes from where the memory of `array` begins, whatever the array covers. It
  /// begins at the array's own offset, or at one that does not move with the array.
  virtual void reaches(const NdArray& array, std::int64_t end, bool from_own_offset) = 0;
  /// The host reads or writes elements.
  virtual void host_access(const Storage& storage) = 0;
  /// An in-place write has been counted.
  virtual void bumped(const Ref<Storage>& storage) = 0;
  /// The geometry, the memory, requires_grad, the hooks or the history of a tensor is about to change.
  virtual void changes(const Variable& x) = 0;
  /// The gradient of a tensor is about to be read, or assigned through a reference.
  virtual void uses_gradient(const Variable& x, bool may_assign) = 0;
  /// The gradient is about to be dropped, whatever it is.
  virtual void drops_gradient(const Variable& x) = 0;
  /// The gradient of a leaf is about to be added to.
  virtual void accumulates(const Variable& leaf) = 0;
  /// A walk in reverse is about to begin at a tensor.
  virtual void walks(const Variable& root) = 0;
  /// A walk in reverse has used up the graph below a tensor.
  virtual void walked(const Variable& root) = 0;
};

/// The calling thread's; null outside of recordings and inside a call that is being taken down.
EBB_API Recorder* current_recorder() noexcept;
EBB_API void set_current_recorder(Recorder* recorder) noexcept;

/// The thread's recorder for a scope; null suspends it.
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

/// The recorder, at the price of one load where nobody records.
inline Recorder* recorder() noexcept {
  return recordings.load(std::memory_order_relaxed) == 0 ? nullptr : current_recorder();
}

/// Before the host decides by values, or does something that a replay would leave out.
inline void not_replayed(const char* reason) {
  if (Recorder* r = recorder()) [[unlikely]]
    r->refuse(reason);
}
/// Before it reads or writes elements of an array.
inline void host_access(const NdArray& array) {
  if (array.defined() && recorder()) [[unlikely]]
    host_access(*array.storage());
}

/// Before a kernel gets the bare address of an array.
inline void will_touch(const NdArray& array) {
  if (Recorder* r = recorder()) [[unlikely]]
    r->will_touch(array);
}

/// Storages made while a thread records, until they are gone, on whatever thread that is.
void storage_made(const Storage& storage);
void storage_gone(const Storage& storage) noexcept;
/// Tells the storages apart that stood at an address; 0 unless made while `recorder` was the thread's.
EBB_API std::uint64_t made_by(const Recorder& recorder, const Storage* storage) noexcept;
EBB_API void forget_made(const Recorder& recorder) noexcept;

/// Begins a recording: a number that counts all of them, from 1. end_recording() ends it.
EBB_API std::uint32_t begin_recording() noexcept;
EBB_API void end_recording() noexcept;

}  // namespace ebb::detail
