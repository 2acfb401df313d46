// Kernel calls of a tape that work element by element.
#pragma once

#include "compile/row_split.h"
#include "compile/tape.h"
#include "compile/touches.h"
#include "kernel/element_reduction.h"

#include <optional>
#include <utility>
#include <vector>

namespace ebb::compiling {

/// What an elementwise call reads or writes.
struct ElementOperand {
  int place = -1;          ///< -1: a number
  std::size_t offset = 0;  ///< in bytes
  DType dtype = kFloat;
  bool still = false;  ///< one element, for all

  bool same_elements(const ElementOperand& other) const {
    return offset == other.offset && dtype == other.dtype && still == other.still;
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

/// Where an array of a tape is.
ElementOperand operand_of(const NdArray& x, const Touches& touches);

/// The call, if all its arrays are contiguous and of one count, or the same number all over.
std::optional<ElementCall> element_call(const TapeCall& call, const Touches& touches);

/// A reduction of contiguous elements: on the CPU a sum or mean over all of them.
struct ElementReductionCall {
  detail::ElementReduction steps;
  std::int64_t count = 0;
  ReducedMatrix shape;
  Device device;
  ElementOperand of, to;
};

/// The call, if it is one.
std::optional<ElementReductionCall> element_reduction_call(const TapeCall& call, const Touches& touches);

/// Pairs of places, of which the second may lie where the first does: the call with the number `at` reads the
/// one for the last time and writes the other for the first, at the same elements.
std::vector<std::pair<int, int>> in_place(const TapeCall& call, int at, const Touches& touches);

}  // namespace ebb::compiling
