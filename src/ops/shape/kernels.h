// Kernel slots of the shape family. Most shape ops need none, because they copy between views
// (ops/common/kernels.h).
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

#include <vector>

namespace ebb::cpu {

/// Concatenates the arrays `pieces` along `dim`. They have the dtype of out and any strides, and are not
/// empty.
void join(NdArray& out, const std::vector<NdArray>& pieces, std::int64_t dim);
/// Copies x with zeros above (lower) or below the given diagonal of the last two dimensions. out may be x.
void triangle(NdArray& out, const NdArray& x, std::int64_t diagonal, bool lower);

}  // namespace ebb::cpu

#define EBB_SHAPE_KERNELS(X) \
  X(join, "join");           \
  X(triangle, "triangle");
EBB_DECLARE_KERNELS(EBB_SHAPE_KERNELS)
