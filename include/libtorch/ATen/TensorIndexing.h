// Slices and other indices.
#pragma once

#include <ebb/ops/indexing.h>
#include <torch/csrc/namespaces.h>

#include <cstdint>
#include <limits>

namespace ebb::indexing {

/// The bounds that a Slice has when they are left out.
inline constexpr std::int64_t INDEX_MIN = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t INDEX_MAX = std::numeric_limits<std::int64_t>::max();

}  // namespace ebb::indexing
