// The functions on tensors.
#pragma once

#include <ebb/ebb.h>
#include <ebb/ops/factories.h>
#include <ebb/ops/out.h>
#include <torch/csrc/namespaces.h>

namespace at {

/// view(), of which libtorch's tells autograd nothing.
inline Tensor _unsafe_view(const Tensor& self, IntArrayRef size) { return self.view(size); }

}  // namespace at
