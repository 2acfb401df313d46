// Kernel slots of the creation family.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot_list.h"

namespace ebb::cpu {

/// out[i] = start + i * step, in double or, for Long, in 64-bit integers. `out` is contiguous, here and
/// below.
void arange(NdArray& out, const Scalar& start, const Scalar& step);
/// out[i] = start + i * (end - start) / (n - 1), exact at both ends; with base != 0, base to that power.
void linspace(NdArray& out, const Scalar& start, const Scalar& end, double base);
/// The 1s of an identity matrix; out [n, m] holds zeros.
void eye(NdArray& out);

}  // namespace ebb::cpu

#define EBB_CREATION_KERNELS(X) \
  X(arange, "arange");          \
  X(linspace, "linspace");      \
  X(eye, "eye");
EBB_DECLARE_KERNELS(EBB_CREATION_KERNELS)
