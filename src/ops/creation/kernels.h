// Kernel slots of creation: arange, linspace, eye.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/call/slot.h"

namespace ebb::cpu {

/// Sets out[i] = start + i * step, computed in double or, for Long, in 64-bit integers. `out` is contiguous
/// in this kernel and in the following ones.
void arange(NdArray& out, const Scalar& start, const Scalar& step);
/// Sets out[i] = value, where value = start + i * (end - start) / (n - 1), exact at both ends. If base != 0,
/// sets out[i] = base^value instead.
void linspace(NdArray& out, const Scalar& start, const Scalar& end, double base);
/// Sets the diagonal of out [n, m] to one. The other elements must already be zero.
void eye(NdArray& out);

}  // namespace ebb::cpu

#define EBB_CREATION_KERNELS(X) \
  X(arange, "arange");          \
  X(linspace, "linspace");      \
  X(eye, "eye");
EBB_DECLARE_KERNELS(EBB_CREATION_KERNELS)
