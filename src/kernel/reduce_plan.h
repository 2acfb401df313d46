// The plan of a reduction: the dimensions that are reduced, in memory order, with adjacent ones merged.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/strided_dims.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace ebb {

/// Returns Byte for Bool, which has the same representation (0 or 1), so that the two can share kernels.
constexpr DType stored(DType dtype) { return dtype == kBool ? kByte : dtype; }

/// A mask in which bit d is set if dimension d is reduced.
using DimMask = std::uint64_t;
constexpr int kMaxReduceDims = 64;

/// A merged dimension; strides are in elements.
struct ReduceDim {
  std::int64_t size = 1;
  std::int64_t in_stride = 0;
  std::int64_t out_stride = 0;  // 0 for a reduced dimension
};

/// The kept and the reduced dimensions, each sorted by decreasing stride of the input. The order in which
/// elements are merged depends only on the plan, so results do not depend on the number of threads.
struct ReducePlan {
  SmallVector<ReduceDim, 6> kept;
  SmallVector<ReduceDim, 6> reduced;
  std::int64_t outputs = 1;  // elements of the result
  std::int64_t count = 1;    // elements per output
};

namespace detail {

inline void merge_neighbours(SmallVector<ReduceDim, 6>& dims) {
  DimVector sizes;
  for (const ReduceDim& d : dims) sizes.push_back(d.size);
  // A broadcast dimension repeats the dimensions inside it, so it must be the outermost.
  const auto rank = [&](int d) {
    return std::pair(dims[d].in_stride == 0 ? INT64_MAX : std::abs(dims[d].in_stride), dims[d].out_stride);
  };
  SmallVector<ReduceDim, 6> merged;
  merge_dims<2>(
      sizes, nesting_order(sizes, rank),
      [&](int i, int d) { return i ? dims[d].out_stride : dims[d].in_stride; },
      [&](std::int64_t size, const std::array<std::int64_t, 2>& strides) {
        merged.push_back({size, strides[0], strides[1]});
      });
  std::reverse(merged.begin(), merged.end());
  dims = std::move(merged);
}

}  // namespace detail

/// Returns the plan for reducing an array with these sizes and strides over the dimensions in `mask`. The
/// result is contiguous.
inline ReducePlan plan_reduce(IntArrayRef sizes, IntArrayRef strides, DimMask mask) {
  ReducePlan plan;
  std::int64_t out_stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if ((mask >> d) & 1) {
      plan.count *= sizes[d];
      if (sizes[d] != 1) plan.reduced.push_back({sizes[d], strides[d], 0});
    } else {
      plan.outputs *= sizes[d];
      if (sizes[d] != 1) plan.kept.push_back({sizes[d], strides[d], out_stride});
      out_stride *= sizes[d];
    }
  }
  detail::merge_neighbours(plan.kept);
  detail::merge_neighbours(plan.reduced);
  return plan;
}

/// Iterates over merged dimensions in row-major order (the last dimension is the innermost), and returns the
/// offsets in the input and in the output.
class ReduceWalk {
 public:
  ReduceWalk(const SmallVector<ReduceDim, 6>& dims, std::int64_t at) : position_({dims}, at) {}
  std::int64_t in() const { return position_.offsets()[0]; }
  std::int64_t out() const { return position_.offsets()[1]; }
  /// Returns the number of elements left along the last dimension, including this one.
  std::int64_t left_inside() const { return position_.left(); }
  /// Advances by `steps`, which must not pass the end of the last dimension.
  void advance(std::int64_t steps) { position_.advance(steps); }

 private:
  struct Nest {
    using Places = DimVector;
    const SmallVector<ReduceDim, 6>& inmost_last;
    int dims() const { return static_cast<int>(inmost_last.size()); }
    const ReduceDim& dim(int d) const { return inmost_last[dims() - 1 - d]; }
    std::int64_t size(int d) const { return dim(d).size; }
    std::int64_t stride(int array, int d) const { return array == 0 ? dim(d).in_stride : dim(d).out_stride; }
  };
  StridedPosition<2, Nest> position_;
};

}  // namespace ebb
