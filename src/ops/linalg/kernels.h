// The kernels of linear algebra.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot.h"

namespace ebb {

/// How a product reads its operands and what it does with them.
struct ProductArgs {
  bool a_transposed = false;
  bool b_transposed = false;
  Scalar beta = 0;
  Scalar alpha = 1;
};

namespace kernels {
/// out = beta * init + alpha * op(a) op(b), for matrices or batches of matrices (three dimensions). init may
/// be undefined (then beta is not looked at), broadcast to out's shape, or out itself.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& init, const NdArray& a, const NdArray& b,
                               const ProductArgs& args)>
    product;
/// out (no dimensions) = the sum of x[i] y[i].
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, const NdArray& y)> dot;
/// out (no dimensions) = the sum of the diagonal of x.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x)> trace;
/// out[..., i, j] = the p-norm of x1[..., i, :] - x2[..., j, :]; all arrays are contiguous, with equal
/// leading sizes.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x1, const NdArray& x2, double p)> cdist;
/// The gradient with respect to x1.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& grad, const NdArray& x1, const NdArray& x2,
                               const NdArray& distance, double p)>
    cdist_backward;
}  // namespace kernels

namespace cpu {
void product(NdArray& out, const NdArray& init, const NdArray& a, const NdArray& b, const ProductArgs& args);
void dot(NdArray& out, const NdArray& x, const NdArray& y);
void trace(NdArray& out, const NdArray& x);
void cdist(NdArray& out, const NdArray& x1, const NdArray& x2, double p);
void cdist_backward(NdArray& out, const NdArray& grad, const NdArray& x1, const NdArray& x2,
                    const NdArray& distance, double p);
}  // namespace cpu

}  // namespace ebb
