// Kernel slots of the copy family.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot.h"

namespace ebb::kernels {

/// out[i] = x[i], converted to out's dtype. x has out's shape (broadcast dimensions with stride 0), lies on
/// out's device and does not overlap it.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x)> copy;
/// out[i] = value. The value fits out's dtype.
extern EBB_API KernelSlot<void(NdArray& out, const Scalar& value)> fill;

}  // namespace ebb::kernels

namespace ebb::cpu {

void copy(NdArray& out, const NdArray& x);
void fill(NdArray& out, const Scalar& value);

}  // namespace ebb::cpu
