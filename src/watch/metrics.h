// StateModes and zero_state: the state of a metric outlives the modes in which it is created and changed.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/watch/metrics.h>

namespace ebb::watch {

/// Records no graph, and makes no inference tensors, which could not be changed after an InferenceMode.
struct StateModes {
  InferenceMode normal{false};
  NoGradGuard no_grad;
};

inline Variable zero_state(IntArrayRef sizes, DType dtype) {
  const StateModes modes;
  return zeros(sizes, dtype);
}

}  // namespace ebb::watch
