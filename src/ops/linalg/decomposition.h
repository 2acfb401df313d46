// What the functions of matrices share: checks, batches, messages of failures.
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
/// Two operands of one dtype and device, the second a batch of matrices too.
void check_operands(const char* op, const Variable& A, const Variable& B);
/// Throws unless A is on the device of x, of Int, and [..., k].
void check_pivots(const char* op, const Variable& pivots, const Variable& x, std::int64_t k);

/// The sizes before the last two.
IntArrayRef batch_of(const Variable& A);
/// A repeated along the batch. No copy.
Variable expand_batch(const Variable& A, IntArrayRef batch);
/// The batches of A and B, broadcast.
DimVector common_batch(const char* op, const Variable& A, const Variable& B);

/// Int zeros, one a matrix.
NdArray new_info(const Variable& A);
/// The identity in A's dtype and on its device.
Variable identity(std::int64_t n, const Variable& A);
/// 1 / gaps [..., n, n] between values [..., n], and 0 where a gap is no more than their rounding;
/// differentiable.
Variable reciprocal_gaps(const Variable& gaps, const Variable& values);
/// out[..., i, :] = x[..., rows[..., i], :]; differentiable.
Variable pick_rows(const Variable& x, const Variable& rows);
/// The lower triangle of x with halves of the diagonal: of a symmetric gradient.
Variable tril_halved(const Variable& x);

/// Waits for `info`, and throws at the first that is not 0: `what(value)` says what that means.
void check_info(const char* op, const NdArray& info, std::string (*what)(std::int64_t value));

/// The rows of A in the order of P^T A.
Variable lu_rows(const Variable& pivots, std::int64_t rows);
/// LU, pivots and info without a graph.
struct LuArrays {
  NdArray lu, pivots, info;
};
LuArrays factor_lu(const Variable& A, bool pivot = true);

/// Of results that depend on what requires grad, and whose derivative nobody has written.
struct NotDifferentiable : autograd::Node {
  const char* op = "";
  std::string name() const override { return "NotImplemented"; }
  autograd::GradList apply(autograd::GradList&&) override {
    detail::fail<NotImplementedError>("the derivative for '", op, "' is not implemented.");
  }
};

}  // namespace ebb::ops
