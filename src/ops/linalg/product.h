// The matrix product that the other functions of linear algebra call. Its operands may be transposed, so that
// neither the forward pass of a linear layer nor its gradients need a transposed view.
#pragma once

#include "ops/common/checks.h"

namespace ebb::ops {

/// Returns the device of the operands. Throws if an operand is undefined or if the devices differ.
template <class... Operands>
Device operand_device(const char* op, const Operands&... operands) {
  check_defined(op, operands...);
  return common_device(op, operands...);
}

/// Returns alpha * op(a) op(b) for two matrices (MmBackward0) or two batches of the same size (BmmBackward0).
/// `op` is the name of the caller in errors.
Variable product(const char* op, const Variable& a, bool a_transposed, const Variable& b, bool b_transposed,
                 const Scalar& alpha = 1);

/// Returns beta * self + alpha * op(a) op(b), where self broadcasts to the product's shape (AddmmBackward0,
/// BaddbmmBackward0).
Variable add_product(const char* op, const Variable& self, const Variable& a, bool a_transposed,
                     const Variable& b, bool b_transposed, const Scalar& beta, const Scalar& alpha);

/// Records `result`, which a fused kernel has computed as self + op(a) op(b), in the same way as
/// add_product().
Variable recorded_add_product(NdArray result, const Variable& self, const Variable& a, bool a_transposed,
                              const Variable& b, bool b_transposed);

/// Replaces the elements of self by beta * self + alpha * a b.
Variable& add_product_(const char* op, const Variable& self, const Variable& a, const Variable& b,
                       const Scalar& beta, const Scalar& alpha);

/// Returns op(a) x for a matrix and a vector (MvBackward0).
Variable matrix_vector(const char* op, const Variable& a, bool a_transposed, const Variable& x,
                       const Scalar& alpha = 1);

/// Returns alpha * x y^T for two vectors.
Variable vector_outer(const char* op, const Variable& x, const Variable& y, const Scalar& alpha = 1);

}  // namespace ebb::ops
