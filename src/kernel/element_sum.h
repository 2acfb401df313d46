// What the CPU's sum over all elements does block by block, for those who make the elements as they go.
#pragma once

#include <ebb/core/api.h>

#include <cstddef>
#include <cstdint>

namespace ebb::detail {

/// Elements are summed up in pieces of `piece`, and those in blocks of `block`.
struct ElementSum {
  static constexpr std::size_t kState = 512, kSum = 8;  ///< bytes of a state, and from one sum to the next

  std::int64_t block = 0, piece = 0;
  double divisor = 1;
  void (*begin)(void* state) = nullptr;
  void (*push)(void* state, const void* x, std::int64_t n) = nullptr;  ///< a block, or the piece's last
  void (*end)(const void* state, void* sum) = nullptr;
  void (*finish)(const void* sums, std::int64_t pieces, double divisor, void* out) = nullptr;
};

/// Where the CPU's sum() that is called for an output without elements describes itself; null where nobody
/// asks. It leaves block 0 where it has no such steps.
EBB_API ElementSum*& asked_sum() noexcept;

}  // namespace ebb::detail
