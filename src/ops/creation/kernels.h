// Kernel slots of the creation family.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot.h"

namespace ebb::cpu {

/// out[i] = start + i * step, in double or, for Long, in 64-bit integers. `out` is contiguous, here and
/// below.
void arange(NdArray& out, const Scalar& start, const Scalar& step);
/// out[i] = start + i * (end - start) / (n - 1), exact at both ends; with base != 0, base to that power.
void linspace(NdArray& out, const Scalar& start, const Scalar& end, double base);
/// The 1s of an identity matrix; out [n, m] holds zeros.
void eye(NdArray& out);

}  // namespace ebb::cpu

namespace ebb::kernels {

extern EBB_API KernelSlot<decltype(cpu::arange)> arange;
extern EBB_API KernelSlot<decltype(cpu::linspace)> linspace;
extern EBB_API KernelSlot<decltype(cpu::eye)> eye;

}  // namespace ebb::kernels
