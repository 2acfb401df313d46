// What an elementwise kernel does to one contiguous run, for those who walk several kernels together.
#pragma once

#include <ebb/core/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <typeinfo>

namespace ebb::detail {

/// An elementwise kernel, and the operands that it was called with. On the CPU it is a function; on a device
/// the formula itself, of which whoever asks makes a kernel.
struct ElementRow {
  /// out[i] = formula(in[0][i], ...) for i in [0, n), everything contiguous; an input whose bit is set in
  /// `constant` is one value.
  using Function = void (*)(void* out, const void* const* in, unsigned constant, std::int64_t n,
                            const void* formula);
  static constexpr int kMostOperands = 3;

  /// An array, or a number where `array` is null: one that is read from `read_from`, or the given one.
  struct Operand {
    const NdArray* array = nullptr;
    const NdArray* read_from = nullptr;
    DType dtype = kFloat;  ///< as the kernel reads it
    alignas(8) char number[8] = {};
  };

  Function function = nullptr;           ///< of the CPU
  const std::type_info* type = nullptr;  ///< of a device: the formula's type
  std::size_t formula_bytes = 0;         ///< and its size
  const void* formula = nullptr;
  bool takes_constants = true;
  std::int64_t grain = 0;  ///< elements worth waking a thread for
  DType dtype = kFloat;    ///< of the operands
  int count = 0;
  Operand operands[kMostOperands];
};

/// Where an elementwise kernel that is called for an output without elements describes itself; null where
/// nobody asks.
EBB_API ElementRow*& asked_row() noexcept;

/// Asks by calls within a scope.
class AskRow {
 public:
  explicit AskRow(ElementRow& row) { asked_row() = &row; }
  ~AskRow() { asked_row() = nullptr; }
  AskRow(const AskRow&) = delete;
};

}  // namespace ebb::detail
