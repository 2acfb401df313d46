// Calls of a tape that can run together.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compile/element_call.h"
#include "compile/row_source.h"

namespace ebb::compiling {

/// Elementwise calls over as many elements that follow one another, what brings them elements, and what
/// reduces theirs.
struct ElementGroup {
  static constexpr std::size_t kMostRows = 1024;  ///< on the CPU

  /// The call that the group begins with, where the next one takes up its result.
  struct Source {
    std::unique_ptr<RowSource> call;
    ElementOperand out;
    std::int64_t count = 0;
    std::unordered_set<int> reads;  // places
  };
  struct Reduction {
    ElementReductionCall call;
    std::size_t rows;  ///< of the group that come before it; on the CPU all
  };

  int first = -1, last = -1;  ///< calls of the tape
  Source source;
  std::vector<ElementCall> rows;
  std::vector<Reduction> reductions;
  std::unordered_map<int, std::vector<ElementOperand>> used;  ///< by place; not by reductions
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
  void begin(int at, Source with);
  /// The group goes on without its source, which is to be a step of its own.
  void drop_source();

 private:
  void use(const ElementCall& row);
  bool is_full() const;
  std::size_t arrays_used() const;
};

}  // namespace ebb::compiling
