// The kernels of linear algebra.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot_list.h"

namespace ebb {

/// How a product reads its operands and what it does with them.
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
/// out = beta * init + alpha * op(a) op(b), for matrices or batches of matrices (three dimensions). init may
/// be undefined (then beta is not looked at), broadcast to out's shape, or out itself. In Float and Double,
/// with alpha and beta 1, that is the product and then the sum, bit for bit, and a product plus zero is
/// itself. The CPU also takes 16-bit operands of a float result.
void product(NdArray& out, const NdArray& init, const NdArray& a, const NdArray& b, const ProductArgs& args);
/// out = activation(input weight^T + bias) in one pass, for matrices and a row; `before`, where it is
/// defined, gets what the activation is given; its rows lie a multiple of 8 elements apart. It declines where
/// no kernel of the device does both.
bool linear_activation(NdArray& out, NdArray& before, const NdArray& input, const NdArray& weight,
                       const NdArray& bias, ops::LinearActivation activation);
/// out (no dimensions) = the sum of x[i] y[i].
void dot(NdArray& out, const NdArray& x, const NdArray& y);
/// out[..., i, j] = the p-norm of x1[..., i, :] - x2[..., j, :]; all arrays are contiguous, with equal
/// leading sizes.
void cdist(NdArray& out, const NdArray& x1, const NdArray& x2, double p);
/// The gradient with respect to x1.
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
