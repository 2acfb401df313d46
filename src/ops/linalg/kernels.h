// Kernel slots of linear algebra: products, dot, linear_activation and cdist.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/call/slot.h"

namespace ebb {

/// Options of a product: transposed operands, and the factors of the sum.
struct ProductArgs {
  bool a_transposed = false;
  bool b_transposed = false;
  Scalar beta = 0;
  Scalar alpha = 1;
};

namespace ops {
enum class LinearActivation : std::uint8_t { relu, gelu_tanh };
}  // namespace ops

namespace cpu {
/// Computes out = beta * init + alpha * op(a) op(b), for matrices or batches of matrices (three dimensions).
/// init is undefined (then beta is ignored), broadcasts to out's shape, or is `out` itself.
/// In Float and Double, if alpha and beta are 1, the result equals init plus the separately computed product
/// bit for bit. A product plus zero equals the product. On the CPU, operands may have a 16-bit dtype if out
/// is Float.
void product(NdArray& out, const NdArray& init, const NdArray& a, const NdArray& b, const ProductArgs& args);
/// Computes out = activation(input weight^T + bias) in one kernel. input and weight are matrices, and bias is
/// a vector. `before`, if defined, receives the input of the activation; the row stride of `before` is a
/// multiple of 8 elements. Returns false if the device has no such kernel.
bool linear_activation(NdArray& out, NdArray& before, const NdArray& input, const NdArray& weight,
                       const NdArray& bias, ops::LinearActivation activation);
/// Sets out (no dimensions) to the sum of x[i] y[i].
void dot(NdArray& out, const NdArray& x, const NdArray& y);
/// Sets out[..., i, j] to the p-norm of x1[..., i, :] - x2[..., j, :]. All arrays are contiguous, with equal
/// leading sizes.
void cdist(NdArray& out, const NdArray& x1, const NdArray& x2, double p);
/// Computes the gradient with respect to x1.
void cdist_backward(NdArray& out, const NdArray& grad, const NdArray& x1, const NdArray& x2,
                    const NdArray& distance, double p);
}  // namespace cpu

}  // namespace ebb

#define EBB_LINALG_KERNELS(X)     \
  X(product, "matmul");           \
  X(dot, "dot");                  \
  X(linear_activation, "linear"); \
  X(cdist, "cdist");              \
  X(cdist_backward, "cdist_backward");
EBB_DECLARE_KERNELS(EBB_LINALG_KERNELS)
