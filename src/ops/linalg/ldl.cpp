// ldl_factor and ldl_solve: the LDL factorisation of symmetric indefinite matrices.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/decomposition.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/record.h"
#include "ops/linalg/decomposition.h"
#include "ops/linalg/decomposition_kernels.h"

namespace ebb {
namespace {

using namespace ops;

std::string zero_block(std::int64_t i) {
  return detail::text(
      "D[", i, ",", i,
      "] is zero and using it on ldl_solve would result in a division by zero. If you still want "
      "the factors, call linalg.ldl_factor_ex(A)");
}

template <class... Inputs>
Variable without_derivative(const char* op, NdArray array, const Inputs&... inputs) {
  return record<NotDifferentiable>(
      std::move(array), [&](NotDifferentiable& node) { node.op = op; }, inputs...);
}

}  // namespace

namespace linalg {

std::tuple<Variable, Variable, Variable> ldl_factor_ex(const Variable& A, bool, bool check_errors) {
  check_square("linalg.ldl_factor", A);
  NdArray ld, info = new_info(A);
  {
    const NoGradGuard no_grad;
    ld = copied_array(A.tril().array());
  }
  NdArray pivots = NdArray::empty(sizes_with(batch_of(A), {rows_of(A)}), kInt, A.device());
  kernels::ldl(A.device(), ld, pivots, info);
  if (check_errors) check_info("linalg.ldl_factor", info, zero_block);
  return {without_derivative("linalg_ldl_factor", std::move(ld), A), Variable(std::move(pivots)),
          Variable(std::move(info))};
}

std::tuple<Variable, Variable> ldl_factor(const Variable& A, bool hermitian) {
  const auto [LD, pivots, info] = ldl_factor_ex(A, hermitian, true);
  return {LD, pivots};
}

Variable ldl_solve(const Variable& LD, const Variable& pivots, const Variable& B, bool) {
  const char* const op = "linalg.ldl_solve";
  check_square(op, LD, "LD");
  check_operands(op, LD, B);
  check_pivots(op, pivots, LD, rows_of(LD));
  const Variable rows = pivots.abs();
  check_true(op, rows.ge(1).logical_and(rows.le(rows_of(LD))).all(),
             "the pivots must lie within the size of LD. Pass the result of linalg.ldl_factor.");
  EBB_CHECK(cols_of(LD) == rows_of(B), op, ": Incompatible shapes of A and B for the equation AX = B (",
            rows_of(LD), "x", cols_of(LD), " and ", rows_of(B), "x", cols_of(B), ").");
  const DimVector batch = common_batch(op, LD, B);
  NdArray x = copied_array(expand_batch(B, batch).array());
  const NdArray swaps = pivots.array().expand(sizes_with(batch, {rows_of(LD)}));
  if (x.numel() > 0)
    kernels::ldl_solve(LD.device(), x, contiguous_array(expand_batch(LD, batch).array()),
                       contiguous_array(swaps));
  return without_derivative("linalg_ldl_solve", std::move(x), LD, B);
}

}  // namespace linalg

}  // namespace ebb
