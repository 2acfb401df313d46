// solve, inv, tensorinv and tensorsolve.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/decomposition.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/linalg/solve.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/linalg/decomposition.h"

namespace ebb {
namespace {

using autograd::GradList;
using namespace ops;

std::string singular_system(std::int64_t) {
  return "The solver failed because the input matrix is singular.";
}
std::string singular_matrix(std::int64_t i) {
  return detail::text("The diagonal element ", i,
                      " is zero, the inversion could not be completed because the input matrix is singular.");
}

// The gradients of X = A^-1 B are gB = A^-T gX and gA = -gB X^T.
struct SolveBackward : autograd::Node {
  autograd::SavedVariable A{this};
  autograd::SavedVariable result{this};
  LuArrays factors;
  std::string name() const override { return "LinalgSolveExBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    // The LU factors are constants in the graph. If the gradient is recorded, A itself is therefore used
    // instead.
    const Variable g =
        GradMode::is_enabled()
            ? std::get<0>(linalg::solve_ex(A.unpack().mT(), grads[0]))
            : linalg::lu_solve(Variable(factors.lu), Variable(factors.pivots), grads[0], true, true);
    if (needs(0)) out[0] = -matmul(g, result.unpack().mT());
    if (needs(1)) out[1] = g;
    return out;
  }
};

struct InverseBackward : autograd::Node {
  autograd::SavedVariable result{this};
  std::string name() const override { return "LinalgInvExBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable X = result.unpack().mT();
    return {-matmul(X, matmul(grads[0], X))};
  }
};

// Solves A X = B, where A and B are matrices with the same batch dimensions.
Pair solve_matrices(const Variable& A, const Variable& B) {
  const LuArrays factors = factor_lu(A);
  NdArray array;
  {
    const NoGradGuard no_grad;
    array = linalg::lu_solve(Variable(factors.lu), Variable(factors.pivots), B).array();
  }
  Variable X(std::move(array));
  if (const auto node = record_results<SolveBackward>({&X}, A, B)) {
    node->A.save(A);
    node->factors = factors;
    if (node->needs(0)) node->result.save_output(X);
  }
  return {X, Variable(factors.info)};
}

Pair solve_checked(const char* op, const Variable& A, const Variable& B, bool left, bool check_errors) {
  check_square(op, A);
  check_defined(op, B);
  const bool vectors =
      B.dim() == 1 || (B.dim() + 1 == A.dim() && B.sizes() == A.sizes().slice(0, A.sizes().size() - 1));
  EBB_CHECK(left || !vectors, op, ": left = false needs a matrix B, got shape ", B.sizes(),
            " for A of shape ", A.sizes(), ".");
  const Variable b = vectors ? B.unsqueeze(-1) : B;
  check_operands(op, A, b);
  EBB_CHECK(rows_of(A) == (left ? rows_of(b) : cols_of(b)), op,
            ": Incompatible shapes of A and B for the equation ", left ? "AX = B (" : "XA = B (", rows_of(A),
            "x", cols_of(A), " and ", rows_of(b), "x", cols_of(b), ").");
  const DimVector batch = common_batch(op, A, b);
  const Variable a = expand_batch(A, batch), right = expand_batch(b, batch);
  auto [X, info] = solve_matrices(left ? a : a.mT(), left ? right : right.mT());
  if (check_errors) check_info(op, info.array(), singular_system);
  if (!left) X = X.mT();
  return {vectors ? X.squeeze(-1) : X, info};
}

Pair inverse_of(const char* op, const Variable& A, bool check_errors) {
  check_square(op, A);
  const LuArrays factors = factor_lu(A);
  if (check_errors) check_info(op, factors.info, singular_matrix);
  NdArray array;
  {
    const NoGradGuard no_grad;
    array = linalg::lu_solve(Variable(factors.lu), Variable(factors.pivots), identity(rows_of(A), A)).array();
  }
  Variable X(std::move(array));
  if (const auto node = record_results<InverseBackward>({&X}, A)) node->result.save_output(X);
  return {X, Variable(factors.info)};
}

}  // namespace

namespace linalg {

std::tuple<Variable, Variable> solve_ex(const Variable& A, const Variable& B, bool left, bool check_errors) {
  return solve_checked("linalg.solve_ex", A, B, left, check_errors);
}
Variable solve(const Variable& A, const Variable& B, bool left) {
  EBB_AUTOCAST(solve, A, B, left);
  return std::get<0>(solve_checked("linalg.solve", A, B, left, true));
}
std::tuple<Variable, Variable> inv_ex(const Variable& A, bool check_errors) {
  EBB_AUTOCAST(inv_ex, A, check_errors);
  return inverse_of("linalg.inv_ex", A, check_errors);
}
Variable inv(const Variable& A) {
  EBB_AUTOCAST(inv, A);
  return std::get<0>(inverse_of("linalg.inv", A, true));
}

Variable tensorinv(const Variable& A, std::int64_t ind) {
  EBB_AUTOCAST(tensorinv, A, ind);
  check_defined("linalg.tensorinv", A);
  EBB_CHECK(ind > 0, "linalg.tensorinv: Expected a strictly positive integer for 'ind', but got ", ind, ".");
  EBB_CHECK(ind <= A.dim(), "linalg.tensorinv: ind = ", ind, " exceeds the dimensions of shape ", A.sizes(),
            ".");
  const IntArrayRef sizes = A.sizes();
  const std::size_t at = static_cast<std::size_t>(ind);
  const std::int64_t before = checked_numel(sizes.slice(0, at)),
                     after = checked_numel(sizes.slice(at, sizes.size() - at));
  EBB_CHECK(before == after,
            "linalg.tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            "prod(self.shape[:ind]), but got ",
            after, " != ", before, " for shape ", sizes, ".");
  DimVector turned(sizes.slice(at, sizes.size() - at));
  for (std::size_t i = 0; i < at; ++i) turned.push_back(sizes[i]);
  return std::get<0>(inverse_of("linalg.tensorinv", A.reshape({before, after}), true)).reshape(turned);
}

Variable tensorsolve(const Variable& A, const Variable& B, OptionalIntArrayRef dims) {
  EBB_AUTOCAST(tensorsolve, A, B, dims);
  const char* const op = "linalg.tensorsolve";
  common_device(op, A, B);
  check_defined(op, B);
  Variable a = A;
  if (dims) {
    DimVector ends;
    for (std::size_t i = 0; i < dims->size(); ++i)
      ends.push_back(A.dim() - static_cast<std::int64_t>(dims->size() - i));
    a = movedim(A, *dims, ends);
  }
  const std::size_t at = static_cast<std::size_t>(B.dim());
  EBB_CHECK(a.dim() >= B.dim(), op, ": A of shape ", a.sizes(), " has fewer dimensions than B of shape ",
            B.sizes(), ".");
  const IntArrayRef after = a.sizes().slice(at, a.sizes().size() - at);
  const std::int64_t rows = checked_numel(a.sizes().slice(0, at)), columns = checked_numel(after);
  EBB_CHECK(rows == columns && B.numel() == rows, op,
            ": Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            "prod(self.shape[:other.ndim]), but got ",
            columns, " != ", rows, " for shapes ", a.sizes(), " and ", B.sizes(), ".");
  const DimVector shape(after);
  return std::get<0>(solve_checked(op, a.reshape({rows, columns}), B.reshape({rows}), true, true))
      .reshape(shape);
}

}  // namespace linalg

Variable inverse(const Variable& self) { return linalg::inv(self); }

}  // namespace ebb
