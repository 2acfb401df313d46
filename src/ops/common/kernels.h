// The kernels that every family builds on: copies, fills and sums of arrays with any strides.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot_list.h"

namespace ebb::cpu {

/// out[i] = x[i], converted to out's dtype. x has out's shape (its strides may be 0 or negative), lies on
/// out's device and does not overlap it.
void copy(NdArray& out, const NdArray& x);
/// out[i] = value. The value fits out's dtype.
void fill(NdArray& out, const Scalar& value);
/// out[i] += x[i]: one shape and dtype; out does not overlap itself.
void accumulate(NdArray& out, const NdArray& x);

}  // namespace ebb::cpu

#define EBB_COMMON_KERNELS(X) \
  X(copy, "copy");            \
  X(fill, "fill");            \
  X(accumulate, "add");
EBB_DECLARE_KERNELS(EBB_COMMON_KERNELS)
