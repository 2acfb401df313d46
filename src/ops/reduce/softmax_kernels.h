// Kernel slots of softmax. The arrays of a call are contiguous and have the same shape and floating-point
// dtype. They are processed as [outer, n, inner], where n is the size of `dim`.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

namespace ebb {
namespace cpu {
void softmax(NdArray& out, const NdArray& x, std::int64_t dim, bool log);
/// `whole` is true if y is the result of softmax: along `dim`, y adds up to 1 and the gradients add up to 0.
void softmax_backward(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log,
                      bool whole);
}  // namespace cpu

}  // namespace ebb

#define EBB_SOFTMAX_KERNELS(X) \
  X(softmax, "softmax");       \
  X(softmax_backward, "softmax_backward");
EBB_DECLARE_KERNELS(EBB_SOFTMAX_KERNELS)
