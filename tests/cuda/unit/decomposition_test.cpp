// Matrix decompositions on the device that use several warps, and their error codes.
#include <ebb/ebb.h>
#include <ebb/ops/linalg.h>

#include "support/catch.h"

#include <cmath>
#include <vector>

using namespace ebb;

namespace {

Variable numbers(IntArrayRef sizes) {
  return (arange(checked_numel(sizes), kDouble) * 1.7).sin().view(sizes).to(TensorOptions(kCUDA));
}
double largest(const Variable& x) { return x.abs().max().item<double>(); }
Variable one(std::int64_t n) { return eye(n, TensorOptions(kDouble).device(kCUDA)); }

}  // namespace

TEST_CASE("svd on a device gives orthogonal factors", "[cuda]") {
  if (!cuda::is_available()) return;
  const auto shape = GENERATE((std::vector<std::int64_t>{24, 17}), (std::vector<std::int64_t>{17, 24}),
                              (std::vector<std::int64_t>{20, 20}));
  const Variable a = numbers(shape);
  const auto [U, S, Vh] = linalg::svd(a);
  const std::int64_t k = S.size(-1);
  CHECK(largest(matmul(U, U.mT()) - one(U.size(-1))) < 1e-12);
  CHECK(largest(matmul(Vh, Vh.mT()) - one(Vh.size(-1))) < 1e-12);
  CHECK(largest(matmul(U.narrow(-1, 0, k) * S.unsqueeze(-2), Vh.narrow(-2, 0, k)) - a) < 1e-12);
  CHECK(largest(S.to(kCPU) - linalg::svdvals(a.to(kCPU))) < 1e-12);
  const Variable square = matmul(a, a.mT()) - one(a.size(0));
  const auto [L, V] = linalg::eigh(square);
  CHECK(largest(matmul(V * L.unsqueeze(-2), V.mT()) - square) < 1e-11);
  CHECK(largest(matmul(V.mT(), V) - one(a.size(0))) < 1e-12);
}

TEST_CASE("svd of a low-rank matrix on a device gives zero singular values and orthonormal vectors",
          "[cuda]") {
  if (!cuda::is_available()) return;
  const Variable a = matmul(numbers({12, 2}), numbers({2, 9}));
  const auto [U, S, Vh] = linalg::svd(a, false);
  CHECK(S[2].item<double>() < 1e-13);
  CHECK(largest(matmul(U.mT(), U) - one(9)) < 1e-12);
  CHECK(largest(matmul(U * S.unsqueeze(-2), Vh) - a) < 1e-13);
}

TEST_CASE("linalg ops with info return the failing index from a device", "[cuda]") {
  if (!cuda::is_available()) return;
  const Variable batch = stack({eye(2), ones({2, 2}), -eye(2)}).to(TensorOptions(kCUDA));
  const auto told = [](const Variable& info) { return info.to(kCPU); };
  CHECK(equal(told(std::get<1>(linalg::inv_ex(batch))), tensor({0, 2, 0}, kInt)));
  CHECK(equal(told(std::get<1>(linalg::cholesky_ex(batch))), tensor({0, 2, 1}, kInt)));
  CHECK(equal(told(std::get<2>(linalg::ldl_factor_ex(batch * 0))), tensor({1, 1, 1}, kInt)));
  CHECK_THROWS_WITH(linalg::inv(batch),
                    support::Contains("(Batch element 1): The diagonal element 2 is zero"));
  CHECK_THROWS_WITH(linalg::svd(batch * NAN), support::Contains("non-finite"));
  CHECK_THROWS_WITH(linalg::eigh(batch * INFINITY), support::Contains("failed to converge"));
  CHECK_THROWS_WITH(linalg::svd(batch, true, "fast"), support::Contains("gesvdj"));
  linalg::svd(batch, true, "gesvdj");
  const auto wrong = [&] {
    lu_unpack(batch, full({3, 2}, 9, TensorOptions(kInt).device(kCUDA)));
    cuda::synchronize();
  };
  CHECK_THROWS_AS(wrong(), IndexError);
}
