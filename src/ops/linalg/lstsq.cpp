// lstsq (least squares), pinv (the Moore-Penrose inverse) and matrix_rank.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/linalg/decomposition.h"

#include <limits>

namespace ebb {
namespace {

using autograd::GradList;
using namespace ops;

struct Answer {
  Variable solution, rank, values;
};

// Returns the solution of minimum norm. It ignores singular values up to rcond times the largest one.
Answer by_singular_values(const Variable& A, const Variable& B, double rcond) {
  const auto [U, S, Vh] = linalg::svd(A, false);
  const Variable some = S.gt(S.amax({-1}, true) * rcond);
  const Variable inverse = where(some, S.masked_fill(some.logical_not(), 1).reciprocal(), zeros_like(S));
  return {matmul(Vh.mT(), inverse.unsqueeze(-1) * matmul(U.mT(), B)), some.sum(-1), S};
}

// Solves by the QR factorisation of A or, if there are fewer equations than unknowns, of A^T.
Variable of_full_rank(const Variable& A, const Variable& B) {
  if (rows_of(A) >= cols_of(A)) {
    const auto [Q, R] = linalg::qr(A);
    return linalg::solve_triangular(R, matmul(Q.mT(), B), true);
  }
  const auto [Q, R] = linalg::qr(A.mT());
  return matmul(Q, linalg::solve_triangular(R.mT(), B, false));
}

// The gradient of X = pinv(A) B.
struct LstsqBackward : autograd::Node {
  autograd::SavedVariable A{this};
  autograd::SavedVariable B{this};
  double rcond = 0;
  std::string name() const override { return "LinalgLstsqBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    const Variable a = A.unpack(), b = B.unpack(), P = linalg::pinv(a, rcond), g = grads[0];
    if (needs(1)) out[1] = matmul(P.mT(), g);
    if (!needs(0)) return out;
    // These are the terms of the differential of pinv(A), applied to B (Golub and Pereyra 1973).
    const Variable PTg = matmul(P.mT(), g), X = matmul(P, b), rest = b - matmul(a, X);
    out[0] = matmul(rest, matmul(P, PTg).mT()) - matmul(PTg, X.mT()) +
             matmul(matmul(P.mT(), X), (g - matmul(a.mT(), PTg)).mT());
    return out;
  }
};

}  // namespace

namespace linalg {

std::tuple<Variable, Variable, Variable, Variable> lstsq(const Variable& A, const Variable& B,
                                                         optional<double> rcond,
                                                         optional<std::string_view> driver) {
  EBB_AUTOCAST(lstsq, A, B, rcond, driver);
  const char* const op = "linalg.lstsq";
  check_matrices(op, A);
  common_device(op, A, B);
  check_defined(op, B);
  const bool vectors = B.dim() + 1 == A.dim();
  EBB_CHECK(
      vectors || B.dim() == A.dim(), op,
      ": expected `other` to have as many dimensions as the input, or one less for vectors; got shapes ",
      A.sizes(), " and ", B.sizes(), ". Use expand() for the batch.");
  const Variable b = vectors ? B.unsqueeze(-1) : B;
  check_operands(op, A, b);
  EBB_CHECK(rows_of(A) == rows_of(b), op, ": input.size(-2) should match other.size(-2), got shapes ",
            A.sizes(), " and ", B.sizes(), ".");
  const std::string_view way = driver.value_or(A.device().is_cuda() ? "gels" : "gelsy");
  EBB_CHECK(way == "gels" || way == "gelsy" || way == "gelsd" || way == "gelss", op,
            ": parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got ", way, ".");
  const DimVector batch = common_batch(op, A, b);
  const Variable a = expand_batch(A, batch), right = expand_batch(b, batch);
  const std::int64_t m = rows_of(a), n = cols_of(a), k = std::min(m, n);
  const double epsilon =
      A.dtype() == kFloat ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double threshold = rcond.value_or(epsilon * static_cast<double>(std::max(m, n)));
  const auto options = TensorOptions().dtype(A.dtype()).device(A.device());
  const Variable none = empty({0}, options);
  Answer answer{zeros(sizes_with(batch, {n, cols_of(b)}), options),
                zeros(batch, TensorOptions(options).dtype(kLong)), empty(sizes_with(batch, {0}), options)};
  bool overdetermined = false;
  {
    const NoGradGuard no_grad;
    if (k > 0 && way == "gels") answer.solution = of_full_rank(a, right);
    if (k > 0 && way != "gels") answer = by_singular_values(a, right, threshold);
    overdetermined = m > n && way != "gelsy" && (way == "gels" || answer.rank.eq(n).all().item<bool>());
  }
  Variable X(answer.solution.array());
  if (const auto node = record_results<LstsqBackward>({&X}, a, right)) {
    node->A.save(a);
    node->B.save(right);
    node->rcond = way == "gels" ? 0 : threshold;
  }
  Variable residuals = none;
  if (overdetermined) {
    const Variable off = ebb::matmul(a, X) - right;
    residuals = (off * off).sum(-2);
  }
  if (vectors) X = X.squeeze(-1);
  const bool ranks = way != "gels", values = way == "gelsd" || way == "gelss";
  return {X, residuals, ranks ? answer.rank : empty({0}, TensorOptions(options).dtype(kLong)),
          values ? answer.values : none};
}

}  // namespace linalg

namespace {

// The thresholds below which a magnitude counts as zero. `atol` is absolute; `rtol` is multiplied by the
// largest magnitude. Both are scalars, or tensors that broadcast with the batch.
struct Threshold {
  Variable atol, rtol;

  static Threshold of(const Variable& A, optional<double> atol, optional<double> rtol) {
    const double relative = rtol ? *rtol : (atol && *atol > 0 ? 0 : usual(A));
    const auto options = TensorOptions().dtype(A.dtype()).device(A.device());
    return {full({}, atol.value_or(0), options), full({}, relative, options)};
  }
  static Threshold of(const char* op, const Variable& A, const optional<Variable>& atol,
                      const optional<Variable>& rtol) {
    const Threshold plain = of(A, nullopt, nullopt);
    const auto given = [&](const optional<Variable>& x) {
      common_device(op, A, x);
      return x && x->defined() ? x->to(A.dtype()) : Variable();
    };
    Threshold out{given(atol), given(rtol)};
    if (!out.rtol.defined())
      out.rtol = out.atol.defined() ? where(out.atol.gt(0), zeros_like(plain.rtol), plain.rtol) : plain.rtol;
    if (!out.atol.defined()) out.atol = plain.atol;
    return out;
  }
  static double usual(const Variable& A) {
    const double epsilon =
        A.dtype() == kFloat ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    return epsilon * static_cast<double>(std::max(rows_of(A), cols_of(A)));
  }
  /// Returns a mask of the magnitudes [..., k] that exceed the threshold.
  Variable exceeded(const Variable& magnitudes) const {
    const Variable bound = maximum(atol, rtol * magnitudes.amax({-1}));
    return magnitudes.gt(bound.unsqueeze(-1));
  }
};

Variable inverse_where(const Variable& values, const Variable& some) {
  return where(some, values.masked_fill(some.logical_not(), 1).reciprocal(), zeros_like(values));
}

// The gradient of P = pinv(A) (Golub and Pereyra 1973, equation 4.12). The products are evaluated in the
// cheaper order.
struct PinvBackward : autograd::Node {
  autograd::SavedVariable A{this};
  autograd::SavedVariable result{this};
  std::string name() const override { return "LinalgPinvBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable a = A.unpack(), P = result.unpack(), gT = grads[0].mT(), PT = P.mT();
    if (rows_of(a) <= cols_of(a)) {
      const Variable K = matmul(gT, P), KPT = matmul(K, PT);
      return {KPT - matmul(P, K).mT() - matmul(matmul(a, P), KPT) + matmul(matmul(PT, P), gT - matmul(K, a))};
    }
    const Variable K = matmul(P, gT), PTK = matmul(PT, K);
    return {PTK - matmul(K, P).mT() + matmul(matmul(gT - matmul(a, K), P), PT) - matmul(matmul(PTK, P), a)};
  }
};

template <class MakeThreshold>
Variable pinv_of(const char* op, const Variable& A, bool hermitian, const MakeThreshold& threshold) {
  check_matrices(op, A);
  if (hermitian) check_square(op, A);
  const std::int64_t m = rows_of(A), n = cols_of(A);
  Variable P;
  {
    const NoGradGuard no_grad;
    if (A.numel() == 0) {
      P = zeros(sizes_with(batch_of(A), {n, m}), TensorOptions().dtype(A.dtype()).device(A.device()));
    } else if (hermitian) {
      const auto [L, V] = linalg::eigh(A);
      P = matmul(V * inverse_where(L, threshold().exceeded(L.abs())).unsqueeze(-2), V.mT());
    } else {
      const auto [U, S, Vh] = linalg::svd(A, false);
      P = matmul(Vh.mT() * inverse_where(S, threshold().exceeded(S)).unsqueeze(-2), U.mT());
    }
  }
  Variable out(P.array());
  if (const auto node = record_results<PinvBackward>({&out}, A)) {
    node->A.save(A);
    node->result.save_output(out);
  }
  return out;
}

template <class MakeThreshold>
Variable rank_of(const char* op, const Variable& A, bool hermitian, const MakeThreshold& threshold) {
  check_matrices(op, A);
  if (hermitian) check_square(op, A);
  const NoGradGuard no_grad;
  if (A.numel() == 0) return zeros(batch_of(A), TensorOptions().dtype(kLong).device(A.device()));
  const Variable S = hermitian ? linalg::eigvalsh(A).abs() : linalg::svdvals(A);
  return threshold().exceeded(S).sum(-1);
}

}  // namespace

namespace linalg {

Variable pinv(const Variable& A, double rcond, bool hermitian) {
  return pinv(A, 0.0, optional<double>(rcond), hermitian);
}
Variable pinv(const Variable& A, optional<double> atol, optional<double> rtol, bool hermitian) {
  return pinv_of("linalg.pinv", A, hermitian, [&] { return Threshold::of(A, atol, rtol); });
}
Variable pinv(const Variable& A, const optional<Variable>& atol, const optional<Variable>& rtol,
              bool hermitian) {
  return pinv_of("linalg.pinv", A, hermitian, [&] { return Threshold::of("linalg.pinv", A, atol, rtol); });
}

Variable matrix_rank(const Variable& A, double tol, bool hermitian) {
  return matrix_rank(A, optional<double>(tol), optional<double>(0.0), hermitian);
}
Variable matrix_rank(const Variable& A, optional<double> atol, optional<double> rtol, bool hermitian) {
  EBB_AUTOCAST(matrix_rank, A, atol, rtol, hermitian);
  return rank_of("linalg.matrix_rank", A, hermitian, [&] { return Threshold::of(A, atol, rtol); });
}
Variable matrix_rank(const Variable& A, const optional<Variable>& atol, const optional<Variable>& rtol,
                     bool hermitian) {
  EBB_AUTOCAST(matrix_rank, A, atol, rtol, hermitian);
  return rank_of("linalg.matrix_rank", A, hermitian,
                 [&] { return Threshold::of("linalg.matrix_rank", A, atol, rtol); });
}

}  // namespace linalg

Variable pinverse(const Variable& self, double rcond) {
  EBB_AUTOCAST(pinverse, self, rcond);
  return linalg::pinv(self, rcond);
}

}  // namespace ebb
