// eigh, eigvalsh, and eig and eigvals, which only throw: eigenvalues of symmetric matrices.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
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

// V (diag(gL) + V^T gV / E) V^T with E_ij = L_j - L_i (Giles 2008, 3.1). The part of gV between eigenvectors
// of one eigenvalue is dropped: no function of the matrix depends on the choice of their basis.
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

// Returns the symmetric matrix whose lower or upper triangle is that of A.
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

}  // namespace ebb
