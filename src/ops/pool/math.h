// The mean of a window, for host and device.
#pragma once

#include "kernel/wrapping.h"

#include <cstdint>
#include <type_traits>

namespace ebb::pooling {

/// Returns sum / weight. Integers round towards zero, as in torch. The smallest integer divided by -1 wraps
/// around.
template <class T>
EBB_HD T share(T sum, std::int64_t weight) {
  if constexpr (std::is_integral_v<T>)
    return weight == -1 ? wrapping(T(0), sum, [](auto x, auto y) { return x - y; }) : sum / T(weight);
  else
    return sum / static_cast<T>(weight);
}

}  // namespace ebb::pooling
