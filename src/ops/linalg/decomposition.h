// Checks, batches and error messages of linalg functions.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/autograd/variable.h>

#include "ops/common/checks.h"
#include "ops/common/views.h"

#include <tuple>

namespace ebb::ops {

using Pair = std::tuple<Variable, Variable>;
using Triple = std::tuple<Variable, Variable, Variable>;

inline std::int64_t rows_of(const Variable& A) { return A.size(-2); }
inline std::int64_t cols_of(const Variable& A) { return A.size(-1); }

/// Throws unless A is a batch of matrices of Float or Double.
void check_matrices(const char* op, const Variable& A, const char* name = "A");
void check_square(const char* op, const Variable& A, const char* name = "A");
/// Throws unless A and B have the same dtype and device, and B is a batch of matrices as well.
void check_operands(const char* op, const Variable& A, const Variable& B);
/// Throws unless the pivots are Int, on the device of x, and of shape [..., k].
void check_pivots(const char* op, const Variable& pivots, const Variable& x, std::int64_t k);

/// Returns the sizes before the last two.
IntArrayRef batch_of(const Variable& A);
/// Expands A along the batch without a copy.
Variable expand_batch(const Variable& A, IntArrayRef batch);
/// Returns the broadcast batch of A and B.
DimVector common_batch(const char* op, const Variable& A, const Variable& B);

/// Returns Int zeros, one for each matrix.
NdArray new_info(const Variable& A);
/// Returns the identity with A's dtype and device.
Variable identity(std::int64_t n, const Variable& A);
/// Returns 1 / gaps [..., n, n]. `gaps` are differences (or sums) of values [..., n]. If a gap is within the
/// rounding error of the values, the result is 0 instead. The result is differentiable.
Variable reciprocal_gaps(const Variable& gaps, const Variable& values);
/// Returns out[..., i, :] = x[..., rows[..., i], :], which is differentiable.
Variable pick_rows(const Variable& x, const Variable& rows);
/// Returns the lower triangle of x with half the diagonal. This is the gradient of a symmetric matrix of
/// which only the lower triangle is read.
Variable tril_halved(const Variable& x);

/// Waits for `info`. If it has an element `value` that is not 0, throws an error with the message what(value)
/// for the first one.
void check_info(const char* op, const NdArray& info, std::string (*what)(std::int64_t value));

/// Returns the order of A's rows in P^T A.
Variable lu_rows(const Variable& pivots, std::int64_t rows);
/// LU, pivots and info, outside of the graph.
struct LuArrays {
  NdArray lu, pivots, info;
};
LuArrays factor_lu(const Variable& A, bool pivot = true);

/// The node of results whose derivative is not implemented, although an input requires grad. Its apply()
/// throws.
struct NotDifferentiable : autograd::Node {
  const char* op = "";
  std::string name() const override { return "NotImplemented"; }
  autograd::GradList apply(autograd::GradList&&) override {
    detail::fail<NotImplementedError>("the derivative for '", op, "' is not implemented.");
  }
};

}  // namespace ebb::ops
