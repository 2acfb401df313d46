// matrix_exp, vecdot, vander and other linalg functions that are composed of other ops.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/linalg/decomposition.h"

#include <cmath>
#include <span>

namespace ebb {
namespace {

using autograd::GradList;
using namespace ops;

// The coefficients of Pade approximants of the exponential. For each approximant, kApproximants also contains
// the largest 1-norm of A for which the error is below rounding (Higham 2005).
constexpr double kPade3[] = {120, 60, 12, 1};
constexpr double kPade5[] = {30240, 15120, 3360, 420, 30, 1};
constexpr double kPade7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
constexpr double kPade13[] = {64764752532480000.0,
                              32382376266240000.0,
                              7771770303897600.0,
                              1187353796428800.0,
                              129060195264000.0,
                              10559470521600.0,
                              670442572800.0,
                              33522128640.0,
                              1323241920.0,
                              40840800.0,
                              960960.0,
                              16380.0,
                              182.0,
                              1.0};
struct Approximant {
  std::span<const double> coefficients;
  double of_double, of_float;
};
constexpr Approximant kApproximants[] = {{kPade3, 1.495585217958292e-2, 4.258730016922831e-1},
                                         {kPade5, 2.539398330063230e-1, 1.880152677804762},
                                         {kPade7, 9.504178996162932e-1, 3.925724783138660},
                                         {kPade13, 5.371920351148152, 3.925724783138660}};

// Returns (V - U)^-1 (V + U), where U contains the odd and V the even terms of the approximant.
Variable pade(const Variable& A, std::span<const double> b) {
  const Variable one = identity(rows_of(A), A), square = matmul(A, A);
  Variable power = square, odd = one * b[1] + square * b[3], even = one * b[0] + square * b[2];
  for (std::size_t i = 4; i + 1 < b.size(); i += 2) {
    power = matmul(power, square);
    even = even + power * b[i];
    odd = odd + power * b[i + 1];
  }
  const Variable U = matmul(A, odd);
  return std::get<0>(linalg::solve_ex(even - U, even + U));
}

// Returns exp(A), computed as exp(A / 2^s)^(2^s) with a separate s for each matrix of the batch.
Variable exponential(const Variable& A) {
  const Variable norms = A.abs().sum(-2).amax({-1});
  const Variable here = norms.to(kCPU, kDouble).contiguous();
  detail::host_access(here.array());
  const double* const p = here.array().address_as<double>();
  double most = 0;
  for (std::int64_t i = 0; i < here.numel(); ++i) {
    if (!std::isfinite(p[i])) return A * NAN;
    most = std::max(most, p[i]);
  }
  const bool single = A.dtype() == kFloat;
  for (const Approximant& each : kApproximants)
    if (most <= (single ? each.of_float : each.of_double)) return pade(A, each.coefficients);
  const Approximant& last = kApproximants[single ? 2 : 3];
  const double bound = single ? last.of_float : last.of_double;
  // The numbers of squarings are computed only on the host, because the device could round them differently.
  Variable counts = empty_like(here);
  detail::host_access(counts.array());
  double* const count = counts.array().address_as<double>();
  for (std::int64_t i = 0; i < here.numel(); ++i)
    count[i] = std::max(0.0, std::ceil(std::log2(p[i] / bound)));
  const Variable halvings = counts.to(A.device(), A.dtype());
  Variable x = pade(A * (-halvings).exp2().unsqueeze(-1).unsqueeze(-1), last.coefficients);
  const auto times = static_cast<int>(std::ceil(std::log2(most / bound)));
  for (int i = 0; i < times; ++i) x = where(halvings.gt(i).unsqueeze(-1).unsqueeze(-1), matmul(x, x), x);
  return x;
}

// The gradient is the upper right block of exp(((A^T, g), (0, A^T))) (Higham 2008, theorem 3.6). The block is
// linear in g. Therefore g is first scaled to norm 1, which avoids additional squarings.
struct MatrixExpBackward : autograd::Node {
  autograd::SavedVariable A{this};
  std::string name() const override { return "LinalgMatrixExpBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable a = A.unpack().mT(), g = grads[0];
    const std::int64_t n = rows_of(a);
    if (g.numel() == 0) return {g};
    const Variable size = g.detach().abs().sum(-2).amax({-1}).unsqueeze(-1).unsqueeze(-1);
    const Variable scale = where(size.eq(0), ones_like(size), size);
    const Variable whole = cat({cat({a, g / scale}, -1), cat({zeros_like(a), a}, -1)}, -2);
    return {linalg::matrix_exp(whole).narrow(-2, 0, n).narrow(-1, n, n) * scale};
  }
};

Variable exp_of(const char* op, const Variable& A) {
  if (A.defined() && wide_dtype(A.dtype()) != A.dtype()) return exp_of(op, A.to(kFloat)).to(A.dtype());
  check_square(op, A);
  Variable out;
  {
    const NoGradGuard no_grad;
    out = A.numel() == 0 ? A.clone() : Variable(exponential(A.detach()).array());
  }
  if (const auto node = record_results<MatrixExpBackward>({&out}, A)) node->A.save(A);
  return out;
}

}  // namespace

namespace linalg {

Variable matrix_exp(const Variable& A) { return exp_of("linalg.matrix_exp", A); }

Variable vecdot(const Variable& x, const Variable& y, std::int64_t dim) {
  EBB_AUTOCAST(vecdot, x, y, dim);
  common_device("linalg.vecdot", x, y);
  check_defined("linalg.vecdot", y);
  check_same_dtype("linalg.vecdot", x, y);
  EBB_CHECK(x.dim() != 1 || y.dim() != 1 || x.numel() == y.numel(),
            "linalg.vecdot: expected two vectors of the same length, got shapes ", x.sizes(), " and ",
            y.sizes(), ".");
  return mul(x, y).sum(dim);
}

Variable diagonal(const Variable& A, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  check_defined("linalg.diagonal", A);
  return ebb::diagonal(A, offset, dim1, dim2);
}

Variable vander(const Variable& x, optional<std::int64_t> N) {
  const char* const op = "linalg.vander";
  check_defined(op, x);
  EBB_CHECK(x.dtype() != kBool, op, ": does not take bool tensors; convert with .to(ebb::kLong).");
  if (x.dim() == 0) return linalg::vander(x.unsqueeze(0), N);
  const std::int64_t n = N.value_or(x.size(-1));
  EBB_CHECK(n > 1, op, ": N must be greater than 1, got ", n, ".");
  DimVector shape(x.sizes());
  shape.push_back(n - 1);
  const Variable column = x.unsqueeze(-1);
  return cumprod(cat({ones_like(column), column.expand(shape)}, -1), -1);
}

}  // namespace linalg

Variable matrix_exp(const Variable& self) { return exp_of("matrix_exp", self); }

Variable matrix_H(const Variable& self) {
  check_defined("matrix_H", self);
  EBB_CHECK(self.dim() == 2 || self.dim() == 0, "matrix_H: expected a matrix, got shape ", self.sizes(),
            ". For batches use mH().");
  return self.dim() == 0 ? self : self.transpose(0, 1);
}

}  // namespace ebb
