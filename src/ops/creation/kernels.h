// Kernel slots of the creation family.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot.h"

namespace ebb::kernels {

/// out[i] = start + i * step, in double or, for Long, in 64-bit integers. `out` is contiguous, here and
/// below.
extern EBB_API KernelSlot<void(NdArray& out, const Scalar& start, const Scalar& step)> arange;
/// out[i] = start + i * (end - start) / (n - 1), exact at both ends; with base != 0, base to that power.
extern EBB_API KernelSlot<void(NdArray& out, const Scalar& start, const Scalar& end, double base)> linspace;
/// The 1s of an identity matrix; out [n, m] holds zeros.
extern EBB_API KernelSlot<void(NdArray& out)> eye;

}  // namespace ebb::kernels

namespace ebb::cpu {

void arange(NdArray& out, const Scalar& start, const Scalar& step);
void linspace(NdArray& out, const Scalar& start, const Scalar& end, double base);
void eye(NdArray& out);

}  // namespace ebb::cpu
