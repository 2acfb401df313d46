// Who takes down what a thread computes, for ebb::compile.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/fwd.h>

#include <atomic>
#include <map>
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

  const Ref<Storage> storage;
  /// What the storage's tensors are. Each change takes the number of the state before out of it and puts that
  /// of the state after in, so that it returns to its value when all tensors return to their states.
  std::atomic<std::uint64_t> state{0};
  /// How many tensors have been destroyed that a tape may know. A handle that is given another tensor often
  /// is the last of its own.
  std::atomic<std::uint64_t> deaths{0};
  /// A number of those that were older than a recording.
  std::uint64_t gone(std::uint32_t recording) const;
  std::map<std::uint32_t, std::uint64_t> gone_by_age;  ///< of all; use gone()
  /// The last recording that read it: younger tensors are unknown to every tape.
  std::atomic<std::uint32_t> recording{0};
};
EBB_API std::shared_ptr<ReadStorage> read_by_tape(const Ref<Storage>& storage, std::uint32_t recording);

/// What a tape knows of the tensors on a storage.
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

/// The last recording that read anything.
extern EBB_API constinit std::atomic<std::uint32_t> last_read;
/// Whether tapes may know a tensor of that age.
inline bool may_be_read(std::uint32_t born) noexcept {
  return is_older(born, last_read.load(std::memory_order_relaxed));
}
/// `difference` joins the state of the storage, if tapes read it and know tensors of that age.
EBB_API void tensor_changed(const Storage& storage, std::uint32_t born, std::uint64_t difference) noexcept;
/// The same for a tensor that is destroyed.
EBB_API void tensor_gone(const Storage& storage, std::uint32_t born, std::uint64_t which) noexcept;
/// A number that no state has had: for a change that nothing takes back.
EBB_API std::uint64_t new_state() noexcept;

}  // namespace ebb::detail
