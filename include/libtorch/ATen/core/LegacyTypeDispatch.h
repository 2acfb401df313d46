// Guards under which a registered kernel calls others that record no graph.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <torch/csrc/namespaces.h>

namespace at {

using AutoDispatchBelowAutograd = ebb::NoGradGuard;
using AutoDispatchBelowADInplaceOrView = ebb::NoGradGuard;
using AutoNonVariableTypeMode = ebb::NoGradGuard;

}  // namespace at
