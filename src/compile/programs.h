// Several calls of a tape as one program: loops of the CPU, or a kernel of a device.
#pragma once

#include <ebb/core/storage.h>

#include "compile/fuse.h"
#include "compile/tape.h"
#include "core/backend.h"
#include "kernel/grid.h"
#include "kernel/kernel_traits.h"

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace ebb::detail::compile {

/// The rows of several elementwise kernels over arrays of as many elements. A block goes through all of them
/// before the next one begins, so what one row leaves to the next stays in the cache, and what nothing else
/// needs is never in memory. Values are those of the kernels one after another, bit for bit: an element's
/// does not depend on where in a row it stands.
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

  // Streams: elements that a row reads or writes. Each gives its number, for instructions.

  /// Elements in memory, from `offset` bytes on; one for all where they are `broadcast`.
  int add_memory(const Storage& storage, std::size_t offset, DType dtype, bool broadcast);
  /// A number.
  int add_number(const char (&bytes)[8], DType dtype);
  /// What a instruction leaves to later ones and to nobody else.
  int add_buffer(DType dtype);
  /// A buffer whose elements are all the one of a stream.
  int add_filled(int from);
  /// What `producer` brings, and nobody else needs.
  int add_producer(std::unique_ptr<Producer> producer);

  void add_instruction(const Instruction& instruction, std::int64_t grain);
  /// The sum of a stream's elements, to `offset` bytes from the storage's first. All are of the same steps.
  void add_sum(const detail::ElementReduction& steps, int stream, const Storage& out, std::size_t offset);
  /// After the last instruction: shares out the buffers by lifetimes and decides how long a block is.
  void finish();

  std::size_t work_bytes() const override;
  void run(std::byte* work) const override;

 private:
  struct Stream {
    const Storage* storage = nullptr;
    std::size_t offset = 0, size = 0;  // in bytes; size: of an element
    const std::byte* number = nullptr;
    int buffer = -1;         // which
    bool broadcast = false;  // one element, for all

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
  void share_buffers();
  void run_pieces(std::int64_t first, std::int64_t last, std::byte* work, std::byte* sums) const;
  void sum_up(std::int64_t block, std::int64_t n, std::byte* const* at, std::byte* states,
              std::byte* sums) const;
  std::size_t sums_bytes() const;

  std::int64_t count_, block_ = 0,
                       piece_ = 0;  // elements: in all, at a time, of what one thread does at least
  double grains_ = 0;               // how many times an element's work is that for which a thread is woken
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

/// A pure function of sizes, and so is the order in which elements are merged. Long rows, if there are few,
/// are cut in pieces that a second launch merges.
struct RowSplit {
  static constexpr int kThreads = 256;                // of a block
  static constexpr std::int64_t kMostBlocks = 1024;   // that pieces are made for
  static constexpr std::int64_t kVectorsAThread = 4;  // and more, which are worth a second launch

  std::int64_t pieces = 1, piece = 0;  // of a row, and their elements; by columns of all rows, and their rows
  std::int64_t team = 1, blocks = 0;   // threads of a piece; by columns those that stand side by side
  std::int64_t merging_team = 1, merging_blocks = 0;  // the same of the second launch

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

/// Several elementwise calls over arrays of as many elements, as a kernel that reads each array once, has
/// what one formula leaves to the next in registers, and writes what is needed. Values between formulas are
/// rounded to their dtypes as the kernels of the calls would; a compiler that joins a product and a sum
/// rounds once. Rows or columns of what they make, or read, can be reduced as they go, and then need not be
/// in memory.
///
/// The producer (ops/elementwise/cuda_chain.h, _rows.h and _columns.h have what it is made of) names types;
/// formulas and numbers are bytes of the kernel's argument, so that chains which differ in these share a
/// kernel.
class DeviceChain final : public StepProgram {
 public:
  // A kernel's argument has 4 KiB: a call adds at most a formula of 48 bytes and three numbers to it.
  static constexpr std::size_t kMostCalls = 40, kMostArrays = 32, kMostReductions = 8;
  // Elements of a row, where there are several, for which its own vectors and its team are worth while.
  static constexpr std::int64_t kLeastRow = 16;
  // Columns that are neighbours enough for threads side by side.
  static constexpr std::int64_t kFewestColumns = 8;

  explicit DeviceChain(std::int64_t count) : count_(count) {}

  // Streams, as in LoopProgram.

  /// Elements in memory, from `offset` bytes on; one for all where they are `broadcast`.
  int add_memory(const Storage& storage, std::size_t offset, DType dtype, bool broadcast);
  /// A number.
  int add_number(const char (&bytes)[8], DType dtype);
  /// What a call leaves to later ones and to nobody else.
  int add_buffer(DType dtype);

  /// The streams that a formula takes and the one that it makes. The formula's bytes must stay where they
  /// are.
  void add_call(const detail::ElementRow& row, const int* in, int out);

  /// What a reduction makes of the elements that a stream has now, to `offset` bytes from the storage's first
  /// on. All of a chain are of the same matrix.
  void add_reduction(const detail::ElementReduction& reduction, const ReducedMatrix& matrix, int stream,
                     const Storage& out, std::size_t offset);

  /// In the end: the kernel's source.
  std::string source() const;
  /// The kernel's argument, for where the arrays lie now: ChainSpan or RowSpan, their addresses, formulas and
  /// numbers, reductions.
  std::vector<std::uint64_t> argument(const std::byte* work = nullptr) const;
  /// Makes the kernel; false where the device's backend cannot.
  bool make(Device device);

  std::size_t work_bytes() const override;
  Device work_device() const override { return device_; }
  void run(std::byte* work) const override;

 private:
  static constexpr int kVectorBytes = 16;  // of neighbouring elements that are loaded at once
  static constexpr int kMostReduced = 8;   // elements of a vector that are added up
  struct Stream {
    DType dtype = kFloat;
    const Storage* storage = nullptr;
    std::size_t offset = 0;
    bool broadcast = false;
    int array = -1;     // which of those in memory
    int value = -1;     // what it holds at this point of the source
    bool made = false;  // by a call
  };
  /// Bytes behind the arrays in the kernel's argument.
  struct Part {
    const void* from;
    std::size_t bytes;
  };
  struct Reduction {
    detail::ElementReduction formula;
    int value;  // of the source
    const Storage* out;
    std::size_t offset;
  };
  /// Their parts of the source.
  struct ReductionTexts {
    std::string members, phases, takes;
  };
  /// Where the vectors of most arrays begin, and a bit for each of those arrays.
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
  /// Bytes of a reduction's partial results.
  std::size_t partial_bytes() const;
  const Stream& array(std::size_t at) const { return streams_[static_cast<std::size_t>(arrays_[at])]; }

  std::int64_t count_;
  ReducedMatrix matrix_;
  std::vector<Stream> streams_;
  std::vector<int> arrays_;  // streams
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<char[]>> numbers_;
  std::string members_, body_;  // of the source
  int values_ = 0, formulas_ = 0;
  std::vector<Reduction> reductions_;
  Device device_ = kCPU;
  std::shared_ptr<const detail::MadeKernel> kernel_;
};

}  // namespace ebb::detail::compile
