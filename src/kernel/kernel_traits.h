// Traits of kernels: facts beyond their signatures that slots state for ebb::compile.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/operand.h"

#include <cstddef>
#include <cstdint>
#include <typeinfo>

namespace ebb::detail {

class KeptCall;

/// A call of an elementwise kernel, for those who walk several calls together. On the CPU it is a function;
/// on a device the formula itself, of which whoever asks makes a kernel.
struct ElementRow {
  /// out[i] = formula(in[0][i], ...) for i in [0, n), everything contiguous; an input whose bit is set in
  /// `constant` is one value for the whole row. `out` may be the same address as an input, never a shifted
  /// one.
  using Function = void (*)(void* out, const void* const* in, unsigned constant, std::int64_t n,
                            const void* formula);
  static constexpr int kMostOperands = 3;

  Function function = nullptr;           ///< of the CPU
  const std::type_info* type = nullptr;  ///< the formula's type
  std::size_t formula_bytes = 0;         ///< and its size
  const void* formula = nullptr;
  bool condition = false;  ///< the first operand is a Bool
  bool takes_constants = true;
  std::int64_t grain = 0;  ///< elements worth waking a thread for
  DType dtype = kFloat;    ///< of the operands
  int count = 0;
  Operand operands[kMostOperands];
  alignas(8) char numbers[kMostOperands][8] = {};  ///< of those that are numbers, as the kernel reads them

  /// The dtype as which the kernel reads an operand.
  DType operand_dtype(int operand) const { return operand == 0 && condition ? kBool : dtype; }
  EBB_API void add(const Operand& operand);
};

/// A call of a reduction, for those who make its elements as they go. On the CPU it is the steps of a sum
/// over all elements, block by block; on a device the formula of any reduction (kernel/reducers.h), of which
/// whoever asks makes a kernel.
struct ElementReduction {
  static constexpr std::size_t kState = 512, kSum = 8;  ///< bytes of a state, and from one sum to the next
  static constexpr std::size_t kFormula = 16;           ///< bytes of a formula at most

  const NdArray* from = nullptr;  ///< the array that the call reduces
  std::uint64_t dims = 0;         ///< and over which dimensions, a bit each

  // On the CPU elements are summed up in pieces of `piece`, and those in blocks of `block`.
  std::int64_t block = 0, piece = 0;
  double divisor = 1;
  void (*begin)(void* state) = nullptr;
  void (*push)(void* state, const void* x, std::int64_t n) = nullptr;  ///< a block, or the piece's last
  void (*end)(const void* state, void* sum) = nullptr;
  void (*finish)(const void* sums, std::int64_t pieces, double divisor, void* out) = nullptr;

  // A device has the formula.
  const std::type_info* type = nullptr;
  std::size_t formula_bytes = 0;
  alignas(8) char formula[kFormula] = {};
};

/// A describing function looks at the arguments of a call of its slot, and gives the array that the call
/// writes, or null where it has nothing to say.
struct KernelTraits {
  /// Elementwise kernels have it: each element that they write follows from the same element of what they
  /// read.
  const NdArray* (*element_row)(KeptCall& call, ElementRow& row) = nullptr;
  /// Reductions by a formula have it.
  const NdArray* (*reduction)(KeptCall& call, ElementReduction& reduction) = nullptr;
  /// Whether the CPU's kernel reads a row before it writes that row, so that its result may lie where one of
  /// its inputs does.
  bool in_place_on_cpu = false;
};

}  // namespace ebb::detail
