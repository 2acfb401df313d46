// Elementwise calls of a tape that run together, a block of elements at a time.
#pragma once

#include "compile/row_source.h"
#include "compile/step_program.h"
#include "kernel/element_reduction.h"
#include "kernel/element_row.h"

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace ebb::compiling {

/// The rows of several elementwise kernels over arrays of as many elements. A block goes through all of them
/// before the next one begins, so what one row leaves to the next stays in the cache, and what nothing else
/// needs is never in memory. Values are those of the kernels one after another, bit for bit: an element's
/// does not depend on where in a row it stands.
class RowProgram final : public StepProgram {
 public:
  struct Line {
    detail::ElementRow::Function row = nullptr;
    const void* formula = nullptr;
    unsigned constant = 0;
    int out = 0;
    std::array<int, detail::ElementRow::kMostOperands> in = {-1, -1, -1};
  };

  explicit RowProgram(std::int64_t count) : count_(count) {}

  // Streams: elements that a row reads or writes. Each gives its number, for lines.

  /// Elements in memory, from `offset` bytes on; one for all where they are `still`.
  int add_memory(const Storage& storage, std::size_t offset, DType dtype, bool still);
  /// A number.
  int add_number(const char (&bytes)[8], DType dtype);
  /// What a line leaves to later ones and to nobody else.
  int add_buffer(DType dtype);
  /// A buffer whose elements are all the one of a stream.
  int add_filled(int from);
  /// What `source` brings, and nobody else needs.
  int add_source(std::unique_ptr<RowSource> source);

  void add_line(const Line& line, std::int64_t grain);
  /// The sum of a stream's elements, to `offset` bytes from the storage's first. All are of the same steps.
  void add_sum(const detail::ElementReduction& steps, int stream, const Storage& out, std::size_t offset);
  /// After the last line: shares out the buffers by lifetimes and decides how long a block is.
  void finish();

  std::size_t work_bytes() const override;
  void run(std::byte* work) const override;

 private:
  struct Stream {
    const Storage* storage = nullptr;
    std::size_t offset = 0, size = 0;  // in bytes; size: of an element
    const std::byte* number = nullptr;
    int buffer = -1;     // which
    bool still = false;  // one element, for all

    bool moves() const { return storage && !still; }
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
  std::vector<Line> lines_;
  std::vector<Fill> fills_;
  std::deque<std::array<std::byte, 8>> numbers_;
  std::unique_ptr<RowSource> source_;
  std::int64_t unit_ = 0;
  int source_stream_ = -1;
  std::vector<Sum> sums_;
  std::size_t table_bytes_ = 0, buffer_bytes_ = 0, buffers_ = 0;
};

}  // namespace ebb::compiling
