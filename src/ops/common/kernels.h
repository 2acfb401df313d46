// Kernel slots that all families use: copy, fill and accumulate for arrays of any strides.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot_list.h"

namespace ebb::cpu {

/// Computes out[i] = x[i], converted to out's dtype. x has out's shape and device (its strides may be 0 or
/// negative) and does not overlap out.
void copy(NdArray& out, const NdArray& x);
/// Sets out[i] = value. The dtype of out can represent the value.
void fill(NdArray& out, const Scalar& value);
/// Computes out[i] += x[i]. Both have the same shape and dtype. out does not overlap itself.
void accumulate(NdArray& out, const NdArray& x);

}  // namespace ebb::cpu

#define EBB_COMMON_KERNELS(X) \
  X(copy, "copy");            \
  X(fill, "fill");            \
  X(accumulate, "add");
EBB_DECLARE_KERNELS(EBB_COMMON_KERNELS)
