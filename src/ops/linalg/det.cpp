// det, slogdet and logdet.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/record.h"
#include "ops/linalg/decomposition.h"

#include <cmath>
#include <limits>

namespace ebb {
namespace {

using autograd::GradList;
using namespace ops;

// Returns the sign of the permutation. Only interchanges of different rows count.
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
double least_of(DType dtype) {
  return dtype == kFloat ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
}

// For each element or pair of elements of a row, the product of all other elements. The products are computed
// without division, so they are correct if elements are zero.
class ProductsOfOthers {
 public:
  explicit ProductsOfOthers(const Variable& s)
      : s_(s), before_(exclusive(s)), behind_(exclusive(s.flip({-1})).flip({-1})) {}

  /// Returns the products of all elements except i.
  Variable but_one() const { return before_ * behind_; }

  /// Returns for each pair (i, j) the product of all elements except i and j; for i = j it is 0.
  Variable but_two() const {
    const std::int64_t n = s_.size(-1);
    DimVector square(s_.sizes());
    square.push_back(n);
    const Variable own = ones({n, n}, TensorOptions().dtype(kBool).device(s_.device())).tril();
    const Variable between = exclusive(s_.unsqueeze(-2).expand(square).masked_fill(own, 1));
    const Variable upper = (before_.unsqueeze(-1) * between * behind_.unsqueeze(-2)).triu(1);
    return upper + upper.mT();
  }

 private:
  // Returns for each element the product of all elements before it.
  static Variable exclusive(const Variable& x) {
    const std::int64_t n = x.size(-1);
    return cat({ones_like(x.detach().narrow(-1, 0, 1)), x.narrow(-1, 0, n - 1)}, -1).cumprod(-1);
  }

  Variable s_, before_, behind_;
};

// Returns det(U) det(V), which is 1 or -1. The result has no gradient, because the determinant of an
// orthogonal matrix is constant.
Variable sign_of(const Variable& U, const Variable& Vh) {
  return linalg::det(U.detach()) * linalg::det(Vh.detach());
}

// The cofactors of A = U S V^T are det(U) det(V) U C(S) V^T, where C(S) is the matrix of cofactors of S. In
// the basis of U and V, let P_ij be the product of all singular values except i and j, and P_ii = 0. Then the
// derivative of C_ii with respect to A_kk is P_ik, and for i != j the derivative of C_ij with respect to A_ji
// is -P_ij.
struct CofactorsBackward : autograd::Node {
  autograd::SavedVariable A{this};
  std::string name() const override { return "CofactorsBackward0"; }
  GradList apply(GradList&& grads) override {
    const auto [U, S, Vh] = linalg::svd(A.unpack(), false);
    const Variable others = ProductsOfOthers(S).but_two();
    const Variable G = matmul(matmul(U.mT(), grads[0]), Vh.mT());
    const Variable diagonal = matmul(others, G.diagonal(0, -2, -1).unsqueeze(-1)).squeeze(-1);
    const Variable inner = diagonal.diag_embed() - (G * others).mT();
    return {matmul(matmul(U, inner), Vh) * sign_of(U, Vh).unsqueeze(-1).unsqueeze(-1)};
  }
};

Variable cofactors(const Variable& A) {
  Variable out;
  {
    const NoGradGuard no_grad;
    const auto [U, S, Vh] = linalg::svd(A, false);
    const Variable others = ProductsOfOthers(S).but_one() * sign_of(U, Vh).unsqueeze(-1);
    out = matmul(U * others.unsqueeze(-2), Vh);
  }
  return record<CofactorsBackward>(out.array(), [&](CofactorsBackward& node) { node.A.save(A); }, A);
}

// The gradient is g times the cofactors: g det(A) A^-T (Jacobi).
struct DetBackward : autograd::Node {
  autograd::SavedVariable A{this};
  LuArrays factors;
  std::string name() const override { return "LinalgDetBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable &g = grads[0], a = A.unpack(), LU(factors.lu), pivots(factors.pivots);
    if (rows_of(a) == 0) return {zeros_like(a)};
    if (GradMode::is_enabled()) return {g.unsqueeze(-1).unsqueeze(-1) * cofactors(a)};
    // Uses the LU factors from which the determinant was computed, so that the errors of both cancel. A zero
    // on U's diagonal is replaced by the rounding error of the largest element, here and in the determinant.
    const Variable diagonal = LU.diagonal(0, -2, -1);
    const Variable size =
        (LU.abs().amax({-2, -1}, true).squeeze(-1) * epsilon_of(a.dtype())).clamp_min(least_of(a.dtype()));
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
    if (!grads[1].defined()) return {zeros_like(a)};  // the sign is constant
    const Variable right = times_identity(grads[1], a);
    if (GradMode::is_enabled()) return {std::get<0>(linalg::solve_ex(a.mT(), right))};
    return {linalg::lu_solve(Variable(factors.lu), Variable(factors.pivots), right, true, true)};
  }
};

Pair sign_and_logarithm(const char* op, const Variable& A) {
  check_square(op, A);
  const LuArrays factors = factor_lu(A);
  const Variable diagonal = Variable(factors.lu).diagonal(0, -2, -1);
  Variable sign = diagonal.sign().prod(-1) * swap_sign(Variable(factors.pivots), A.dtype());
  Variable logarithm = diagonal.abs().log().sum(-1);
  if (const auto node = record_results<SlogdetBackward>({&sign, &logarithm}, A)) {
    node->A.save(A);
    node->factors = factors;
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
  if (const auto node = record_results<DetBackward>({&out}, A)) {
    node->A.save(A);
    node->factors = factors;
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
