// svd, svdvals, svd_lowrank and pca_lowrank. svd_lowrank and pca_lowrank compute the largest singular values
// by a randomised method.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/decomposition.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/random.h>
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

std::string svd_failure(std::int64_t) {
  return "The algorithm failed to converge because the input matrix contained non-finite values.";
}

Variable skew(const Variable& x) { return x - x.mT(); }

// The gradient is U ((skew(U^T gU) / E) S + S (skew(V^T gV) / E) + diag(gS)) V^T with E_ij = S_j^2 - S_i^2,
// plus the parts of gU and gV outside of the columns of U and V (Townsend 2016).
// Let a = skew(U^T gU) and b = skew(V^T gV). Then the first two terms are ((a + b) / (S_j - S_i) + (a - b) /
// (S_j + S_i)) / 2. For equal singular values U and V rotate together, so a + b is 0 for every function of
// the matrix.
struct SvdBackward : autograd::Node {
  autograd::SavedVariable left{this};
  autograd::SavedVariable values{this};
  autograd::SavedVariable right{this};
  std::string name() const override { return "LinalgSvdBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable U = left.unpack(), S = values.unpack(), Vh = right.unpack();
    const std::int64_t k = S.size(-1);
    Variable inner = grads[1].defined() ? grads[1].diag_embed() : zeros_like(matmul(Vh, Vh.mT()));
    const Variable rows = S.unsqueeze(-1), columns = S.unsqueeze(-2);
    const Variable apart = reciprocal_gaps(columns - rows, S) / 2,
                   together = reciprocal_gaps(columns + rows, S) / 2;
    Variable outside;
    if (grads[0].defined()) {
      const Variable turned = matmul(U.mT(), grads[0]);
      inner = inner + skew(turned) * (apart + together);
      if (rows_of(U) > k) outside = matmul((grads[0] - matmul(U, turned)) / columns, Vh);
    }
    if (grads[2].defined()) {
      const Variable turned = matmul(Vh, grads[2].mT());
      inner = inner + skew(turned) * (apart - together);
      if (cols_of(Vh) > k) {
        const Variable more = matmul(U, (grads[2] - matmul(turned.mT(), Vh)) / rows);
        outside = outside.defined() ? outside + more : more;
      }
    }
    const Variable gA = matmul(matmul(U, inner), Vh);
    return {outside.defined() ? gA + outside : gA};
  }
};

Triple svd_of(const char* op, const Variable& A, bool full) {
  check_matrices(op, A);
  const std::int64_t m = rows_of(A), n = cols_of(A), k = std::min(m, n);
  const auto fresh = [&](std::initializer_list<std::int64_t> sizes) {
    return NdArray::empty(sizes_with(batch_of(A), sizes), A.dtype(), A.device());
  };
  NdArray u = fresh({m, full ? m : k}), s = fresh({k}), vh = fresh({full ? n : k, n}), info = new_info(A);
  if (k > 0) {
    kernels::svd(A.device(), u, s, vh, info, contiguous_array(A.array()));
    check_info(op, info, svd_failure);
  } else {  // for a matrix without elements, any basis is correct
    const NoGradGuard no_grad;
    Variable(u).copy_(eye(u.sizes()[u.sizes().size() - 2], u.sizes().back(),
                          TensorOptions().dtype(A.dtype()).device(A.device())));
    Variable(vh).copy_(eye(vh.sizes()[vh.sizes().size() - 2], vh.sizes().back(),
                           TensorOptions().dtype(A.dtype()).device(A.device())));
  }
  Variable U(std::move(u)), S(std::move(s)), Vh(std::move(vh));
  if (!autograd::records(A)) return {U, S, Vh};
  // The node saves only the first k vectors. The other vectors are an arbitrary basis of the complement and
  // have no gradient.
  const Variable U2 = full && m > k ? U.narrow(-1, k, m - k) : Variable();
  const Variable V2 = full && n > k ? Vh.narrow(-2, k, n - k) : Variable();
  if (U2.defined()) U = Variable(copied_array(U.narrow(-1, 0, k).array()));
  if (V2.defined()) Vh = Variable(copied_array(Vh.narrow(-2, 0, k).array()));
  const auto node = record_results<SvdBackward>({&U, &S, &Vh}, A);
  node->left.save_output(U);
  node->values.save_output(S);
  node->right.save_output(Vh);
  if (U2.defined()) U = cat({U, U2}, -1);
  if (V2.defined()) Vh = cat({Vh, V2}, -2);
  return {U, S, Vh};
}

void check_driver(const char* op, const Variable& A, const optional<std::string_view>& driver) {
  if (!driver) return;
  EBB_CHECK(A.defined() && A.device().is_cuda(), op,
            ": keyword argument `driver=` is only supported on CUDA inputs. Leave it out.");
  EBB_CHECK(*driver == "gesvd" || *driver == "gesvdj" || *driver == "gesvda", op,
            ": keyword argument `driver=` must be one of gesvd, gesvdj, gesvda, got ", *driver, ".");
}

}  // namespace

namespace linalg {

std::tuple<Variable, Variable, Variable> svd(const Variable& A, bool full_matrices,
                                             optional<std::string_view> driver) {
  EBB_AUTOCAST(svd, A, full_matrices, driver);
  check_driver("linalg.svd", A, driver);
  return svd_of("linalg.svd", A, full_matrices);
}

Variable svdvals(const Variable& A, optional<std::string_view> driver) {
  EBB_AUTOCAST(svdvals, A, driver);
  check_driver("linalg.svdvals", A, driver);
  return std::get<1>(svd_of("linalg.svdvals", A, false));
}

}  // namespace linalg

std::tuple<Variable, Variable, Variable> svd(const Variable& self, bool some, bool compute_uv) {
  EBB_AUTOCAST(svd, self, some, compute_uv);
  const auto [U, S, Vh] = svd_of("svd", self, !some && compute_uv);
  if (compute_uv) return {U, S, Vh.mT()};
  const std::int64_t m = rows_of(self), n = cols_of(self);
  const auto options = TensorOptions().dtype(self.dtype()).device(self.device());
  return {zeros(sizes_with(batch_of(self), {m, m}), options), S,
          zeros(sizes_with(batch_of(self), {n, n}), options)};
}

namespace {

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
