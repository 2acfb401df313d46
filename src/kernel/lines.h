// Lines: a contiguous array as [outer, n, inner], for kernels that work along one dimension.
#pragma once

#include <ebb/core/ndarray.h>

#include <cstdint>

namespace ebb {

/// A contiguous shape divided at one dimension.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t n = 1;
  std::int64_t inner = 1;

  Lines(IntArrayRef sizes, std::int64_t dim) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      std::int64_t& part = static_cast<std::int64_t>(d) < dim    ? outer
                           : static_cast<std::int64_t>(d) == dim ? n
                                                                 : inner;
      part *= sizes[d];
    }
  }
  EBB_HD std::int64_t count() const { return outer * inner; }
  /// Returns the offset of line i; its elements are `inner` apart.
  EBB_HD std::int64_t start(std::int64_t i) const { return i / inner * n * inner + i % inner; }
};

}  // namespace ebb
