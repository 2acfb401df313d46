// What a reduction does to elements that come one after another, for those who make them as they go.
#pragma once

#include <ebb/core/api.h>

#include <cstddef>
#include <cstdint>
#include <typeinfo>

namespace ebb::detail {

/// On the CPU, of a sum over all elements: its steps, block by block. On a device: the formula of any
/// reduction (kernel/reducers.h), of which whoever asks makes a kernel.
struct ElementReduction {
  static constexpr std::size_t kState = 512, kSum = 8;  ///< bytes of a state, and from one sum to the next
  static constexpr std::size_t kFormula = 16;           ///< bytes of a formula at most

  // Of the CPU: elements are summed up in pieces of `piece`, and those in blocks of `block`.
  std::int64_t block = 0, piece = 0;
  double divisor = 1;
  void (*begin)(void* state) = nullptr;
  void (*push)(void* state, const void* x, std::int64_t n) = nullptr;  ///< a block, or the piece's last
  void (*end)(const void* state, void* sum) = nullptr;
  void (*finish)(const void* sums, std::int64_t pieces, double divisor, void* out) = nullptr;

  // Of a device.
  const std::type_info* type = nullptr;
  std::size_t formula_bytes = 0;
  alignas(8) char formula[kFormula] = {};

  bool described() const { return block != 0 || type != nullptr; }
};

/// Where a reduction that is called for an output without elements describes itself; null where nobody asks.
/// One that has nothing to say leaves it as it is.
EBB_API ElementReduction*& asked_reduction() noexcept;

/// Asks by calls within a scope.
class AskReduction {
 public:
  explicit AskReduction(ElementReduction& reduction) { asked_reduction() = &reduction; }
  ~AskReduction() { asked_reduction() = nullptr; }
  AskReduction(const AskReduction&) = delete;
};

}  // namespace ebb::detail
