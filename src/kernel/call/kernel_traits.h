// Traits of kernels: facts for ebb::compile that the signatures of the slots do not contain.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/arguments.h"

#include <cstddef>
#include <cstdint>
#include <typeinfo>

namespace ebb::detail {

class KeptCall;

/// A call of an elementwise kernel, for the fusion of several calls. On the CPU it contains a function. On a
/// device it contains the formula, from which a kernel for several calls is generated.
struct ElementRow {
  /// out[i] = formula(in[0][i], ...) for i in [0, n). All operands are contiguous. An input whose bit is set
  /// in `constant` is one value for the whole row. `out` may have the same address as an input, but must not
  /// overlap an input in any other way.
  using Function = void (*)(void* out, const void* const* in, unsigned constant, std::int64_t n,
                            const void* formula);
  static constexpr int kMostOperands = 3;

  Function function = nullptr;           ///< the CPU's function
  const std::type_info* type = nullptr;  ///< the formula's type
  std::size_t formula_bytes = 0;         ///< the formula's size
  const void* formula = nullptr;
  bool condition = false;  ///< the first operand is a Bool
  bool takes_constants = true;
  std::int64_t grain = 0;  ///< the least number of elements for which waking a thread is worthwhile
  DType dtype = kFloat;    ///< the operands' dtype
  int count = 0;
  Operand operands[kMostOperands];
  alignas(8) char numbers[kMostOperands][8] = {};  ///< the scalar operands in the kernel's types

  /// Returns the dtype in which the kernel reads an operand.
  DType operand_dtype(int operand) const { return operand == 0 && condition ? kBool : dtype; }
  EBB_API void add(const Operand& operand);
};

/// A call of a reduction, for the fusion with the producers of its elements. On the CPU it contains the
/// functions that sum all elements block by block. On a device it contains the reduction's formula
/// (kernel/reducers.h), from which a kernel is generated.
struct ElementReduction {
  static constexpr std::size_t kState = 512, kSum = 8;  ///< bytes of a state; bytes between sums
  static constexpr std::size_t kFormula = 16;           ///< the maximum size of a formula in bytes

  const NdArray* from = nullptr;  ///< the array that the call reduces
  std::uint64_t dims = 0;         ///< the reduced dimensions, one bit each

  // On the CPU, elements are summed in chunks of `piece` elements. Each chunk is summed in blocks of `block`
  // elements.
  std::int64_t block = 0, piece = 0;
  double divisor = 1;
  void (*begin)(void* state) = nullptr;
  /// Adds a block. The last block of a chunk may be shorter.
  void (*push)(void* state, const void* x, std::int64_t n) = nullptr;
  void (*end)(const void* state, void* sum) = nullptr;
  void (*finish)(const void* sums, std::int64_t pieces, double divisor, void* out) = nullptr;

  // The formula's type, on a device.
  const std::type_info* type = nullptr;
  std::size_t formula_bytes = 0;
  alignas(8) char formula[kFormula] = {};
};

/// Properties of a slot's kernel. The functions describe a call of the slot: they fill their second argument
/// and return the array that the call writes. They return null if the call cannot be described.
struct KernelTraits {
  /// Set for elementwise kernels: each output element depends only on the input elements at the same
  /// position.
  const NdArray* (*element_row)(KeptCall& call, ElementRow& row) = nullptr;
  /// Set for reductions with a formula.
  const NdArray* (*reduction)(KeptCall& call, ElementReduction& reduction) = nullptr;
  /// True if the CPU kernel reads each row before it writes that row, so that the result of a call may alias
  /// an input.
  bool in_place_on_cpu = false;
};

}  // namespace ebb::detail
