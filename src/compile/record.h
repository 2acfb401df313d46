// Recording and Specialization: record a function while it runs, and decide which calls are replayed.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/compile.h>

#include "compile/tape.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ebb::emitted {
struct Argument;
}

namespace ebb::detail::compile {

/// Records the kernel calls of one run of a function as a tape.
class Recording final : public detail::Recorder {
 public:
  explicit Recording(const std::vector<Variable>& inputs);
  ~Recording() override;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void begin(detail::KeptCall& kept) override;
  void end(std::unique_ptr<detail::KeptCall> kept, detail::KeptCall& after) override;
  void refuse(const std::string& reason) override;
  void will_access(const NdArray& array) override;
  void reaches(const NdArray& array, std::int64_t end, bool from_own_offset) override;
  void host_access(const Storage& storage) override;
  void version_bumped(const Ref<Storage>& storage) override;
  void queries(const Variable& x) override;
  void queries_memory(const Variable& x) override;
  void compares(const Variable& a, const Variable& b) override;
  void changes(const Variable& x) override;
  void uses_gradient(const Variable& x, bool may_assign) override;
  void drops_gradient(const Variable& x) override;
  void accumulates(const Variable& leaf) override;
  void backward_begins(const Variable& root) override;
  void backward_ended(const Variable& root) override;

  /// Refuses a function that has returned but has left a tensor changed.
  void refuse_changes();
  /// Returns the tape of a function that has returned `outputs`, which are copies of the returned handles.
  /// Returns null if there is a reason() not to replay it.
  std::unique_ptr<Tape> finish(const std::vector<Variable>& outputs);
  const std::string& reason() const { return reason_; }
  /// Returns the serial number of this recording in the process.
  std::uint32_t number() const { return number_; }

 private:
  class Keeper;
  class Matcher;
  struct Address {
    int buffer;
    std::size_t bytes;
  };

  int buffer_of(const Ref<Storage>& storage);
  int new_buffer(Buffer::Kind kind, const Storage& storage);
  void note_access(int buffer, bool written);
  void make_constant(Buffer& buffer, const Storage& storage);
  NdArray on_placeholder(int buffer, const NdArray& array) const;
  void sort_buffers();
  void note_no_alias();
  void watch_queried();
  TensorRef refer_to(const Variable& x);
  TapeOutput output(const Variable& x, const std::vector<Variable>& outputs);
  bool is_argument(const Variable& x) const;
  bool found(const Variable& x) const { return detail::is_older(x.impl()->born, number_); }
  void refuse_escaping(const std::vector<Variable>& outputs);
  void release_if_noticed(Borrowed& x);
  template <class Visit>
  static void visit_graph(const Variable& root, const Visit& visit);
  // The state of one leaf's gradient (record_gradients.cpp).
  struct Gradient {
    std::size_t leaf;  // the index of the tape's leaf
    NdArray first;     // the gradient before the function, unless the function drops it
    bool accumulated = false;
    const VariableImpl* tensor = nullptr;  // the tensor of `first`
    std::uint64_t geometry = 0;            // of `first`
  };
  Gradient& gradient(const Variable& x);
  void drop(Gradient& gradient);
  void note_stage(const Variable& x, const Gradient& gradient);
  void finish_gradients();
  int known(const Storage* storage) const;
  void sign(const void* bytes, std::size_t count);
  void sign_geometry(const NdArray& array, const Buffer& buffer);

  struct Known {
    int buffer;
    std::uint64_t serial;  // the serial number of a storage that the function allocated; otherwise 0
  };
  std::unique_ptr<Tape> tape_ = std::make_unique<Tape>();
  std::vector<Variable> inputs_;
  std::vector<std::size_t> input_handles_;  // the number of handles of each argument before the function ran
  std::unordered_map<const Storage*, Known> known_;
  std::unordered_map<const Storage*, std::uint64_t> written_by_host_;
  std::map<const char*, Address> addresses_;
  std::vector<NdArray> given_;   // the arrays of the current call, as the caller gave them
  std::vector<TensorRef> kept_;  // the arrays of given_, on placeholders
  TapeCall call_;                // the current call
  struct Draw {
    const Philox* kept;  // the state in the recorded call that draws
    std::size_t number;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Draw> draws_;  // keyed by seed and call
  std::unordered_map<const VariableImpl*, Gradient> gradients_;
  std::unordered_set<const VariableImpl*> seen_gradients_;  // gradients of these leaves, and null
  struct Changed {
    Variable x;
    std::uint64_t state;  // the hash of its state before the first change
  };
  std::unordered_map<const VariableImpl*, Changed> changed_;   // changed tensors from outside the function
  std::unordered_map<const VariableImpl*, Variable> queried_;  // queried tensors from outside the function
  std::uint32_t number_;
  std::string reason_;
  std::uint64_t first_node_;                            // the sequence number of the function's first node
  std::unordered_set<std::uint64_t> walking_, walked_;  // sequence numbers of nodes
};

/// Returns the modes of the thread and the settings of the process on which the result of an op may depend.
std::string key_of_modes();

/// Writes the key of a call to `text`, and reuses the memory of `text` if it suffices. Calls with equal keys
/// have the same tape. The key contains the modes, the arguments that are not tensors, and the properties of
/// each tensor on which ops depend, but not its elements.
void key_of_call(const std::vector<Variable>& tensors, const std::string& numbers, std::string& text);

/// All calls that have the same key, and the tape that replays them.
struct Specialization {
  explicit Specialization(std::string with);
  ~Specialization();
  Specialization(const Specialization&) = delete;
  Specialization& operator=(const Specialization&) = delete;

  /// Returns whether the assumptions of the tape hold for a call with these tensors.
  bool fits(const std::vector<Variable>& tensors);
  /// Drops the tape, whose assumptions do not hold any more.
  void invalidate();
  /// Processes a recorded call that returned `results`.
  void recorded(Recording& recording, const std::vector<Variable>& tensors,
                const std::vector<Variable>& results, bool fuse_on_devices);
  /// Processes a call that could not be recorded.
  void refused(const std::string& why);

  /// Returns whether the last recording was refused.
  bool was_refused() const { return refusals_ > 0; }

  const std::string key;
  std::unique_ptr<Tape> replayed;  ///< null until two recordings agree
  std::vector<emitted::Argument> arguments;
  std::string reason = "it has not been called twice yet";
  std::int64_t replays = 0;    ///< the number of replays of the current tape
  bool ever_replayed = false;  ///< true if this or an earlier tape was replayed
  bool eager = false;          ///< true if all further calls are eager

 private:
  /// The memory of an argument of the last recording. It is stored only if the calls of the last two
  /// recordings had the same memory. Captured tensors may then be in this memory, and a tape cannot
  /// distinguish them from views of the argument. The tape is therefore valid only for this memory.
  struct Input {
    std::shared_ptr<detail::ReadStorage> memory;
    std::int64_t offset = 0;
    bool same_memory = false, same_offset = false;
    detail::ReadState known;
  };
  /// A tensor that was an argument. When it is destroyed, the tape remains valid, because no captured tensor
  /// was destroyed.
  struct PastArgument {
    const detail::ReadStorage* memory;
    std::uint64_t which;
  };

  void stay_eager(const std::string& why);
  void adopt(std::unique_ptr<Tape> tape, const std::vector<Variable>& tensors, bool fuse_on_devices);
  void note_past_argument(const detail::ReadStorage* memory, const Variable& x);
  bool only_past_arguments_are_gone(Input& input);

  std::unique_ptr<Tape> last_;  // the tape of the last recording, unless it is `replayed`
  std::vector<Input> inputs_;
  std::vector<PastArgument> past_arguments_;  // the newest is last
  std::uint32_t recorded_ = 0;                // the number of the last recording
  int recordings_ = 0, refusals_ = 0, unused_tapes_ = 0;
};

}  // namespace ebb::detail::compile
