// The arithmetic of the ebb::foreach kernels for one element.
#pragma once

#include <ebb/core/half.h>

#include <cstdint>

namespace ebb::math {

/// Returns the factor that reduces a norm to max_norm. A NaN factor makes the scaled elements NaN.
template <class T>
EBB_HD T clip_factor(T norm, T max_norm) {
  const T factor = max_norm / (norm + T(1e-6));
  return factor >= T(1) ? T(1) : factor;
}

template <class T>
EBB_HD T clamp_keeping_nan(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}

/// Returns a + weight (b - a), computed from the nearer end.
template <class T>
EBB_HD T lerp(T a, T b, T weight) {
  const T magnitude = weight < T(0) ? -weight : weight;
  return magnitude < T(0.5) ? a + weight * (b - a) : b - (b - a) * (T(1) - weight);
}

/// Returns whether x is neither infinite nor NaN.
template <class T>
EBB_HD bool is_finite(T x) {
  return x - x == T(0);
}

/// Updates the scale of a gradient scaler. If the gradients of a step overflowed, the scale shrinks.
/// `tracker` counts the consecutive steps without overflow. After `interval` such steps the scale grows,
/// unless the larger scale would be infinite.
EBB_HD inline void next_scale(float& scale, std::int32_t& tracker, bool found_inf, double growth,
                              double backoff, std::int32_t interval) {
  if (found_inf) {
    scale = static_cast<float>(scale * backoff);
    tracker = 0;
  } else if (++tracker == interval) {
    const float larger = static_cast<float>(scale * growth);
    if (is_finite(larger)) scale = larger;
    tracker = 0;
  }
}

}  // namespace ebb::math
