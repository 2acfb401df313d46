// flatten_dense_tensors and unflatten_dense_tensors.
#pragma once

#include <ebb/ops/shape.h>

#include <torch/csrc/namespaces.h>

namespace ebb::utils {
using ebb::flatten_dense_tensors;
using ebb::unflatten_dense_tensors;
}  // namespace ebb::utils
