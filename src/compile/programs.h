// LoopProgram and DeviceChain: programs that replace several calls, on the CPU and on a device.
#pragma once

#include <ebb/core/storage.h>

#include "compile/fuse.h"
#include "compile/tape.h"
#include "core/backend.h"
#include "kernel/call/kernel_traits.h"
#include "kernel/grid.h"

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace ebb::detail::compile {

/// Runs the rows of several elementwise kernels on arrays of the same size, block by block. All rows process
/// a block before the next block begins, so intermediate values stay in the cache. Intermediate values that
/// no call outside the program needs are never written to memory. The results equal those of the separate
/// kernels bit for bit, because the value of an element does not depend on its position in a row.
class LoopProgram final : public StepProgram {
 public:
  struct Instruction {
    detail::ElementRow::Function row = nullptr;
    const void* formula = nullptr;
    unsigned constant = 0;
    int out = 0;
    std::array<int, detail::ElementRow::kMostOperands> in = {-1, -1, -1};
  };

  explicit LoopProgram(std::int64_t count) : count_(count) {}

  // A stream is a sequence of elements that a row reads or writes. Each add function returns its number.

  /// Adds a stream of elements in memory, from `offset` bytes on. If `broadcast` is true, it repeats
  /// the one element at `offset`.
  int add_memory(const Storage& storage, std::size_t offset, DType dtype, bool broadcast);
  /// Adds a scalar.
  int add_number(const char (&bytes)[8], DType dtype);
  /// Adds an intermediate result, which only later instructions read.
  int add_buffer(DType dtype);
  /// Adds a buffer that is filled with the single element of a stream.
  int add_filled(int from);
  /// Adds the result of `producer`, which only instructions read.
  int add_producer(std::unique_ptr<Producer> producer);

  void add_instruction(const Instruction& instruction, std::int64_t grain);
  /// Adds a sum of the stream's elements. The result is written at `offset` bytes in the storage. All sums
  /// have the same block and chunk size.
  void add_sum(const detail::ElementReduction& steps, int stream, const Storage& out, std::size_t offset);
  /// Assigns buffers by live ranges and chooses the size of a block. Call it after the last instruction was
  /// added.
  void finish();

  std::size_t work_bytes() const override;
  void run(std::byte* work) const override;

 private:
  struct Stream {
    const Storage* storage = nullptr;
    std::size_t offset = 0, size = 0;  // in bytes; `size` is the size of an element
    const std::byte* number = nullptr;
    int buffer = -1;
    bool broadcast = false;

    bool moves() const { return storage && !broadcast; }
  };
  struct Fill {
    int to, from;
  };
  struct Sum {
    detail::ElementReduction steps;
    int stream;
    const Storage* out;
    std::size_t offset;
  };

  int add(const Stream& stream);
  void add_grain(std::int64_t grain);
  std::int64_t pieces() const { return (count_ + piece_ - 1) / piece_; }
  std::int64_t threads() const;
  void assign_buffers();
  void run_pieces(std::int64_t first, std::int64_t last, std::byte* work, std::byte* sums) const;
  void accumulate_sums(std::int64_t block, std::int64_t n, std::byte* const* at, std::byte* states,
                       std::byte* sums) const;
  std::size_t sums_bytes() const;

  // Numbers of elements: of the arrays, of a block, and of a chunk. A chunk is the smallest work of a thread.
  std::int64_t count_, block_ = 0, piece_ = 0;
  double grains_ = 0;  // the work of an element, relative to the work that justifies one more thread
  std::vector<Stream> streams_;
  std::vector<Instruction> instructions_;
  std::vector<Fill> fills_;
  std::deque<std::array<std::byte, 8>> numbers_;
  std::unique_ptr<Producer> producer_;
  std::int64_t unit_ = 0;
  int producer_stream_ = -1;
  std::vector<Sum> sums_;
  std::size_t table_bytes_ = 0, buffer_bytes_ = 0, buffers_ = 0;
};

/// The distribution of a reduction over threads. It depends only on sizes, so that the order of the additions
/// also depends only on sizes. Long rows are divided into chunks if there are too few rows for the device. A
/// second launch then merges the results of the chunks.
struct RowSplit {
  static constexpr int kThreads = 256;                // threads of a block
  static constexpr std::int64_t kMostBlocks = 1024;   // the limit of blocks after a division into chunks
  static constexpr std::int64_t kVectorsAThread = 4;  // fewer do not justify a second launch

  // If rows are reduced, each row is divided into `pieces` chunks of `piece` elements. If columns are
  // reduced, all rows together are divided into `pieces` chunks of `piece` rows.
  std::int64_t pieces = 1, piece = 0;
  std::int64_t team = 1, blocks = 0;  // threads that reduce one chunk together; if columns are reduced,
                                      // threads of neighbouring columns
  std::int64_t merging_team = 1, merging_blocks = 0;  // `team` and `blocks` of the second launch

  RowSplit(const ReducedMatrix& shape, std::int64_t count, int width) {
    if (shape.by_columns)
      split_columns(shape.rows, count / shape.rows, width);
    else
      split_rows(shape.rows, count / shape.rows, width);
  }

 private:
  void split_rows(std::int64_t rows, std::int64_t length, int width) {
    const auto team_of = [](std::int64_t parts) {
      return covering_power(ceil_div(parts, kVectorsAThread), 1, kThreads);
    };
    const auto blocks_of = [](std::int64_t jobs, std::int64_t threads) {
      return ceil_div(jobs, kThreads / threads);
    };
    team = team_of(ceil_div(length, width));
    piece = length;
    const std::int64_t wanted =
        std::min(kMostBlocks / blocks_of(rows, team), ceil_div(length, kVectorsAThread * kThreads * width));
    if (wanted > 1) {
      const std::int64_t whole = team * width;
      piece = ceil_div(ceil_div(length, wanted), whole) * whole;
      pieces = ceil_div(length, piece);
    }
    blocks = blocks_of(rows * pieces, team);
    merging_team = team_of(pieces);
    merging_blocks = blocks_of(rows, merging_team);
  }

  void split_columns(std::int64_t rows, std::int64_t columns, int width) {
    const std::int64_t deep = ceil_div(rows, kVectorsAThread);
    team = covering_power(ceil_div(columns, width), 1, kThreads / covering_power(deep, 1, 8));
    const std::int64_t tiles = ceil_div(columns, team * width), down = kThreads / team;
    piece = rows;
    const std::int64_t wanted = std::min(kMostBlocks / tiles, ceil_div(rows, kVectorsAThread * down));
    if (wanted > 1) {
      piece = ceil_div(rows, wanted);
      pieces = ceil_div(rows, piece);
    }
    blocks = tiles * pieces;
    const std::int64_t few = ceil_div(pieces, kVectorsAThread);
    merging_team = covering_power(columns, 1, kThreads / covering_power(few, 1, kThreads));
    merging_blocks = ceil_div(columns, merging_team);
  }
};

/// A device kernel for several elementwise calls on arrays of the same size. It reads each array once, keeps
/// intermediate values in registers, and writes only the arrays that are needed. It rounds values between
/// formulas to their dtypes, as the separate kernels do. But the compiler may contract a product and a sum to
/// one rounding. The same kernel can reduce rows or columns of the values. Values that are only reduced need
/// no memory.
///
/// The source names only types and includes ops/elementwise/cuda_chain.h, cuda_chain_rows.h or
/// cuda_chain_columns.h. The bytes of formulas and scalars are part of the kernel's argument. Chains that
/// differ only in these bytes therefore share a kernel.
class DeviceChain final : public StepProgram {
 public:
  // A kernel's argument has at most 4 KiB. A call adds at most a formula of 48 bytes and three scalars.
  static constexpr std::size_t kMostCalls = 40, kMostArrays = 32, kMostReductions = 8;
  // Several rows are reduced only if they have at least this length, because each row has its own thread
  // group, which reads vectors.
  static constexpr std::int64_t kLeastRow = 16;
  // Columns are reduced only if there are at least this many, because neighbouring threads reduce
  // neighbouring columns.
  static constexpr std::int64_t kFewestColumns = 8;

  explicit DeviceChain(std::int64_t count) : count_(count) {}

  // Streams have the same meaning as in LoopProgram.

  /// Adds a stream of elements in memory, from `offset` bytes on. If `broadcast` is true, it repeats
  /// the one element at `offset`.
  int add_memory(const Storage& storage, std::size_t offset, DType dtype, bool broadcast);
  /// Adds a scalar.
  int add_number(const char (&bytes)[8], DType dtype);
  /// Adds an intermediate result, which only later calls read.
  int add_buffer(DType dtype);

  /// Adds a call of a formula, from the streams `in` to the stream `out`. The formula's bytes must remain at
  /// their address.
  void add_call(const detail::ElementRow& row, const int* in, int out);

  /// Adds a reduction of the current values of a stream. The result is written at `offset` bytes in the
  /// storage. All reductions of a chain have the same matrix.
  void add_reduction(const detail::ElementReduction& reduction, const ReducedMatrix& matrix, int stream,
                     const Storage& out, std::size_t offset);

  /// Returns the kernel's source. Call it after all calls and reductions were added.
  std::string source() const;
  /// Returns the kernel's argument for the current addresses of the arrays. The argument contains the
  /// ChainSpan or RowSpan, the addresses, the formulas and scalars, and the reductions.
  std::vector<std::uint64_t> argument(const std::byte* work = nullptr) const;
  /// Compiles the kernel. Returns false if the device's backend cannot compile it.
  bool make(Device device);

  std::size_t work_bytes() const override;
  Device work_device() const override { return device_; }
  void run(std::byte* work) const override;

 private:
  static constexpr int kVectorBytes = 16;  // the size of a vector access
  static constexpr int kMostReduced = 8;   // the limit of a vector's elements in a reduction
  struct Stream {
    DType dtype = kFloat;
    const Storage* storage = nullptr;
    std::size_t offset = 0;
    bool broadcast = false;
    int array = -1;     // the index of the array in memory
    int value = -1;     // the variable of the source that holds the current values
    bool made = false;  // true if a call writes to the stream
  };
  /// Bytes that follow the arrays in the kernel's argument.
  struct Part {
    const void* from;
    std::size_t bytes;
  };
  struct Reduction {
    detail::ElementReduction formula;
    int value;  // the variable of the source
    const Storage* out;
    std::size_t offset;
  };
  /// The parts of the source for reductions.
  struct ReductionTexts {
    std::string members, phases, takes;
  };
  /// The alignment that most arrays share. `head` is the index of their first aligned element; `arrays` is a
  /// bit mask of them.
  struct Alignment {
    std::uint64_t head, arrays;
  };

  int add(const Stream& stream);
  int value_of(int stream);
  int new_value(const std::string& text);
  int width() const;
  ReductionTexts reduction_texts() const;
  Alignment alignment() const;
  RowSplit split() const { return {matrix_, count_, width()}; }
  /// Returns the size of a reduction's partial results.
  std::size_t partial_bytes() const;
  const Stream& array(std::size_t at) const { return streams_[static_cast<std::size_t>(arrays_[at])]; }

  std::int64_t count_;
  ReducedMatrix matrix_;
  std::vector<Stream> streams_;
  std::vector<int> arrays_;  // the streams in memory
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<char[]>> numbers_;
  std::string members_, body_;  // parts of the source
  int values_ = 0, formulas_ = 0;
  std::vector<Reduction> reductions_;
  Device device_ = kCPU;
  std::shared_ptr<const detail::JitKernel> kernel_;
};

}  // namespace ebb::detail::compile
