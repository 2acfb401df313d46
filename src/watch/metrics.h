// StateModes: the modes in which a metric changes its state.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/watch/metrics.h>

namespace ebb::watch {

/// Records no graph, and makes no inference tensors, because the state lives longer than an InferenceMode.
struct StateModes {
  InferenceMode normal{false};
  NoGradGuard no_grad;
};

}  // namespace ebb::watch
