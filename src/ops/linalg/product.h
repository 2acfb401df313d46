// The product that all of linear algebra is made of, with its operands optionally transposed, so that neither
// the forward pass of a linear layer nor any gradient makes a transposed view.
#pragma once

#include "ops/common/checks.h"

namespace ebb::ops {

/// The device of the operands; throws where one is undefined or elsewhere.
template <class... Operands>
Device operand_device(const char* op, const Operands&... operands) {
  check_defined(op, operands...);
  return common_device(op, operands...);
}

/// alpha * op(a) op(b) for two matrices (MmBackward0) or two batches of as many matrices (BmmBackward0). `op`
/// names the caller in errors.
Variable product(const char* op, const Variable& a, bool a_transposed, const Variable& b, bool b_transposed,
                 const Scalar& alpha = 1);

/// beta * self + alpha * op(a) op(b), self broadcasting to the product's shape (AddmmBackward0,
/// BaddbmmBackward0).
Variable add_product(const char* op, const Variable& self, const Variable& a, bool a_transposed,
                     const Variable& b, bool b_transposed, const Scalar& beta, const Scalar& alpha);

/// A sum and product that was computed before, self + op(a) op(b), as add_product records it.
Variable recorded_add_product(NdArray result, const Variable& self, const Variable& a, bool a_transposed,
                              const Variable& b, bool b_transposed);

/// The same into self.
Variable& add_product_(const char* op, const Variable& self, const Variable& a, const Variable& b,
                       const Scalar& beta, const Scalar& alpha);

/// op(a) x for a matrix and a vector (MvBackward0).
Variable matrix_vector(const char* op, const Variable& a, bool a_transposed, const Variable& x,
                       const Scalar& alpha = 1);

/// alpha * x y^T for two vectors.
Variable vector_outer(const char* op, const Variable& x, const Variable& y, const Scalar& alpha = 1);

}  // namespace ebb::ops
