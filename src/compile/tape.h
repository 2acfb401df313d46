// The tape of a function: its recorded kernel calls, and the buffers that they access.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/device.h>
#include <ebb/cuda/graph.h>

#include "core/recorder.h"
#include "core/tape_state.h"
#include "kernel/call/kept_call.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ebb::detail::compile {

/// Rounds a number of bytes up to whole cache lines.
inline std::size_t to_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// A program that replaces several calls: loops on the CPU, or one kernel of a device.
class StepProgram {
 public:
  StepProgram() = default;
  virtual ~StepProgram() = default;
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  /// Return the size of the scratch memory of a run, and its device. On the CPU the size depends on the
  /// current number of threads.
  virtual std::size_t work_bytes() const { return 0; }
  virtual Device work_device() const { return kCPU; }
  virtual void run(std::byte* work) const = 0;
};

/// A buffer that calls of a tape access. The calls' arrays are on its placeholder, a storage that a replay
/// moves to the buffer's memory.
struct Buffer {
  enum class Kind : std::uint8_t {
    input,        ///< the memory of an argument, which the caller owns
    captured,     ///< the memory of a tensor from outside the function, for example a parameter
    constant,     ///< allocated by the function, with values that the host wrote
    temporary,    ///< allocated and freed within the function; stored in the tape's arena
    elided,       ///< a temporary of calls that run as one program; it needs no memory
    result,       ///< allocated by the function and kept: a result or a gradient
    from_kernel,  ///< allocated by a kernel in each run
  };
  Kind kind = Kind::temporary;
  Ref<Storage> placeholder;
  std::size_t bytes = 0;
  int first = -1, last = -1;  ///< the first and last call (after fuse(), step) that access the buffer
  int idle_first = 0, idle_last = -1;  ///< steps between, during which the buffer needs no memory
  bool written = false;
  bool returned = false;            ///< true if an output or a gradient refers to the buffer
  std::uint32_t version_bumps = 0;  ///< the number of times that a run increments the version counter
  std::size_t arena_offset = 0;     ///< temporary: the buffer's offset in the arena

  int input = -1;          ///< input: the index of the argument
  std::int64_t reach = 0;  ///< input: the number of bytes that must exist after the argument's first element
  bool fixed_offset = false;                   ///< input: true if the argument must have the recorded offset
  std::shared_ptr<detail::ReadStorage> found;  ///< captured: its memory
  detail::ReadState known;                     ///< captured: the state of the tensors on `found`
  bool is_gradient = false;                    ///< captured: true for a gradient, which a TapeLeaf checks
  std::vector<std::byte> contents;             ///< constant: its bytes
  Ref<Storage> memory;                         ///< constant, result or from_kernel: the buffer's memory
};

/// A tensor of the tape: a buffer with a geometry.
struct TensorRef {
  int buffer = -1;  ///< -1: undefined
  NdArray array;    ///< on the buffer's placeholder
};

/// A recorded kernel call.
struct TapeCall {
  /// An output that the kernel allocates itself.
  struct Allocated {
    std::size_t array;  ///< the index of the array in a visit of the call
    int buffer;
    NdArray replaced;  ///< the array that the caller gave
  };
  /// An address among the arguments.
  struct Address {
    void** pointer;
    int buffer;
    std::size_t offset;
  };
  /// `target` is a Philox state among the arguments. Before the call, it is set to `source`, the state that
  /// an earlier call draws in each run.
  struct Words {
    Philox* target;
    const Philox* source;
  };
  std::unique_ptr<detail::KeptCall> call;
  std::vector<Allocated> allocated;
  std::vector<Address> addresses;
  std::vector<Words> words;
  int number = 0;  ///< index among the recorded calls, some of which passes drop
};

/// A step of a replay: one call, or several that run as one program.
struct TapeStep {
  int first, last;                       ///< the first and the last call of the step
  std::unique_ptr<StepProgram> program;  ///< null for one call
  std::size_t work_offset = 0;           ///< the offset of the program's scratch memory in the arena
};

/// Two temporaries that may share an address. The step works element by element. It is the last step that
/// reads `from`, and the first one that writes to `to`.
struct InPlaceReuse {
  int from, to, step;
};

/// A tensor that the tape refers to without keeping it alive. Once the tensor is destroyed, the state of its
/// captured memory (ReadState) differs, and the tape does not read the tensor any more.
class Borrowed {
 public:
  Borrowed() = default;
  explicit Borrowed(const Variable& x) : x_(x) {}
  Borrowed(Borrowed&& other) noexcept : x_(std::move(other.x_)), owned_(std::exchange(other.owned_, true)) {}
  Borrowed& operator=(Borrowed&& other) noexcept {
    std::swap(x_, other.x_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~Borrowed() {
    if (!owned_) static_cast<void>(std::move(x_).release_impl().detach());
  }
  /// Gives up the reference that keeps the tensor alive.
  void release() {
    if (owned_ && x_.defined()) x_.impl()->release();
    owned_ = false;
  }
  const Variable& operator*() const { return x_; }
  const Variable* operator->() const { return &x_; }

 private:
  Variable x_;
  bool owned_ = true;
};

/// A tensor whose gradient the function used.
struct TapeLeaf {
  Borrowed leaf;
  int input = -1;              ///< the index of the argument that the leaf is, or -1
  const void* data = nullptr;  ///< the address of the leaf's own elements
  bool adds = false;           ///< the function adds to the gradient
  bool had_gradient = false;   ///< the leaf has a gradient before the call
  bool ignores_old = false;    ///< the function drops the old gradient unread, so a replay accepts any
  int dropped_at = 0;          ///< if ignores_old: the index of the call before which it is dropped
  TensorRef before;            ///< the old gradient, if calls access it
  bool sets_gradient = false;  ///< true if the function sets the gradient to `after`, which may be undefined
  int added_at = 0;            ///< the index of the call from which on `after` is valid
  TensorRef after;
  struct Stage {
    int added_at;
    TensorRef after;
  };
  std::vector<Stage> stages;  ///< gradients that the function sets before `after`, for calls that throw
  /// geometry_of() the old gradient if the function queries its properties, otherwise 0.
  std::uint64_t queried = 0;
};

/// A tensor that the function returned.
struct TapeOutput {
  TensorRef tensor;
  int input = -1;    ///< the index of the argument that is returned, or -1
  int earlier = -1;  ///< the index of the earlier output that is returned again, or -1
  Borrowed found;    ///< the captured tensor that is returned
  bool inference = false;
};

/// The captured graph of a tape whose memory is all on one device.
struct DeviceTape {
  explicit DeviceTape(Device on) : device(on) {}

  Device device;
  std::unique_ptr<cuda::Graph> graph;
  std::vector<NdArray> arguments;  ///< the copies of the inputs that the graph reads
  int runs = 0;
};

/// Elements of a buffer that the function sets to zero by the call with the number `from`. A pass has dropped
/// that, because the call with the number `to` overwrites the elements.
struct DroppedZeros {
  int from, to, buffer;
  NdArray elements;
};

/// One recorded run of a function, and everything that a replay needs.
struct Tape {
  std::vector<TapeCall> calls;
  std::vector<Buffer> buffers;
  std::vector<const detail::KeptCall*> watched;  ///< calls whose assumptions each replay checks
  std::vector<InPlaceReuse> reuses;
  std::vector<DroppedZeros> dropped_zeros;  ///< in memory that the caller sees, for calls that throw
  std::vector<TapeStep> steps;
  /// Pairs of the caller's buffers that must not overlap, because one of them is written. A replay does not
  /// check overlaps in kernels, and the passes have reordered the calls under the assumption that these
  /// buffers do not overlap.
  std::vector<std::pair<int, int>> no_alias;
  /// The captured tensors of which the function reads no element, but for example the shape.
  std::vector<std::shared_ptr<const detail::WatchedTensor>> queried;
  std::vector<TapeLeaf> leaves;
  std::vector<TapeOutput> outputs;
  std::vector<std::int64_t> input_offsets;
  std::vector<int> arguments, captured, own;  ///< buffers of inputs; captured buffers; results and constants
  std::string signature;                      ///< equal for two recordings of the same calls
  struct Mark {
    std::size_t offset;
    const char* name;
  };
  std::vector<Mark> marks;  ///< the offset in the signature at which each call begins, and its name
  /// The memory of temporaries and programs on one device.
  struct Arena {
    Device device;
    std::size_t bytes = 0;
    Ref<Storage> memory;
  };
  std::vector<Arena> arenas;
  int work_threads = 0;                   ///< the number of threads for which the arena is large enough
  std::unique_ptr<DeviceTape> on_device;  ///< null if the calls cannot be captured as a graph
  bool materialized = false;              ///< true if the memory is allocated
};

/// Copies bytes and waits for the copy. The devices are equal, or one of them is the CPU.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes);

/// Assigns offsets in the arenas to temporaries and programs. Two of these share bytes only if their live
/// ranges are disjoint, or if one temporary reuses the other's memory in place.
void plan_memory(Tape& tape);

/// Returns whether the captured tensors still exist, in the same state as when the tape was recorded.
bool reads_same(Tape& tape);

/// Returns whether all assumptions of the tape hold (docs/compile.md lists them).
bool holds(Tape& tape, const std::vector<Variable>& inputs);

/// Returns whether the storages have bytes in common.
bool overlap(const Storage& a, const Storage& b);

/// Runs the calls on these inputs and returns the outputs.
std::vector<Variable> replay(Tape& tape, const std::vector<Variable>& inputs);

/// Returns whether calls on devices may be fused: EBB_FUSE is not 0, and deterministic algorithms are not
/// required.
bool may_fuse_on_devices();

/// Prepares the tape for a captured graph. It does so only if all of the tape's memory is on one device, no
/// argument is written to, and no arguments share memory.
void prepare_for_device(Tape& tape, const std::vector<Variable>& inputs);

/// Launches the tape's captured graph. Captures the calls first if there is no graph, or if the tape's own
/// memory has `moved`. Returns false if the calls must run one by one, because the device's libraries are not
/// initialized yet or the calls cannot be captured.
bool launch(Tape& tape, const std::vector<Variable>& inputs, bool moved);

/// Runs all calls in order. If one throws, `reached` contains its index.
void run_calls(Tape& tape, int* reached = nullptr);

}  // namespace ebb::detail::compile
