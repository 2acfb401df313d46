// Checks, batches and error messages of linalg functions.
#include "ops/linalg/decomposition.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/linalg/decomposition_kernels.h"

namespace ebb::ops {

void check_matrices(const char* op, const Variable& A, const char* name) {
  check_defined(op, A);
  check_dims(op, A, 2, "The input tensor ", name, " must have");
  EBB_CHECK(is_floating(A.dtype()), op, ": Expected a floating point tensor as input. Got ", A.dtype(),
            "; convert with .to(ebb::kFloat).");
  EBB_CHECK(A.dtype() == kFloat || A.dtype() == kDouble, op, ": Low precision dtypes not supported. Got ",
            A.dtype(), "; convert with .to(ebb::kFloat).");
}

void check_square(const char* op, const Variable& A, const char* name) {
  check_matrices(op, A, name);
  EBB_CHECK(rows_of(A) == cols_of(A), op, ": ", name, " must be batches of square matrices, but they are ",
            rows_of(A), " by ", cols_of(A), " matrices.");
}

void check_operands(const char* op, const Variable& A, const Variable& B) {
  common_device(op, A, B);
  check_defined(op, B);
  EBB_CHECK(A.dtype() == B.dtype(), op, ": Expected A and B to have the same dtype, but found A of type ",
            A.dtype(), " and B of type ", B.dtype(), " instead. Convert one with .to(dtype).");
  check_dims(op, B, 2, "The input tensor B must have");
}

void check_pivots(const char* op, const Variable& pivots, const Variable& x, std::int64_t k) {
  common_device(op, x, pivots);
  EBB_CHECK(pivots.defined() && pivots.dtype() == kInt, op,
            ": pivots should be a tensor of Int, as lu_factor gives it, got ",
            pivots.defined() ? pivots.dtype() : DType::Undefined, ".");
  EBB_CHECK(pivots.dim() >= 1 && pivots.size(-1) == k &&
                pivots.sizes().slice(0, pivots.sizes().size() - 1) == batch_of(x),
            op, ": expected pivots of shape ", IntArrayRef(sizes_with(batch_of(x), {k})),
            " for a factor of shape ", x.sizes(), ", got ", pivots.sizes(), ".");
}

IntArrayRef batch_of(const Variable& A) { return A.sizes().slice(0, A.sizes().size() - 2); }

Variable expand_batch(const Variable& A, IntArrayRef batch) {
  return batch_of(A) == batch ? A : A.expand(sizes_with(batch, {rows_of(A), cols_of(A)}));
}

DimVector common_batch(const char* op, const Variable& A, const Variable& B) {
  return broadcast_shapes(op, batch_of(A), batch_of(B));
}

NdArray new_info(const Variable& A) { return zeros_array(batch_of(A), kInt, A.device()); }

Variable identity(std::int64_t n, const Variable& A) {
  return eye(n, TensorOptions().dtype(A.dtype()).device(A.device()));
}

Variable reciprocal_gaps(const Variable& gaps, const Variable& values) {
  if (values.numel() == 0) return gaps;
  const auto n = static_cast<double>(values.size(-1));
  const double rounding = n * (values.dtype() == kDouble ? 0x1p-52 : 0x1p-23);
  const Variable largest = values.detach().abs().amax({-1}, true).unsqueeze(-1);
  const Variable none = gaps.detach().abs().le(largest * rounding);
  return gaps.masked_fill(none, 1).reciprocal().masked_fill(none, 0);
}

Variable pick_rows(const Variable& x, const Variable& rows) {
  return gather(x, -2, rows.unsqueeze(-1).expand(x.sizes()));
}

Variable tril_halved(const Variable& x) { return (x.tril() + x.tril(-1)) * 0.5; }

void check_info(const char* op, const NdArray& info, std::string (*what)(std::int64_t value)) {
  ops::check_values(op, Variable(info), [op, what](const NdArray& x) {
    const auto* const values = x.address_as<std::int32_t>();
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      if (values[i] == 0) continue;
      if (x.dim() == 0) detail::fail(op, ": ", what(values[i]));
      detail::fail(op, ": (Batch element ", i, "): ", what(values[i]));
    }
  });
}

Variable lu_rows(const Variable& pivots, std::int64_t rows) {
  const IntArrayRef sizes = pivots.sizes();
  NdArray out = NdArray::empty(sizes_with(sizes.slice(0, sizes.size() - 1), {rows}), kLong, pivots.device());
  kernels::lu_permutation(pivots.device(), out, contiguous_array(pivots.array()));
  return Variable(std::move(out));
}

LuArrays factor_lu(const Variable& A, bool pivot) {
  LuArrays out{copied_array(A.array()), {}, new_info(A)};
  const std::int64_t k = std::min(rows_of(A), cols_of(A));
  out.pivots = NdArray::empty(sizes_with(batch_of(A), {k}), kInt, A.device());
  kernels::lu(A.device(), out.lu, out.pivots, out.info, pivot);
  return out;
}

}  // namespace ebb::ops
