// svd_lowrank and pca_lowrank: the largest singular values by a randomised method.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/decomposition.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/linalg/decomposition.h"

namespace ebb {
namespace {

using namespace ops;

// Returns orthonormal columns that approximately span the q leading directions of A.
Variable approximate_basis(const Variable& A, std::int64_t q, std::int64_t niter) {
  const auto basis = [](const Variable& x) { return std::get<0>(linalg::qr(x)); };
  Variable Q = basis(matmul(A, randn({cols_of(A), q}, A.options())));
  for (std::int64_t i = 0; i < niter; ++i) Q = basis(matmul(A, basis(matmul(A.mT(), Q))));
  return Q;
}

}  // namespace

std::tuple<Variable, Variable, Variable> svd_lowrank(const Variable& A, std::int64_t q, std::int64_t niter,
                                                     const Variable& M) {
  check_matrices("svd_lowrank", A);
  EBB_CHECK(q >= 0 && q <= std::min(rows_of(A), cols_of(A)),
            "svd_lowrank: q must be between 0 and min(m, n), ", std::min(rows_of(A), cols_of(A)), ", got ", q,
            ".");
  EBB_CHECK(niter >= 0, "svd_lowrank: niter must not be negative, got ", niter, ".");
  const Variable whole = M.defined() ? A - M.broadcast_to(A.sizes()) : A;
  const bool wide = rows_of(A) < cols_of(A);
  const Variable tall = wide ? whole.mT() : whole;
  const Variable Q = approximate_basis(tall, q, niter);
  const auto [inner, S, Vh] = linalg::svd(matmul(Q.mT(), tall), /*full_matrices=*/false);
  const Variable U = matmul(Q, inner), V = Vh.mT();
  return wide ? Triple{V, S, U} : Triple{U, S, V};
}

std::tuple<Variable, Variable, Variable> pca_lowrank(const Variable& A, optional<std::int64_t> q, bool center,
                                                     std::int64_t niter) {
  check_matrices("pca_lowrank", A);
  const std::int64_t least = std::min(rows_of(A), cols_of(A));
  EBB_CHECK(!q || (*q >= 0 && *q <= least), "pca_lowrank: q must be between 0 and min(m, n), ", least,
            ", got ", q.value_or(0), ".");
  return svd_lowrank(center ? A - A.mean(IntArrayRef(-2), true) : A,
                     q.value_or(std::min<std::int64_t>(6, least)), niter);
}

}  // namespace ebb
