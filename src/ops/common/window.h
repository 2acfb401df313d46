// Limits of the parameters of windows, for convolutions, pooling and fold.
#pragma once

#include <ebb/core/error.h>
#include <ebb/core/ndarray.h>

namespace ebb::ops {

/// Checks `value`, which is one of the sizes, strides, paddings or dilations `given`: it is at least `least`,
/// and so small that sums and products of two such values fit into 64 bits.
inline void check_window(const char* op, const char* what, std::int64_t value, std::int64_t least,
                         IntArrayRef given) {
  EBB_CHECK(value >= least, op, ": ", what, " must be at least ", least, ", got ", given, ".");
  EBB_CHECK(value <= std::int64_t{1} << 31, op, ": ", what, " must be at most 2^31, got ", given, ".");
}

}  // namespace ebb::ops
