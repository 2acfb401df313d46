// Losses composed of other differentiable ops: l1_loss, kl_div, the margin losses and others.
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/reduce.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/loss/loss.h"

#include <numbers>

namespace ebb {

using ops::check_reduction;
using ops::reduce_loss;

namespace {

/// Checks the class scores of a multi-class margin loss.
void check_scores(const char* op, const Variable& x) {
  EBB_CHECK(x.dim() <= 2 && (x.dim() == 0 || x.size(-1) > 0), op,
            ": expected scores of shape (C) or (N, C) with one or more classes, got ", x.sizes(), ".");
  EBB_CHECK(is_floating(x.dtype()), op, ": expected scores of a floating-point dtype, got ", x.dtype(),
            ". Convert them with .to(ebb::kFloat).");
}

}  // namespace

Variable l1_loss(const Variable& self, const Variable& target, std::int64_t reduction) {
  EBB_AUTOCAST(l1_loss, self, target, reduction);
  ops::common_device("l1_loss", self, target);
  check_reduction("l1_loss", reduction);
  if (ops::on_device(self, target)) return ops::fused_l1_loss(self, target, reduction);
  return reduce_loss((self - target).abs(), reduction);
}

Variable kl_div(const Variable& self, const Variable& target, std::int64_t reduction, bool log_target) {
  EBB_AUTOCAST(kl_div, self, target, reduction, log_target);
  ops::common_device("kl_div", self, target);
  check_reduction("kl_div", reduction);
  EBB_CHECK(is_floating(self.dtype()) && is_floating(target.dtype()),
            "kl_div: Integral inputs not supported, got ", self.dtype(), " and ", target.dtype(),
            ". Convert them with .to(ebb::kFloat).");
  if (ops::on_device(self, target)) return ops::fused_kl_div(self, target, reduction, log_target);
  if (log_target) return reduce_loss(target.exp() * (target - self), reduction);
  return reduce_loss(xlogy(target, target) - target * self, reduction);
}

Variable poisson_nll_loss(const Variable& input, const Variable& target, bool log_input, bool full,
                          double eps, std::int64_t reduction) {
  EBB_AUTOCAST(poisson_nll_loss, input, target, log_input, full, eps, reduction);
  ops::common_device("poisson_nll_loss", input, target);
  check_reduction("poisson_nll_loss", reduction);
  Variable loss = log_input ? input.exp() - target * input : input - target * (input + eps).log();
  if (full) {
    const Variable stirling = target * target.log() - target + 0.5 * (target * (2 * std::numbers::pi)).log();
    loss = loss + stirling.masked_fill(target <= 1, 0);
  }
  return reduce_loss(loss, reduction);
}

Variable hinge_embedding_loss(const Variable& self, const Variable& target, double margin,
                              std::int64_t reduction) {
  EBB_AUTOCAST(hinge_embedding_loss, self, target, margin, reduction);
  ops::common_device("hinge_embedding_loss", self, target);
  check_reduction("hinge_embedding_loss", reduction);
  const Variable zeros = zeros_like(self);
  const Variable hinge = where(target == 1, zeros, (margin - self).clamp_min(0));
  return reduce_loss(hinge + where(target == -1, zeros, self), reduction);
}

Variable margin_ranking_loss(const Variable& input1, const Variable& input2, const Variable& target,
                             double margin, std::int64_t reduction) {
  EBB_AUTOCAST(margin_ranking_loss, input1, input2, target, margin, reduction);
  ops::common_device("margin_ranking_loss", input1, input2, target);
  check_reduction("margin_ranking_loss", reduction);
  return reduce_loss((-target * (input1 - input2) + margin).clamp_min(0), reduction);
}

Variable triplet_margin_loss(const Variable& anchor, const Variable& positive, const Variable& negative,
                             double margin, double p, double eps, bool swap, std::int64_t reduction) {
  EBB_AUTOCAST(triplet_margin_loss, anchor, positive, negative, margin, p, eps, swap, reduction);
  const char* op = "triplet_margin_loss";
  ops::common_device(op, anchor, positive, negative);
  check_reduction(op, reduction);
  EBB_CHECK(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(), op,
            ": all inputs should have the same number of dimensions, got ", anchor.sizes(), ", ",
            positive.sizes(), " and ", negative.sizes(), ".");
  const Variable near = pairwise_distance(anchor, positive, p, eps);
  Variable far = pairwise_distance(anchor, negative, p, eps);
  if (swap) far = minimum(far, pairwise_distance(positive, negative, p, eps));
  return reduce_loss((near - far + margin).clamp_min(0), reduction);
}

Variable cosine_embedding_loss(const Variable& input1, const Variable& input2, const Variable& target,
                               double margin, std::int64_t reduction) {
  EBB_AUTOCAST(cosine_embedding_loss, input1, input2, target, margin, reduction);
  const char* op = "cosine_embedding_loss";
  ops::common_device(op, input1, input2, target);
  check_reduction(op, reduction);
  EBB_CHECK(input1.dim() <= 2 && input1.dim() == target.dim() + 1 && input1.sizes() == input2.sizes(), op,
            ": expected inputs of one shape, (N, D) with a target (N) or (D) with a single target; got ",
            input1.sizes(), ", ", input2.sizes(), " and target ", target.sizes(), ".");
  constexpr double kEpsilon = 1e-12;
  const std::int64_t dim = target.dim();
  const Variable dot = (input1 * input2).sum(dim);
  const Variable squares = ((input1 * input1).sum(dim) + kEpsilon) * ((input2 * input2).sum(dim) + kEpsilon);
  const Variable cosine = dot / squares.sqrt();
  const Variable zeros = zeros_like(cosine);
  const Variable same = where(target == 1, 1 - cosine, zeros);
  return reduce_loss(same + where(target == -1, (cosine - margin).clamp_min(0), zeros), reduction);
}

Variable multi_margin_loss(const Variable& self, const Variable& target, const Scalar& p,
                           const Scalar& margin, const optional<Variable>& weight, std::int64_t reduction) {
  EBB_AUTOCAST(multi_margin_loss, self, target, p, margin, weight, reduction);
  const char* op = "multi_margin_loss";
  const Variable w = weight.value_or(Variable());
  ops::common_device(op, self, target, w);
  check_reduction(op, reduction);
  EBB_CHECK(p.to<double>() == 1 || p.to<double>() == 2, op, ": only p == 1 and p == 2 supported, got ", p,
            ".");
  check_scores(op, self);
  const Variable x = self.dim() < 2 ? self.reshape({1, -1}) : self;
  EBB_CHECK(target.dtype() == kLong, op, ": expected a target of dtype Long, got ", target.dtype(),
            ". Convert it with .to(ebb::kLong).");
  EBB_CHECK(target.dim() <= 1 && target.numel() == x.size(0), op,
            ": target tensor should be 1-D with size equal to the number of input samples, expected [",
            x.size(0), "] but got ", target.sizes(), ".");
  if (w.defined()) {
    EBB_CHECK(w.dim() == 1 && w.numel() == x.size(1), op, ": weight must be one-dimensional, expected [",
              x.size(1), "] but got ", w.sizes(), ".");
    ops::check_same_dtype(op, self, w);
    ops::check_no_gradient(op, "weight", w);
  }
  const Variable t = target.reshape({target.numel(), 1});
  Variable terms = (margin - x.gather(1, t) + x).clamp_min(0);
  if (p.to<double>() == 2) terms = terms * terms;
  if (w.defined()) terms = terms * w.index_select(0, t.flatten()).unsqueeze(1);
  const Variable others = ones_like(terms.detach()).scatter(1, t, 0);
  const Variable loss = (terms * others).sum(1) / x.size(1);
  return reduce_loss(self.dim() < 2 ? loss.squeeze(0) : loss, reduction);
}

Variable multilabel_margin_loss(const Variable& self, const Variable& target, std::int64_t reduction) {
  EBB_AUTOCAST(multilabel_margin_loss, self, target, reduction);
  const char* op = "multilabel_margin_loss";
  ops::common_device(op, self, target);
  check_reduction(op, reduction);
  check_scores(op, self);
  EBB_CHECK(self.sizes() == target.sizes(), op,
            ": expected input and target of one shape, (C) or (N, C); got ", self.sizes(), " and ",
            target.sizes(), ".");
  EBB_CHECK(target.dtype() == kLong, op, ": expected a target of dtype Long, got ", target.dtype(),
            ". Convert it with .to(ebb::kLong).");
  if (self.is_cpu() && target.numel() > 0)  // on a device this check would synchronize
    ops::check_true(op, (target >= -1).all(),
                    "target is out of range. List classes from 0, and end a list with -1.");
  const Variable x = self.dim() < 2 ? self.reshape({1, -1}) : self;
  const Variable t = self.dim() < 2 ? target.reshape({1, -1}) : target;
  const Variable listed = (t < 0).cumsum(1) == 0;  // true for the labels before the first -1
  const Variable labels = t.clamp_min(0);
  const Variable is_label = zeros_like(x.detach()).scatter_add_(1, labels, listed.to(x.dtype()));
  const Variable pairs = (1 - x.gather(1, labels).unsqueeze(2) + x.unsqueeze(1)).clamp_min(0);
  const Variable counted = listed.unsqueeze(2).logical_and((is_label == 0).unsqueeze(1));
  const Variable loss = (pairs * counted.to(x.dtype())).sum({1, 2}) / x.size(1);
  return reduce_loss(self.dim() < 2 ? loss.squeeze(0) : loss, reduction);
}

}  // namespace ebb
