// eigh and eigvalsh: eigenvalues of symmetric matrices. eig and eigvals only throw. matrix_sqrth and polar:
// square roots of symmetric matrices and the polar decomposition, whose gradients solve Sylvester's equation.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/linalg/decomposition.h>
#include <ebb/ops/linalg/products.h>
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

std::string eigh_failure(std::int64_t) {
  return "The algorithm failed to converge because the input matrix contained non-finite values or has too "
         "many "
         "repeated eigenvalues.";
}

// The gradient is V (diag(gL) + V^T gV / E) V^T with E_ij = L_j - L_i (Giles 2008, 3.1). Elements of V^T gV
// between eigenvectors of the same eigenvalue are dropped: the choice of these eigenvectors is arbitrary, so
// no function of the matrix depends on it.
struct EighBackward : autograd::Node {
  autograd::SavedVariable values{this};
  autograd::SavedVariable vectors{this};
  std::string name() const override { return "LinalgEighBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable V = vectors.unpack();
    Variable inner = grads[0].defined() ? grads[0].diag_embed() : Variable();
    if (grads[1].defined()) {
      const Variable L = values.unpack();
      const Variable apart = matmul(V.mT(), grads[1]) * reciprocal_gaps(L.unsqueeze(-2) - L.unsqueeze(-1), L);
      inner = inner.defined() ? inner + apart : apart;
    }
    return {matmul(matmul(V, inner), V.mT())};
  }
};

// Returns the symmetric matrix that has the same lower or upper triangle as A.
Variable mirrored(const Variable& A, std::string_view UPLO) {
  const bool lower = UPLO == "L" || UPLO == "l";
  return lower ? A.tril() + A.tril(-1).mT() : A.triu() + A.triu(1).mT();
}

Pair eigh_of(const char* op, const Variable& A, std::string_view UPLO) {
  check_square(op, A);
  EBB_CHECK(UPLO == "L" || UPLO == "U" || UPLO == "l" || UPLO == "u", op,
            ": Expected UPLO argument to be 'L' or 'U', but got ", UPLO, ".");
  NdArray vectors, info = new_info(A);
  {
    const NoGradGuard no_grad;
    vectors = copied_array(mirrored(A, UPLO).array());
  }
  NdArray values = NdArray::empty(sizes_with(batch_of(A), {rows_of(A)}), A.dtype(), A.device());
  kernels::eigh(A.device(), vectors, values, info);
  check_info(op, info, eigh_failure);
  Variable L(std::move(values)), V(std::move(vectors));
  if (const auto node = record_results<EighBackward>({&L, &V}, A)) {
    node->values.save_output(L);
    node->vectors.save_output(V);
  }
  return {L, V};
}

[[noreturn]] void needs_complex(const char* op) {
  detail::fail<NotImplementedError>(
      op,
      ": the eigenvalues of a general matrix are complex numbers, which ebb does not "
      "have. For symmetric matrices use linalg::eigh.");
}

}  // namespace

namespace linalg {

std::tuple<Variable, Variable> eigh(const Variable& A, std::string_view UPLO) {
  EBB_AUTOCAST(eigh, A, UPLO);
  return eigh_of("linalg.eigh", A, UPLO);
}
Variable eigvalsh(const Variable& A, std::string_view UPLO) {
  EBB_AUTOCAST(eigvalsh, A, UPLO);
  return std::get<0>(eigh_of("linalg.eigvalsh", A, UPLO));
}
std::tuple<Variable, Variable> eig(const Variable&) { needs_complex("linalg.eig"); }
Variable eigvals(const Variable&) { needs_complex("linalg.eigvals"); }

}  // namespace linalg

namespace {

Variable sylvester(const Variable& X, const Variable& C);

// The gradients of the solution Y of X Y + Y X = C. Y is linear in C, and the gradient of X follows from dX Y
// + Y dX + X dY + dY X = dC.
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

// The gradient of A = U H. It uses U^T dA = W H + dH, where W is skew and rotates within U's columns. The
// skew part of this equation is H W + W H = U^T dA - dA^T U. The part of dA outside of U's columns changes U
// by (I - U U^T) dA H^-1.
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
