// The passes over a tape, and their view of it: accesses, elementwise calls, reductions, producers, groups.
#pragma once

#include <ebb/core/api.h>

#include "compile/tape.h"
#include "kernel/call/kernel_traits.h"

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

/// The number of comparisons between calls or buffers while tapes are prepared, on all threads. Tests use it
/// to check that the work is proportional to the number of calls, not of pairs.
extern EBB_API constinit std::atomic<std::uint64_t> comparisons;

inline void count_comparisons(std::size_t count) noexcept {
  comparisons.fetch_add(count, std::memory_order_relaxed);
}

/// The calls of a tape that access each buffer. It is built once, and passes that change the tape update it.
class AccessIndex {
 public:
  explicit AccessIndex(const Tape& tape);

  /// Returns the buffer of an array of the tape.
  int buffer(const NdArray& array) const { return buffers_.at(array.storage().get()); }
  /// The calls that access the buffer, and the calls that write to it. Both lists are sorted, without
  /// repetitions.
  const std::vector<int>& calls(int buffer) const { return calls_[static_cast<std::size_t>(buffer)]; }
  const std::vector<int>& writers(int buffer) const { return writers_[static_cast<std::size_t>(buffer)]; }
  /// Returns whether a call after `first` and before `last` accesses the buffer.
  bool between(int buffer, int first, int last) const;
  /// Returns the last call before `before` that accesses the buffer, or -1.
  int last_before(int buffer, int before) const;
  bool written_between(int buffer, int first, int last) const;

  /// Records that the call writes to buffer `to` and does not access buffer `from` any more.
  void redirect(int call, int from, int to);
  /// Gives call i the index `number[i]`. If `number[i]` is -1, removes the call.
  void renumber(const std::vector<int>& number);

  bool operator==(const AccessIndex& other) const {
    return calls_ == other.calls_ && writers_ == other.writers_;
  }

 private:
  std::unordered_map<const Storage*, int> buffers_;
  std::vector<std::vector<int>> calls_, writers_;
};

/// Reorders the calls. `order` lists their current indices. Calls that it does not list are dropped.
void reorder(Tape& tape, AccessIndex& accesses, const std::vector<std::size_t>& order);

/// The elements of an array as a matrix. A reduction reduces each row, or each column if `by_columns` is
/// true.
struct ReducedMatrix {
  std::int64_t rows = 1;
  bool by_columns = false;
  bool operator==(const ReducedMatrix&) const = default;
};

/// An operand of an elementwise call: an array in a buffer of the tape, or a scalar.
struct ElementOperand {
  int buffer = -1;         ///< -1: a scalar
  std::size_t offset = 0;  ///< in bytes
  DType dtype = kFloat;
  bool broadcast = false;  ///< true if all elements of the call use one element of the operand

  bool same_elements(const ElementOperand& other) const {
    return offset == other.offset && dtype == other.dtype && broadcast == other.broadcast;
  }
};

/// An elementwise call on contiguous arrays of the same size.
struct ElementCall {
  detail::ElementRow row;
  std::int64_t count = 0;
  Device device;
  ElementOperand out, in[detail::ElementRow::kMostOperands];

  /// Returns the operands in memory, the output last.
  std::vector<const ElementOperand*> in_memory() const;
};

/// Returns an array of the tape as an operand.
ElementOperand operand_of(const NdArray& x, const AccessIndex& accesses);

/// Returns the call as an ElementCall if it is elementwise and each of its arrays is either contiguous with
/// the same number of elements, or a broadcast scalar. Otherwise returns nullopt.
std::optional<ElementCall> element_call(const TapeCall& call, const AccessIndex& accesses);

/// A reduction of contiguous elements. On the CPU it must be a sum or mean over all elements; devices also
/// reduce rows or columns.
struct ElementReductionCall {
  detail::ElementReduction steps;
  std::int64_t count = 0;
  ReducedMatrix shape;
  Device device;
  ElementOperand input, output;
};

/// Returns the call as an ElementReductionCall if it reduces a contiguous array over its first or last
/// dimensions, and otherwise nullopt.
std::optional<ElementReductionCall> element_reduction_call(const TapeCall& call, const AccessIndex& accesses);

/// Returns pairs of buffers that may share an address. The call with the index `at` is the last to read the
/// first buffer and the first to write the second one. The call accesses the same elements of both.
std::vector<std::pair<int, int>> in_place(const TapeCall& call, int at, const AccessIndex& accesses);

/// A call whose result can be produced in blocks of whole units, for example rows. The value of an element
/// does not depend on the division into blocks.
class Producer {
 public:
  virtual ~Producer() = default;
  /// Return the array that the call writes completely, and the arrays that it reads. Some of the latter may
  /// be undefined.
  virtual const NdArray& out() const = 0;
  virtual std::vector<const NdArray*> reads() const = 0;
  /// Return the number of elements in a unit, and the number of units in a block.
  virtual std::int64_t unit() const = 0;
  virtual std::int64_t units() const = 0;
  /// Returns the least number of elements for which one more thread is worthwhile.
  virtual std::int64_t grain() const = 0;
  /// Writes the units [first, last) to `to`.
  virtual void produce(std::int64_t first, std::int64_t last, std::byte* to) const = 0;
};

/// Returns a producer that refers to the call, or null if the call cannot be divided into enough blocks.
std::unique_ptr<Producer> producer_of(const TapeCall& call);
std::unique_ptr<Producer> product_producer(const TapeCall& call);
std::unique_ptr<Producer> pooling_producer(const TapeCall& call);

/// Returns a contiguous array on memory that it does not own.
NdArray array_at(std::byte* data, const DimVector& sizes, DType dtype);

/// A group of calls that can run as one program: consecutive elementwise calls of the same size, the producer
/// before them, and reductions of their elements.
struct ElementGroup {
  static constexpr std::size_t kMostRows = 1024;  ///< the limit of a CPU group

  /// The producer at the start of the group, whose result the next call consumes.
  struct GroupProducer {
    std::unique_ptr<Producer> call;
    ElementOperand out;
    std::int64_t count = 0;
    std::unordered_set<int> reads;  // buffers that the producer reads
  };
  struct Reduction {
    ElementReductionCall call;
    std::size_t rows;  ///< number of rows before the reduction; on the CPU, of all rows
  };

  int first = -1, last = -1;  ///< the first and the last call of the group in the tape
  GroupProducer producer;
  std::vector<ElementCall> rows;
  std::vector<Reduction> reductions;
  std::unordered_map<int, std::vector<ElementOperand>> used;  ///< uses of each buffer, without reductions
  std::unordered_set<int> written;

  bool is_open() const { return first >= 0; }
  Device device() const { return rows.empty() ? Device(kCPU) : rows.front().device; }
  std::size_t calls() const { return rows.size() + reductions.size(); }

  /// Returns whether the call can join the group. This requires that an element that one call writes at some
  /// position is accessed by the other calls only at this position.
  bool joins(const ElementCall& row) const;
  void add(int at, ElementCall row);
  /// Returns whether the reduction can join the group. This requires that it reduces elements that the group
  /// writes or reads.
  bool joins(const ElementReductionCall& reduction) const;
  void add(int at, ElementReductionCall reduction);
  void begin(int at, GroupProducer with);
  /// Removes the producer, which becomes a separate step.
  void drop_producer();

 private:
  void use(const ElementCall& row);
  bool is_full() const;
  std::size_t arrays_used() const;
};

// The passes, in the order in which they run. Each keeps the index of accesses up to date.

/// Exchanges the gradient of max pooling and the gradient of the relu before it. The pooled gradient is
/// masked first, by the sign of the pooled value, which is the relu's result at the same position. So the
/// mask needs fewer elements, and the relu's result is not needed after the pooling. Masked sums equal sums
/// of masked gradients, because all windows that select the same element have the same pooled value.
void mask_pooled_gradients(Tape& tape, AccessIndex& accesses);

/// Fuses a matrix product and the addition of its result: the call computes `sum += a b`. On the CPU the
/// result is unchanged, because product() rounds in the addition only (ops/linalg/kernels.h). If the sum was
/// set to zero before, the product overwrites it instead. If `on_devices` is true, products on devices are
/// also fused. Their results may change, because a separate product and addition round twice, but the fused
/// call once.
void fuse_matmul_add(Tape& tape, AccessIndex& accesses, bool on_devices);

/// Replaces `sum += part` by `sum = 0 + part` on the CPU if the sum was set to zero before, and drops that
/// call. The zero remains an operand, because 0 + -0 is 0.
void overwrite_zeros(Tape& tape, const AccessIndex& accesses);

/// Moves each producer directly before its first elementwise consumer.
void sink_producers(Tape& tape, AccessIndex& accesses);

/// Hoists and sinks calls that read and write only single elements, because such calls separate calls that
/// could be fused. For example, the initial gradient separates a loss from its backward pass. A call moves to
/// the start of the tape if its operands are available there. On a device, it moves to the end if no call
/// that stays needs its results. Calls of the CPU stay, because calls between may throw before a gradient is
/// complete.
void hoist_scalars(Tape& tape, AccessIndex& accesses);

/// Hoists each reduction directly after the elementwise calls whose results it reduces. For example, the
/// gradient of a bias then directly follows the gradient of an activation. Products that also read the
/// gradient of the activation come later.
void hoist_reductions(Tape& tape, AccessIndex& accesses);

/// Runs the passes and divides the tape into steps. Consecutive elementwise calls become one program,
/// together with a producer before them and reductions after them. Every other call is a separate step. If
/// `on_devices` is true, calls on devices are also fused. Their results may then differ in the last bits.
void fuse(Tape& tape, bool on_devices);

/// Adds steps that run calls again on the CPU: elementwise calls, layer norm and copies, whose operands still
/// exist. Their results need no memory between the uses in the forward and in the backward pass. It chooses
/// the largest results that exist when the most memory is in use.
void recompute(Tape& tape, const AccessIndex& accesses);

}  // namespace ebb::detail::compile
