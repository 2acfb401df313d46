// qr, geqrf, householder_product (orgqr) and ormqr.
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

// The gradient of A = (A1, A2) = Q (R1, R2), where A1 is the first k columns of A, and A2 is empty unless A
// is wide (Walter, Lehmann and Lamour 2012; Roberts and Roberts 2020).
struct QrBackward : autograd::Node {
  autograd::SavedVariable Q{this};
  autograd::SavedVariable R{this};
  bool complete = false, without_q = false;
  std::string name() const override { return "LinalgQrBackward0"; }
  GradList apply(GradList&& grads) override {
    EBB_CHECK(
        !without_q,
        "linalg.qr: The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
        "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.");
    const Variable q = Q.unpack(), r = R.unpack();
    const std::int64_t m = rows_of(q), k = rows_of(r), n = cols_of(r);
    EBB_CHECK(!complete || m <= n,
              "linalg.qr: The QR decomposition is not differentiable when mode='complete' and nrows > ncols, "
              "which here are ",
              m, " and ", n, ". Use mode 'reduced'.");
    const Variable gQ = grad_or_zeros(grads, 0), gR = grad_or_zeros(grads, 1);
    const Variable inner = matmul(gR, r.mT()) - matmul(q.mT(), gQ);
    if (m >= n) {
      const Variable upper = inner.triu();
      const Variable whole = gQ + matmul(q, upper + upper.triu(1).mT());
      return {linalg::solve_triangular(r.mT(), whole, false, false)};
    }
    // Here Q is square, so Q^T dQ is skew. R2 = Q^T A2 also depends on Q.
    const Variable skew = (inner.mT() - inner).tril(-1);
    const Variable first = linalg::solve_triangular(r.narrow(-1, 0, k).mT(), matmul(q, skew), false, false);
    return {matmul(q, gR) + constant_pad_nd(first, {0, n - k})};
  }
};

struct Factors {
  NdArray a, tau;
};

Factors factor_qr(const Variable& A) {
  Factors out{
      copied_array(A.array()),
      NdArray::empty(sizes_with(batch_of(A), {std::min(rows_of(A), cols_of(A))}), A.dtype(), A.device())};
  kernels::qr(A.device(), out.a, out.tau);
  return out;
}

std::tuple<Variable, Variable> qr_of(const char* op, const Variable& A, std::string_view mode) {
  check_matrices(op, A);
  EBB_CHECK(mode == "reduced" || mode == "complete" || mode == "r", op, ": qr received unrecognized mode '",
            mode, "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const Factors factors = factor_qr(A);
  const std::int64_t m = rows_of(A), n = cols_of(A), k = std::min(m, n);
  const bool complete = mode == "complete", without_q = mode == "r";
  Variable Q, R;
  {
    const NoGradGuard no_grad;
    R = Variable(factors.a).narrow(-2, 0, complete ? m : k).triu();
    NdArray q = without_q
                    ? NdArray::empty({0}, A.dtype(), A.device())
                    : NdArray::empty(sizes_with(batch_of(A), {m, complete ? m : k}), A.dtype(), A.device());
    if (!without_q) kernels::householder_q(A.device(), q, factors.a, factors.tau);
    Q = Variable(std::move(q));
  }
  if (const auto node = record_results<QrBackward>({&Q, &R}, A)) {
    node->complete = complete;
    node->without_q = without_q;
    node->Q.save_output(Q);
    node->R.save_output(R);
  }
  return {Q, R};
}

// The product of reflections as I - V T V^T, with T = (I + D S)^-1 D. D is diag(tau), and S is the part of
// V^T V above the diagonal (Joffrain, Low, Quintana-Orti, van de Geijn and Van Zee 2006). T is computed by
// differentiable ops.
struct Reflections {
  Variable V, T;
  Reflections(const char* op, const Variable& A, const Variable& tau) {
    check_matrices(op, A, "input");
    common_device(op, A, tau);
    const std::int64_t m = rows_of(A), n = cols_of(A);
    EBB_CHECK(tau.defined() && tau.dim() + 1 == A.dim() && tau.dtype() == A.dtype() &&
                  tau.sizes().slice(0, tau.sizes().size() - 1) == batch_of(A),
              op, ": expected tau with the batch and dtype of input and one dimension less, got shapes ",
              tau.defined() ? tau.sizes() : IntArrayRef(), " and ", A.sizes(), ".");
    const std::int64_t k = tau.size(-1);
    EBB_CHECK(m >= n, op, ": input.shape[-2] must be greater than or equal to input.shape[-1], got shape ",
              A.sizes(), ".");
    EBB_CHECK(n >= k, op, ": input.shape[-1] must be greater than or equal to tau.shape[-1], got shapes ",
              A.sizes(), " and ", tau.sizes(), ".");
    const auto options = TensorOptions().dtype(A.dtype()).device(A.device());
    V = A.narrow(-1, 0, k).tril(-1) + eye(m, k, options);
    const Variable factors = tau.unsqueeze(-1);
    T = linalg::solve_triangular(factors * matmul(V.mT(), V).triu(1), tau.diag_embed(), true, true, true);
  }
};

}  // namespace

namespace linalg {

std::tuple<Variable, Variable> qr(const Variable& A, std::string_view mode) {
  EBB_AUTOCAST(qr, A, mode);
  return qr_of("linalg.qr", A, mode);
}

Variable householder_product(const Variable& A, const Variable& tau) {
  EBB_AUTOCAST(householder_product, A, tau);
  const Reflections h("linalg.householder_product", A, tau);
  const std::int64_t m = rows_of(A), n = cols_of(A);
  const Variable start = eye(m, n, TensorOptions().dtype(A.dtype()).device(A.device()));
  return start - ebb::matmul(h.V, ebb::matmul(h.T, h.V.narrow(-2, 0, n).mT()));
}

}  // namespace linalg

std::tuple<Variable, Variable> qr(const Variable& self, bool some) {
  EBB_AUTOCAST(qr, self, some);
  return qr_of("qr", self, some ? "reduced" : "complete");
}

std::tuple<Variable, Variable> geqrf(const Variable& self) {
  EBB_AUTOCAST(geqrf, self);
  check_matrices("geqrf", self, "input");
  const Factors factors = factor_qr(self);
  Variable a(factors.a), tau(factors.tau);
  if (const auto node = record_results<NotDifferentiable>({&a, &tau}, self)) node->op = "geqrf";
  return {a, tau};
}

Variable orgqr(const Variable& self, const Variable& input2) {
  return linalg::householder_product(self, input2);
}

Variable ormqr(const Variable& self, const Variable& input2, const Variable& input3, bool left,
               bool transpose) {
  EBB_AUTOCAST(ormqr, self, input2, input3, left, transpose);
  check_operands("ormqr", self, input3);
  // If self is wide, only its first rows_of(self) columns contain reflections. The other columns belong to
  // the R of geqrf.
  const bool wide = self.dim() >= 2 && cols_of(self) > rows_of(self);
  const Reflections h("ormqr", wide ? self.narrow(-1, 0, rows_of(self)) : self, input2);
  const std::int64_t m = rows_of(self), size = left ? rows_of(input3) : cols_of(input3);
  EBB_CHECK(size == m && batch_of(input3) == batch_of(self), "ormqr: other.shape[", left ? -2 : -1,
            "] must be equal to input.shape[-2], and the batches too, got shapes ", input3.sizes(), " and ",
            self.sizes(), ".");
  const std::int64_t reflections = input2.size(-1), most = std::min(m, cols_of(self));
  EBB_CHECK(reflections == most, "ormqr: tau.shape[-1] must be equal to min(other.shape[", left ? -2 : -1,
            "], input.shape[-1]) = ", most, ", got ", reflections, " for shapes ", input3.sizes(), " and ",
            self.sizes(), ".");
  const Variable T = transpose ? h.T.mT() : h.T;
  if (left) return input3 - matmul(h.V, matmul(T, matmul(h.V.mT(), input3)));
  return input3 - matmul(matmul(matmul(input3, h.V), T), h.V.mT());
}

}  // namespace ebb
