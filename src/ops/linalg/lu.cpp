// The LU factorisation: lu_factor, lu, lu_solve and lu_unpack. The LDL factorisation of symmetric indefinite
// matrices: ldl_factor and ldl_solve.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/linalg/decomposition.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/record.h"
#include "ops/linalg/decomposition.h"
#include "ops/linalg/decomposition_kernels.h"

namespace ebb {
namespace {

using autograd::GradList;
using namespace ops;

std::string zero_on_diagonal(std::int64_t i) {
  return detail::text("U[", i, ",", i,
                      "] is zero and using it on lu_solve would result in a division by zero. If you still "
                      "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                      "linalg.lu_factor_ex(A, pivot)");
}

// The gradient of P^T A = L U by blocks. L1 and U1 are the square blocks of L and U. The remaining block L2
// is empty unless A is tall, and U2 is empty unless A is wide.
struct LuFactorBackward : autograd::Node {
  autograd::SavedVariable lu{this};
  NdArray pivots;
  std::string name() const override { return "LinalgLuFactorExBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable &g = grads[0], LU = lu.unpack();
    const std::int64_t m = rows_of(LU), n = cols_of(LU), k = std::min(m, n);
    const Variable top = LU.narrow(-2, 0, k).narrow(-1, 0, k), gTop = g.narrow(-2, 0, k).narrow(-1, 0, k);
    const Variable L1 = top.tril(-1) + identity(k, LU), U1 = top.triu();
    Variable low = matmul(L1.mT(), gTop.tril(-1)), up = matmul(gTop.triu(), U1.mT());
    if (n > k) low = low - matmul(g.narrow(-1, k, n - k), LU.narrow(-1, k, n - k).mT());
    if (m > k) up = up - matmul(LU.narrow(-2, k, m - k).mT(), g.narrow(-2, k, m - k));
    // over_u returns X U1^-T, and under_l returns L1^-T X.
    const auto over_u = [&](const Variable& X) { return linalg::solve_triangular(U1.mT(), X, false, false); };
    const auto under_l = [&](const Variable& X) {
      return linalg::solve_triangular(L1.mT(), X, true, true, true);
    };
    Variable gA = under_l(over_u(low.tril(-1) + up.triu()));
    if (n > k) gA = cat({gA, under_l(g.narrow(-1, k, n - k))}, -1);
    if (m > k) gA = cat({gA, over_u(g.narrow(-2, k, m - k))}, -2);
    return {pick_rows(gA, argsort(lu_rows(Variable(pivots), m)))};
  }
};

}  // namespace

namespace linalg {

std::tuple<Variable, Variable, Variable> lu_factor_ex(const Variable& A, bool pivot, bool check_errors) {
  check_matrices("linalg.lu_factor", A);
  LuArrays made = factor_lu(A, pivot);
  if (check_errors) check_info("linalg.lu_factor", made.info, zero_on_diagonal);
  Variable LU(made.lu);
  if (const auto node = record_results<LuFactorBackward>({&LU}, A)) {
    node->pivots = made.pivots;
    node->lu.save_output(LU);
  }
  return {LU, Variable(made.pivots), Variable(made.info)};
}

std::tuple<Variable, Variable> lu_factor(const Variable& A, bool pivot) {
  const auto [LU, pivots, info] = lu_factor_ex(A, pivot, true);
  return {LU, pivots};
}

std::tuple<Variable, Variable, Variable> lu(const Variable& A, bool pivot) {
  check_matrices("linalg.lu", A);
  const auto [LU, pivots, info] = lu_factor_ex(A, pivot);
  return lu_unpack(LU, pivots);
}

Variable lu_solve(const Variable& LU, const Variable& pivots, const Variable& B, bool left, bool adjoint) {
  const char* const op = "linalg.lu_solve";
  check_square(op, LU, "LU");
  check_operands(op, LU, B);
  check_pivots(op, pivots, LU, rows_of(LU));
  if (!left) return lu_solve(LU, pivots, B.mT(), true, !adjoint).mT();
  EBB_CHECK(cols_of(LU) == rows_of(B), op, ": Incompatible shapes of A and B for the equation AX = B (",
            rows_of(LU), "x", cols_of(LU), " and ", rows_of(B), "x", cols_of(B), ").");
  const DimVector batch = common_batch(op, LU, B);
  const Variable b = expand_batch(B, batch);
  const Variable rows = lu_rows(pivots, rows_of(LU)).expand(sizes_with(batch, {rows_of(LU)}));
  if (adjoint) {
    const Variable y = solve_triangular(LU.mT(), b, false);
    return pick_rows(solve_triangular(LU.mT(), y, true, true, true), argsort(rows));
  }
  return solve_triangular(LU, solve_triangular(LU, pick_rows(b, rows), false, true, true), true);
}

}  // namespace linalg

std::tuple<Variable, Variable, Variable> lu_unpack(const Variable& LU_data, const Variable& LU_pivots,
                                                   bool unpack_data, bool unpack_pivots) {
  check_matrices("lu_unpack", LU_data, "LU_data");
  const std::int64_t m = rows_of(LU_data), n = cols_of(LU_data), k = std::min(m, n);
  const auto options = TensorOptions().dtype(LU_data.dtype()).device(LU_data.device());
  Variable P = empty({0}, options), L = P, U = P;
  if (unpack_data) {
    L = LU_data.narrow(-1, 0, k).tril(-1) + eye(m, k, options);
    U = LU_data.narrow(-2, 0, k).triu();
  }
  if (unpack_pivots) {
    check_pivots("lu_unpack", LU_pivots, LU_data, k);
    const Variable places = arange(m, TensorOptions().dtype(kLong).device(LU_data.device())).unsqueeze(-1);
    P = lu_rows(LU_pivots, m).unsqueeze(-2).eq(places).to(LU_data.dtype());
  }
  return {P, L, U};
}

Variable lu_solve(const Variable& self, const Variable& LU_data, const Variable& LU_pivots) {
  EBB_AUTOCAST(lu_solve, self, LU_data, LU_pivots);
  return linalg::lu_solve(LU_data, LU_pivots, self);
}

namespace {

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
