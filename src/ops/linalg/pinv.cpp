// pinv and matrix_rank: the Moore-Penrose inverse and ranks.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/record.h"
#include "ops/linalg/decomposition.h"

#include <limits>

namespace ebb {
namespace {

using autograd::GradList;
using namespace ops;

// The thresholds, absolute and relative to the largest magnitude, below which a magnitude counts as zero.
// They are numbers, or tensors that broadcast with the batch.
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

// Golub and Pereyra 1973, equation 4.12, evaluated in the cheaper order.
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
