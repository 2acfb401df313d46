// Determinants.
#include <ebb/autograd/record.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/decomposition.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/solve.h>

#include <cmath>
#include <limits>

#include "ops/decomposition/common.h"

namespace ebb {
namespace {

using autograd::GradList;
using namespace ops;

// The sign of the interchanges: each that moves something counts.
Variable swap_sign(const Variable& pivots, DType dtype) {
  const Variable own = arange(1, pivots.size(-1) + 1, TensorOptions().dtype(kInt).device(pivots.device()));
  const Variable odd = pivots.ne(own).sum(-1).to(dtype).remainder(2);
  return 1 - 2 * odd;
}

Variable times_identity(const Variable& factor, const Variable& A) {
  return factor.unsqueeze(-1).unsqueeze(-1) * identity(rows_of(A), A);
}

double epsilon_of(DType dtype) {
  return dtype == kFloat ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

// The matrix of cofactors from the singular values, which stays finite where one of them is zero.
Variable cofactors(const Variable& A) {
  const auto [U, S, Vh] = linalg::svd(A, false);
  const Variable mine = eye(rows_of(A), TensorOptions().dtype(kBool).device(A.device()));
  const Variable others = S.unsqueeze(-2).expand(A.sizes()).masked_fill(mine, 1).prod(-1);
  // The determinants of orthogonal matrices do not change.
  const Variable sign = linalg::det(U.detach()) * linalg::det(Vh.detach());
  return matmul(U * (others * sign.unsqueeze(-1)).unsqueeze(-2), Vh);
}

// Jacobi's formula: g det(A) A^-T.
struct DetBackward : autograd::Node {
  autograd::SavedVariable A{this};
  autograd::SavedVariable result{this};
  LuArrays factors;
  std::string name() const override { return "LinalgDetBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable &g = grads[0], a = A.unpack(), LU(factors.lu), pivots(factors.pivots);
    const Variable diagonal = LU.diagonal(0, -2, -1);
    if (rows_of(a) == 0) return {zeros_like(a)};
    if (GradMode::is_enabled()) {
      if (diagonal.eq(0).any().item<bool>()) return {g.unsqueeze(-1).unsqueeze(-1) * cofactors(a)};
      return {std::get<0>(linalg::solve_ex(a.mT(), times_identity(g * result.unpack(), a)))};
    }
    // Zeros on U's diagonal give way to the last digit of the largest element, in the determinant too.
    const Variable least = LU.abs().amax({-2, -1}, true).squeeze(-1) * epsilon_of(a.dtype());
    const Variable size = where(least.eq(0), ones_like(least), least);
    const Variable shift = where(diagonal.eq(0), size.expand(diagonal.sizes()), zeros_like(diagonal));
    const Variable det = (diagonal + shift).prod(-1) * swap_sign(pivots, a.dtype());
    return {linalg::lu_solve(LU + shift.diag_embed(), pivots, times_identity(g * det, a), true, true)};
  }
};

struct SlogdetBackward : autograd::Node {
  autograd::SavedVariable A{this};
  LuArrays factors;
  std::string name() const override { return "LinalgSlogdetBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable a = A.unpack();
    const Variable right = times_identity(grads[0], a);
    if (GradMode::is_enabled()) return {std::get<0>(linalg::solve_ex(a.mT(), right))};
    return {linalg::lu_solve(Variable(factors.lu), Variable(factors.pivots), right, true, true)};
  }
};

Pair sign_and_logarithm(const char* op, const Variable& A) {
  check_square(op, A);
  const LuArrays factors = factor_lu(A);
  const Variable diagonal = Variable(factors.lu).diagonal(0, -2, -1);
  const Variable sign = diagonal.sign().prod(-1) * swap_sign(Variable(factors.pivots), A.dtype());
  Variable logarithm = diagonal.abs().log().sum(-1);
  if (autograd::records(A)) {
    auto node = autograd::make_node<SlogdetBackward>(A);
    node->A.save(A);
    node->factors = factors;
    autograd::set_history(logarithm, node);
  }
  return {sign, logarithm};
}

}  // namespace

namespace linalg {

Variable det(const Variable& A) {
  check_square("linalg.det", A);
  const LuArrays factors = factor_lu(A);
  Variable out =
      Variable(factors.lu).diagonal(0, -2, -1).prod(-1) * swap_sign(Variable(factors.pivots), A.dtype());
  if (autograd::records(A)) {
    auto node = autograd::make_node<DetBackward>(A);
    node->A.save(A);
    node->factors = factors;
    autograd::set_history(out, node);
    node->result.save_output(out);
  }
  return out;
}

std::tuple<Variable, Variable> slogdet(const Variable& A) { return sign_and_logarithm("linalg.slogdet", A); }

}  // namespace linalg

Variable det(const Variable& self) { return linalg::det(self); }
std::tuple<Variable, Variable> slogdet(const Variable& self) { return sign_and_logarithm("slogdet", self); }

Variable logdet(const Variable& self) {
  const auto [sign, logarithm] = sign_and_logarithm("logdet", self);
  return logarithm.masked_fill(sign.lt(0), NAN);
}

}  // namespace ebb
