// Tapes: a function of tensors as the kernel calls that it made.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/device.h>
#include <ebb/cuda/graph.h>

#include "core/read_storage.h"
#include "core/recorder.h"
#include "kernel/kept_call.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ebb::detail::compile {

/// Bytes rounded up to whole lines of the cache.
inline std::size_t to_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// What stands for them: rows of the CPU, or a kernel of a device.
class StepProgram {
 public:
  StepProgram() = default;
  virtual ~StepProgram() = default;
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  /// Memory that a run works in, and where; on the CPU for the number of threads there are now.
  virtual std::size_t work_bytes() const { return 0; }
  virtual Device work_device() const { return kCPU; }
  virtual void run(std::byte* work) const = 0;
};

/// Memory that calls of a tape refer to, by a storage of the tape's own that is moved to where it lies.
struct Place {
  enum class Kind : std::uint8_t {
    input,     ///< of an argument: the caller's
    outside,   ///< of a tensor that the function found: a parameter, a captured tensor
    constant,  ///< made by the function, with numbers that the host wrote
    inner,     ///< made and gone within the function: in the tape's arena
    passing,   ///< made and gone within calls that run together: in no memory of the tape
    result,    ///< made by the function and kept: what it returned, a gradient
    by_call,   ///< made by a kernel itself, anew each time
  };
  Kind kind = Kind::inner;
  Ref<Storage> stand_in;
  std::size_t bytes = 0;
  int first = -1, last = -1;  ///< the calls that touch it; after fuse() the steps
  bool written = false;
  bool given_out = false;   ///< in the outputs or gradients
  std::uint32_t bumps = 0;  ///< in-place writes that are counted
  std::size_t at = 0;       ///< inner: in the arena

  int input = -1;          ///< of input: which argument
  std::int64_t reach = 0;  ///< of input: bytes from its first element on that must be there
  bool fixed = false;      ///< of input: whether it must begin where it began
  std::shared_ptr<detail::ReadStorage> found;  ///< of outside
  detail::ReadState known;                     ///< of outside: of the tensors on `found`
  bool is_gradient = false;                    ///< of outside: whether it is a gradient, of which leaves tell
  std::vector<std::byte> numbers;              ///< of constant
  Ref<Storage> kept;                           ///< of constant and result: its memory
};

/// A tensor of the tape: a place seen through a shape.
struct Seen {
  int place = -1;  ///< -1: undefined
  NdArray array;   ///< on the place's stand-in
};

/// A call, and which of the arrays that it was given it put itself in place of.
struct TapeCall {
  struct Made {
    std::size_t array;  ///< which of the call's arrays, in the order of a visit
    int place;
    NdArray given;  ///< what the kernel found there
  };
  /// An address among its arguments.
  struct Address {
    void** at;
    int place;
    std::size_t offset;
  };
  /// Words among its arguments, and the call's that draws them anew each time.
  struct Words {
    Philox* of;
    const Philox* drawn;
  };
  std::unique_ptr<detail::KeptCall> call;
  std::vector<Made> made;
  std::vector<Address> addresses;
  std::vector<Words> words;
  int number = 0;  ///< of the calls that were recorded: some are left out later
};

/// What a replay does at a time: a call, or several that run together.
struct TapeStep {
  int first, last;                       ///< calls
  std::unique_ptr<StepProgram> program;  ///< what several run as
  std::size_t work_at = 0;               ///< where that works, in its device's arena
};

/// Two inner places of which the second may lie where the first does: a step that works element by element
/// reads the one for the last time and writes the other for the first.
struct TapeSuccession {
  int from, to, step;
};

/// A tensor that the tape does not keep alive: with the last handle of its own it is gone, and the tape,
/// whose captured memory tells of that (ReadState), does not look at it any more.
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
  /// Until now it is kept alive.
  void let_go() {
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
  int input = -1;              ///< the argument that it is; -1 for any other
  const void* data = nullptr;  ///< where the leaf's own elements lay
  bool adds = false;           ///< the function added to the gradient
  bool had = false;            ///< there was a gradient before
  bool any_before = false;     ///< the function dropped the gradient of before unseen: any will do, or none
  int dropped_at = 0;          ///< from the call of this number on, if any_before
  Seen before;                 ///< the gradient of before, if calls read or write it
  bool leaves = false;         ///< the function leaves the gradient `after`
  int added_at = 0;            ///< from the call of this number on
  Seen after;
};

/// A tensor that the function returned.
struct TapeOutput {
  Seen seen;
  int input = -1;    ///< the argument that it is; -1 for any other
  int earlier = -1;  ///< the output before it that it is
  Borrowed found;    ///< the captured tensor that it is
  bool inference = false;
};

struct DeviceTape;

struct Tape {
  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  std::vector<TapeCall> calls;
  std::vector<Place> places;
  std::vector<const detail::KeptCall*> watched;  ///< those that may cease to hold
  std::vector<TapeSuccession> successions;
  std::vector<TapeStep> steps;
  /// Places of the function's caller whose memory must not overlap, since one of them is written to: neither
  /// may a kernel check for overlaps what it did not check when it was recorded, nor are calls in an order
  /// that would be right then.
  std::vector<std::pair<int, int>> apart;
  std::vector<TapeLeaf> leaves;
  std::vector<TapeOutput> outputs;
  std::vector<std::int64_t> input_offsets;
  std::vector<int> arguments, outside, own;  ///< places: of inputs, of outside, of results and constants
  std::string print;                         ///< two recordings of the same function have the same
  struct Mark {
    std::size_t at;
    const char* name;
  };
  std::vector<Mark> marks;  ///< where in it the calls begin, and their names
  /// Memory on a device of the inner places and of what programs work in.
  struct Arena {
    Device device;
    std::size_t bytes = 0;
    Ref<Storage> memory;
  };
  std::vector<Arena> arenas;
  int work_threads = 0;                   ///< for which the arena is large enough
  std::unique_ptr<DeviceTape> on_device;  ///< of a tape that a captured graph can stand for
  bool brought = false;                   ///< whether the memory is there
};

/// Copies and waits; the devices are the same or one is the CPU.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes);

/// Gives inner places, and what programs work in, their parts of the arenas: those that live at the same time
/// never share a byte.
void plan_memory(Tape& tape);

/// Whether the captured tensors are those that it was recorded from, in the state they were in.
bool reads_same(Tape& tape);

/// Whether all that the tape assumes of what it found is so (docs/compile.md has the list).
bool holds(Tape& tape, const std::vector<Variable>& inputs);

/// Whether they have bytes in common.
bool overlap(const Storage& a, const Storage& b);

/// Runs the calls on these inputs, and gives the outputs.
std::vector<Variable> replay(Tape& tape, const std::vector<Variable>& inputs);

struct DeviceTape {
  explicit DeviceTape(Device on) : device(on) {}

  Device device;
  std::unique_ptr<cuda::Graph> graph;
  std::vector<NdArray> arguments;  ///< where the graph reads each input
  int runs = 0;
};

/// Whether chains of calls on a device are made kernels: EBB_FUSE is not 0, and no algorithm needs to be
/// deterministic.
bool may_fuse_on_devices();

/// Makes the tape one that a graph can stand for, if all of its memory is on one device, no argument is
/// written to, and none share memory.
void prepare_for_device(Tape& tape, const std::vector<Variable>& inputs);

/// Launches the tape's graph, which is captured first if there is none or the tape's own memory has moved.
/// False: the calls must be run one by one, for the device's libraries are not ready yet or the calls cannot
/// be captured.
bool launch(Tape& tape, const std::vector<Variable>& inputs, bool moved);

/// All calls, in order. Where one throws, `reached` has its number.
void run_calls(Tape& tape, int* reached = nullptr);

}  // namespace ebb::detail::compile
