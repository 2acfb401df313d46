// What is done to each element of a list.
#pragma once

#include <ebb/core/half.h>

namespace ebb::math {

/// The factor that brings a norm down to max_norm; NaN marks what it is applied to.
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

}  // namespace ebb::math
