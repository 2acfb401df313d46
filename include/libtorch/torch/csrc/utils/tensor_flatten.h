// Lists of tensors as one, and back.
#pragma once

#include <ebb/ops/shape.h>

#include <torch/csrc/namespaces.h>

namespace ebb::utils {
using ebb::flatten_dense_tensors;
using ebb::unflatten_dense_tensors;
}  // namespace ebb::utils
