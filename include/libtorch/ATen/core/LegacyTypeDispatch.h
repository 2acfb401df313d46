// Guards in which a registered kernel calls ops without recording a graph.
#pragma once

#include <ebb/autograd/grad_mode.h>

#include <c10/util/Exception.h>
#include <torch/csrc/namespaces.h>

namespace at {

using AutoDispatchBelowAutograd = ebb::NoGradGuard;
using AutoDispatchBelowADInplaceOrView = ebb::NoGradGuard;

/// The guard in versions before 1.8.
struct AutoNonVariableTypeMode : ebb::NoGradGuard {
  explicit AutoNonVariableTypeMode(bool = true) {
    TORCH_WARN_ONCE(
        "AutoNonVariableTypeMode is deprecated. Use NoGradGuard in a kernel, and c10::InferenceMode in a "
        "program that only evaluates.");
  }
};

}  // namespace at
