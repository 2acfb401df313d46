// matrix_sqrth and polar: square roots of symmetric matrices and the polar decomposition. Both gradients
// solve Sylvester's equation.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/record.h"
#include "ops/linalg/decomposition.h"

namespace ebb {
namespace {

using autograd::GradList;
using namespace ops;

Variable sylvester(const Variable& X, const Variable& C);

// The gradient of Y with X Y + Y X = C. Y is linear in C, and d(X Y + Y X) = dC gives the gradient of X.
struct SylvesterBackward : autograd::Node {
  autograd::SavedVariable root{this}, solution{this};
  std::string name() const override { return "SylvesterBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable Y = solution.unpack();
    const Variable gC = sylvester(root.unpack(), grads[0]);
    return {-(matmul(gC, Y.mT()) + matmul(Y.mT(), gC)), gC};
  }
};

/// Returns Y with X Y + Y X = C (Sylvester's equation), for a symmetric X without two eigenvalues whose sum
/// is 0.
Variable sylvester(const Variable& X, const Variable& C) {
  Variable Y;
  {
    const NoGradGuard no_grad;
    const auto [s, V] = linalg::eigh(X);
    const Variable turned = matmul(matmul(V.mT(), C), V);
    Y = matmul(matmul(V, turned / (s.unsqueeze(-1) + s.unsqueeze(-2))), V.mT());
  }
  if (const auto node = record_results<SylvesterBackward>({&Y}, X, C)) {
    node->root.save(X);
    node->solution.save_output(Y);
  }
  return Y;
}

struct MatrixSqrthBackward : autograd::Node {
  autograd::SavedVariable root{this};
  std::string name() const override { return "LinalgMatrixSqrthBackward0"; }
  GradList apply(GradList&& grads) override {
    return {sylvester(root.unpack(), (grads[0] + grads[0].mT()) / 2)};
  }
};

// The gradient of A = U H: U^T dA = W H + dH, where W is the skew rotation within U's columns. Its skew part
// is H W + W H = U^T dA - dA^T U; the part of dA outside of the columns changes U by (I - U U^T) dA H^-1.
struct PolarBackward : autograd::Node {
  autograd::SavedVariable unitary{this}, stretch{this};
  std::string name() const override { return "LinalgPolarBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable U = unitary.unpack(), H = stretch.unpack();
    const Variable &gU = grads[0], &gH = grads[1];
    Variable turn, grad;
    if (gH.defined()) {
      grad = matmul(U, gH);
      turn = -matmul(gH, H);
    }
    if (gU.defined()) {
      const Variable inside = matmul(U.mT(), gU);
      turn = turn.defined() ? turn + inside : inside;
      if (rows_of(U) != cols_of(U)) {
        const Variable outside = linalg::solve(H, gU - matmul(U, inside), /*left=*/false);
        grad = grad.defined() ? grad + outside : outside;
      }
    }
    const Variable rate = sylvester(H, turn);
    const Variable turned = matmul(U, rate - rate.mT());
    return {grad.defined() ? grad + turned : turned};
  }
};

}  // namespace

namespace linalg {

Variable matrix_sqrth(const Variable& A) {
  EBB_AUTOCAST(matrix_sqrth, A);
  check_square("linalg.matrix_sqrth", A);
  Variable X;
  {
    const NoGradGuard no_grad;
    const auto [L, V] = eigh(A);
    X = ebb::matmul(V * L.clamp_min(0).sqrt().unsqueeze(-2), V.mT());
  }
  if (const auto node = record_results<MatrixSqrthBackward>({&X}, A)) node->root.save_output(X);
  return X;
}

std::tuple<Variable, Variable> polar(const Variable& A) {
  EBB_AUTOCAST(polar, A);
  check_matrices("linalg.polar", A);
  EBB_CHECK(rows_of(A) >= cols_of(A),
            "linalg.polar: input must have at least as many rows as columns, but got ", rows_of(A), " by ",
            cols_of(A), " matrices. Decompose A.mT().");
  Variable U, H;
  {
    const NoGradGuard no_grad;
    const auto [W, S, Vh] = linalg::svd(A, /*full_matrices=*/false);
    U = ebb::matmul(W, Vh);
    H = ebb::matmul(Vh.mT() * S.unsqueeze(-2), Vh);
  }
  if (const auto node = record_results<PolarBackward>({&U, &H}, A)) {
    node->unitary.save_output(U);
    node->stretch.save_output(H);
  }
  return {U, H};
}

}  // namespace linalg

}  // namespace ebb
