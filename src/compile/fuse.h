// The passes over a tape, and the calls and groups that they read it as.
#pragma once

#include <ebb/core/api.h>

#include "compile/tape.h"
#include "kernel/kernel_traits.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ebb::detail::compile {

/// The number of comparisons between calls or buffers while tapes were prepared, on all threads. Tests see by
/// it that the work grows with the calls and not with their pairs.
extern EBB_API constinit std::atomic<std::uint64_t> comparisons;

inline void count_comparisons(std::size_t count) noexcept {
  comparisons.fetch_add(count, std::memory_order_relaxed);
}

/// The calls of a tape that access each buffer. It is built once; passes that change the tape update it.
class AccessIndex {
 public:
  explicit AccessIndex(const Tape& tape);

  /// The buffer that a tape's array is on.
  int buffer(const NdArray& array) const { return buffers_.at(array.storage().get()); }
  /// In order, each once.
  const std::vector<int>& calls(int buffer) const { return calls_[static_cast<std::size_t>(buffer)]; }
  const std::vector<int>& writers(int buffer) const { return writers_[static_cast<std::size_t>(buffer)]; }
  /// Whether a call after `first` and before `last` accesses the buffer.
  bool between(int buffer, int first, int last) const;
  /// The last call before `before` that accesses it, or -1.
  int last_before(int buffer, int before) const;
  bool written_between(int buffer, int first, int last) const;

  /// The call now writes to `to` in place of `from`, which it does not access any more.
  void redirect(int call, int from, int to);
  /// Call i has become call `number[i]`, or is gone where that is -1.
  void renumber(const std::vector<int>& number);

  bool operator==(const AccessIndex& other) const {
    return calls_ == other.calls_ && writers_ == other.writers_;
  }

 private:
  std::unordered_map<const Storage*, int> buffers_;
  std::vector<std::vector<int>> calls_, writers_;
};

/// Puts the calls in that order, by the numbers that they have now; calls that it does not name are dropped.
void reorder(Tape& tape, AccessIndex& accesses, const std::vector<std::size_t>& order);

/// Elements as a matrix with that many rows. A reduction reduces each row, or each column.
struct ReducedMatrix {
  std::int64_t rows = 1;
  bool by_columns = false;
  bool operator==(const ReducedMatrix&) const = default;
};

/// An operand of an elementwise call.
struct ElementOperand {
  int buffer = -1;         ///< -1: a number
  std::size_t offset = 0;  ///< in bytes
  DType dtype = kFloat;
  bool broadcast = false;  ///< one element, for all

  bool same_elements(const ElementOperand& other) const {
    return offset == other.offset && dtype == other.dtype && broadcast == other.broadcast;
  }
};

struct ElementCall {
  detail::ElementRow row;
  std::int64_t count = 0;
  Device device;
  ElementOperand out, in[detail::ElementRow::kMostOperands];

  /// The operands that are in memory; the one that is written comes last.
  std::vector<const ElementOperand*> in_memory() const;
};

/// The operand that an array of a tape is.
ElementOperand operand_of(const NdArray& x, const AccessIndex& accesses);

/// The call, if all its arrays are contiguous and of one count, or the same number all over.
std::optional<ElementCall> element_call(const TapeCall& call, const AccessIndex& accesses);

/// A reduction of contiguous elements: on the CPU a sum or mean over all of them.
struct ElementReductionCall {
  detail::ElementReduction steps;
  std::int64_t count = 0;
  ReducedMatrix shape;
  Device device;
  ElementOperand of, to;
};

/// The call, if it is one.
std::optional<ElementReductionCall> element_reduction_call(const TapeCall& call, const AccessIndex& accesses);

/// Pairs of buffers, of which the second may lie where the first does: the call with the number `at` reads
/// the one for the last time and writes the other for the first, at the same elements.
std::vector<std::pair<int, int>> in_place(const TapeCall& call, int at, const AccessIndex& accesses);

/// A call that makes some whole units of its elements at a time. An element's value does not depend on how
/// many.
class Producer {
 public:
  virtual ~Producer() = default;
  /// What it writes all of, and what it reads; some may be undefined.
  virtual const NdArray& out() const = 0;
  virtual std::vector<const NdArray*> reads() const = 0;
  /// Elements of a unit, and units of a block.
  virtual std::int64_t unit() const = 0;
  virtual std::int64_t units() const = 0;
  /// Elements whose making is worth waking a thread for.
  virtual std::int64_t grain() const = 0;
  /// Makes units [first, last), to `to`.
  virtual void produce(std::int64_t first, std::int64_t last, std::byte* to) const = 0;
};

/// The call as a producer, if it can be had in parts and has so many that it is worth while; else null. It
/// refers to the call.
std::unique_ptr<Producer> producer_of(const TapeCall& call);
std::unique_ptr<Producer> product_producer(const TapeCall& call);
std::unique_ptr<Producer> pooling_producer(const TapeCall& call);

/// A contiguous array on memory that it does not own.
NdArray array_at(std::byte* data, const DimVector& sizes, DType dtype);

/// Elementwise calls over as many elements that follow one another, what brings them elements, and what
/// reduces theirs.
struct ElementGroup {
  static constexpr std::size_t kMostRows = 1024;  ///< on the CPU

  /// A producer that the group begins with: the next call consumes its result.
  struct GroupProducer {
    std::unique_ptr<Producer> call;
    ElementOperand out;
    std::int64_t count = 0;
    std::unordered_set<int> reads;  // buffers
  };
  struct Reduction {
    ElementReductionCall call;
    std::size_t rows;  ///< of the group that come before it; on the CPU all
  };

  int first = -1, last = -1;  ///< calls of the tape
  GroupProducer producer;
  std::vector<ElementCall> rows;
  std::vector<Reduction> reductions;
  std::unordered_map<int, std::vector<ElementOperand>> used;  ///< by buffer; not by reductions
  std::unordered_set<int> written;

  bool is_open() const { return first >= 0; }
  Device device() const { return rows.empty() ? Device(kCPU) : rows.front().device; }
  std::size_t calls() const { return rows.size() + reductions.size(); }

  /// Whether the call can run with those of the group: what one of them writes the others see only at the
  /// same elements.
  bool joins(const ElementCall& row) const;
  void add(int at, ElementCall row);
  /// Whether it is of elements that the group makes or reads.
  bool joins(const ElementReductionCall& reduction) const;
  void add(int at, ElementReductionCall reduction);
  void begin(int at, GroupProducer with);
  /// The group goes on without its producer, which is to be a step of its own.
  void drop_producer();

 private:
  void use(const ElementCall& row);
  bool is_full() const;
  std::size_t arrays_used() const;
};

// Passes, in their order. Each keeps the index of accesses up to date.

/// Joins an addition to the product that it adds: the call computes `sum += a b`. product() adds in one
/// rounding, as the addition does (ops/linalg/kernels.h). A sum that was set to zero is written instead.
/// `on_devices`: also joins products of devices, whose libraries round once where the product and the
/// addition round twice.
void fuse_matmul_add(Tape& tape, AccessIndex& accesses, bool on_devices);

/// Moves each producer directly before its first elementwise consumer.
void sink_producers(Tape& tape, AccessIndex& accesses);

/// Moves calls that read and write only single elements to the begin of the tape if their operands are there,
/// and to its end if no other call needs their results. They then do not separate calls that can run
/// together, as the seed of a gradient separates a loss and its backward pass.
void hoist_scalars(Tape& tape, AccessIndex& accesses);

/// Moves each reduction directly behind the elementwise calls whose results it reduces: the gradient of a
/// bias follows the gradient of an activation, before the products that use it too.
void hoist_reductions(Tape& tape, AccessIndex& accesses);

/// Runs the passes, and gives the tape its steps. Elementwise calls that follow one another become a program,
/// together with a producer before them and reductions behind them; every other call is a step of its own.
/// `on_devices`: also fuses calls of devices, whose results may then differ in the last bits.
void fuse(Tape& tape, bool on_devices);

}  // namespace ebb::detail::compile
