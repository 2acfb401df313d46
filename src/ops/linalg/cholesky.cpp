// The Cholesky factorisation, and triangular systems: solve_triangular, triangular_solve, cholesky_solve and
// cholesky_inverse.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>
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

std::string not_positive(std::int64_t order) {
  return detail::text(
      "The factorization could not be completed because the input is not positive-definite (the leading "
      "minor of "
      "order ",
      order, " is not positive-definite).");
}

// The gradient of the Cholesky factor: L^-T phi(L^T gL) L^-1, symmetrised, where phi(X) is the lower triangle
// of X with half the diagonal (Murray 2016, equation 10).
struct CholeskyBackward : autograd::Node {
  autograd::SavedVariable result{this};
  std::string name() const override { return "LinalgCholeskyExBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable L = result.unpack();
    const Variable phi = tril_halved(matmul(L.mT(), grads[0].tril()));
    const Variable half = linalg::solve_triangular(L.mT(), phi, true);
    const Variable gA = linalg::solve_triangular(L, half, false, false);
    return {(gA + gA.mT()) * 0.5};
  }
};

Pair lower_factor(const char* op, const Variable& A, bool check_errors) {
  NdArray array = copied_array(A.array()), info = new_info(A);
  kernels::cholesky(A.device(), array, info);
  if (check_errors) check_info(op, info, not_positive);
  Variable L(std::move(array));
  if (const auto node = record_results<CholeskyBackward>({&L}, A)) node->result.save_output(L);
  return {L, Variable(std::move(info))};
}

Pair factor(const char* op, const Variable& A, bool upper, bool check_errors) {
  check_square(op, A);
  if (!upper) return lower_factor(op, A, check_errors);
  const auto [L, info] = lower_factor(op, A.mT(), check_errors);
  return {L.mT(), info};
}

}  // namespace

namespace linalg {

std::tuple<Variable, Variable> cholesky_ex(const Variable& A, bool upper, bool check_errors) {
  EBB_AUTOCAST(cholesky_ex, A, upper, check_errors);
  return factor("linalg.cholesky_ex", A, upper, check_errors);
}
Variable cholesky(const Variable& A, bool upper) {
  EBB_AUTOCAST_AS("cholesky", linalg::cholesky, A, upper);
  return std::get<0>(factor("linalg.cholesky", A, upper, true));
}

}  // namespace linalg

Variable cholesky(const Variable& self, bool upper) {
  EBB_AUTOCAST(cholesky, self, upper);
  return std::get<0>(factor("cholesky", self, upper, true));
}

namespace {

// The gradients of X = A^-1 B are gB = A^-T gX and gA = -gB X^T. Of gA only the triangle that was read is
// returned.
struct SolveTriangularBackward : autograd::Node {
  autograd::SavedVariable A{this};
  autograd::SavedVariable result{this};
  bool upper = false, unit = false;
  std::string name() const override { return "LinalgSolveTriangularBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    const Variable g = linalg::solve_triangular(A.unpack().mT(), grads[0], !upper, true, unit);
    if (needs(0)) {
      const Variable full = -matmul(g, result.unpack().mT());
      out[0] = upper ? full.triu(unit ? 1 : 0) : full.tril(unit ? -1 : 0);
    }
    if (needs(1)) out[1] = g;
    return out;
  }
};

}  // namespace

namespace linalg {

Variable solve_triangular(const Variable& A, const Variable& B, bool upper, bool left, bool unitriangular) {
  const char* const op = "linalg.solve_triangular";
  check_square(op, A);
  check_operands(op, A, B);
  if (!left) return solve_triangular(A.mT(), B.mT(), !upper, true, unitriangular).mT();
  EBB_CHECK(cols_of(A) == rows_of(B), op, ": Incompatible shapes of A and B for the equation AX = B (",
            rows_of(A), "x", cols_of(A), " and ", rows_of(B), "x", cols_of(B), ").");
  const DimVector batch = common_batch(op, A, B);
  const Variable a = expand_batch(A, batch), b = expand_batch(B, batch);
  NdArray x = copied_array(b.array());
  const bool turned = !a.array().is_contiguous() && a.mT().array().is_contiguous();
  if (x.numel() > 0)
    kernels::triangular_solve(a.device(), x, contiguous_array((turned ? a.mT() : a).array()),
                              {upper != turned, turned, unitriangular});
  Variable out(std::move(x));
  if (const auto node = record_results<SolveTriangularBackward>({&out}, a, b)) {
    node->A.save(a);
    node->upper = upper;
    node->unit = unitriangular;
    if (node->needs(0)) node->result.save_output(out);
  }
  return out;
}

}  // namespace linalg

std::tuple<Variable, Variable> triangular_solve(const Variable& self, const Variable& A, bool upper,
                                                bool transpose, bool unitriangular) {
  EBB_AUTOCAST(triangular_solve, self, A, upper, transpose, unitriangular);
  check_square("triangular_solve", A);
  check_operands("triangular_solve", A, self);
  const Variable X = transpose ? linalg::solve_triangular(A.mT(), self, !upper, true, unitriangular)
                               : linalg::solve_triangular(A, self, upper, true, unitriangular);
  return {X, expand_batch(A, batch_of(X)).clone()};
}

Variable cholesky_solve(const Variable& self, const Variable& input2, bool upper) {
  EBB_AUTOCAST(cholesky_solve, self, input2, upper);
  check_square("cholesky_solve", input2, "input2");
  check_operands("cholesky_solve", input2, self);
  const Variable L = upper ? input2.mT() : input2;
  return linalg::solve_triangular(L.mT(), linalg::solve_triangular(L, self, false), true);
}

Variable cholesky_inverse(const Variable& self, bool upper) {
  EBB_AUTOCAST(cholesky_inverse, self, upper);
  check_square("cholesky_inverse", self, "self");
  check_true("cholesky_inverse", self.detach().diagonal(0, -2, -1).ne(0).all(),
             "a diagonal element is zero: the inversion could not be completed because the input matrix is "
             "singular.");
  return cholesky_solve(identity(rows_of(self), self), self, upper);
}

}  // namespace ebb
