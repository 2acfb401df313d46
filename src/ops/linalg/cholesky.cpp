// The Cholesky factorisation.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>
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

// Murray 2016, equation 10: L^-T phi(L^T gL) L^-1, symmetrised. phi takes the lower triangle with half the
// diagonal.
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

}  // namespace ebb
