// The kernels of the shape family; most of what it moves are copies between views (ops/common/kernels.h).
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

#include <vector>

namespace ebb::cpu {

/// out's slices along `dim`, one after another, = the pieces: out's dtype, any strides, none empty.
void join(NdArray& out, const std::vector<NdArray>& pieces, std::int64_t dim);
/// out = x with zeros above (lower) or below the given diagonal of the last two dimensions; out may be x.
void triangle(NdArray& out, const NdArray& x, std::int64_t diagonal, bool lower);

}  // namespace ebb::cpu

#define EBB_SHAPE_KERNELS(X) \
  X(join, "join");           \
  X(triangle, "triangle");
EBB_DECLARE_KERNELS(EBB_SHAPE_KERNELS)
