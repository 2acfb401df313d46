// Elementwise calls of a tape that run together on a device, and reductions after them, as one kernel.
#pragma once

#include <ebb/core/storage.h>

#include "compile/element_call.h"
#include "compile/row_split.h"
#include "compile/step_program.h"
#include "core/backend.h"

#include <memory>
#include <string>
#include <vector>

namespace ebb::compiling {

/// Several elementwise calls over arrays of as many elements, as a kernel that reads each array once, has
/// what one formula leaves to the next in registers, and writes what is needed. Values between formulas are
/// rounded to their dtypes as the kernels of the calls would; a compiler that joins a product and a sum
/// rounds once. Rows or columns of what they make, or read, can be reduced as they go, and then need not be
/// in memory.
///
/// The source (ops/elementwise/cuda_chain.h, _rows.h and _columns.h have what it is made of) names types;
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

  // Streams, as in RowProgram.

  /// Elements in memory, from `offset` bytes on; one for all where they are `still`.
  int add_memory(const Storage& storage, std::size_t offset, DType dtype, bool still);
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
    bool still = false;
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

}  // namespace ebb::compiling
