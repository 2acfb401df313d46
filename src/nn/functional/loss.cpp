#include <ebb/autograd/grad_mode.h>
#include <ebb/core/warning.h>
#include <ebb/nn/functional/loss.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/softmax.h>

#include <cmath>
#include <numbers>

namespace ebb::nn::functional {

namespace {

template <class Holder>
std::int64_t as_int(Holder reduction) {
  if (reduction.template is<enumtype::kNone>()) return Reduction::None;
  return reduction.template is<enumtype::kMean>() ? Reduction::Mean : Reduction::Sum;
}

Variable reduce(const Variable& loss, std::int64_t reduction) {
  return reduction == Reduction::None ? loss : reduction == Reduction::Mean ? loss.mean() : loss.sum();
}

// A target of another shape broadcasts: (N, 1) against (N) gives N^2 differences that nobody meant.
void check_size(const Variable& input, const Variable& target) {
  if (!input.defined() || !target.defined() || input.sizes() == target.sizes()) return;
  warn("Using a target size (", target.sizes(), ") that is different to the input size (", input.sizes(),
       "). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same "
       "size.");
}

}  // namespace

Variable l1_loss(const Variable& input, const Variable& target, const L1LossFuncOptions& o) {
  check_size(input, target);
  return ebb::l1_loss(input, target, as_int(o.reduction()));
}
Variable mse_loss(const Variable& input, const Variable& target, const MSELossFuncOptions& o) {
  check_size(input, target);
  return ebb::mse_loss(input, target, as_int(o.reduction()));
}
Variable smooth_l1_loss(const Variable& input, const Variable& target, const SmoothL1LossFuncOptions& o,
                        double beta) {
  check_size(input, target);
  return ebb::smooth_l1_loss(input, target, as_int(o.reduction()), beta);
}
Variable huber_loss(const Variable& input, const Variable& target, const HuberLossFuncOptions& o) {
  check_size(input, target);
  return ebb::huber_loss(input, target, as_int(o.reduction()), o.delta());
}
Variable kl_div(const Variable& input, const Variable& target, const KLDivFuncOptions& o) {
  const bool batch_mean = o.reduction().is<enumtype::kBatchMean>();
  const Variable loss = ebb::kl_div(input, target, as_int(o.reduction()), o.log_target());
  return batch_mean && input.dim() != 0 ? loss / input.size(0) : loss;
}
Variable binary_cross_entropy(const Variable& input, const Variable& target,
                              const BinaryCrossEntropyFuncOptions& o) {
  EBB_CHECK(!input.defined() || !target.defined() || target.sizes() == input.sizes(),
            "binary_cross_entropy: Using a target size (", target.sizes(),
            ") that is different to the input size (", input.sizes(),
            ") is deprecated. Please ensure they have the same size.");
  return ebb::binary_cross_entropy(input, target, o.weight(), as_int(o.reduction()));
}
Variable binary_cross_entropy_with_logits(const Variable& input, const Variable& target,
                                          const BinaryCrossEntropyWithLogitsFuncOptions& o) {
  EBB_CHECK(target.sizes() == input.sizes(), "binary_cross_entropy_with_logits: Target size (",
            target.sizes(), ") must be the same as input size (", input.sizes(), ")");
  return ebb::binary_cross_entropy_with_logits(input, target, o.weight(), o.pos_weight(),
                                               as_int(o.reduction()));
}
Variable hinge_embedding_loss(const Variable& input, const Variable& target,
                              const HingeEmbeddingLossFuncOptions& o) {
  return ebb::hinge_embedding_loss(input, target, o.margin(), as_int(o.reduction()));
}
Variable multi_margin_loss(const Variable& input, const Variable& target,
                           const MultiMarginLossFuncOptions& o) {
  return ebb::multi_margin_loss(input, target, o.p(), o.margin(), o.weight(), as_int(o.reduction()));
}
Variable cosine_embedding_loss(const Variable& input1, const Variable& input2, const Variable& target,
                               const CosineEmbeddingLossFuncOptions& o) {
  return ebb::cosine_embedding_loss(input1, input2, target, o.margin(), as_int(o.reduction()));
}
Variable multilabel_margin_loss(const Variable& input, const Variable& target,
                                const MultilabelMarginLossFuncOptions& o) {
  return ebb::multilabel_margin_loss(input, target, as_int(o.reduction()));
}
Variable soft_margin_loss(const Variable& input, const Variable& target, const SoftMarginLossFuncOptions& o) {
  return ebb::soft_margin_loss(input, target, as_int(o.reduction()));
}

Variable multilabel_soft_margin_loss(const Variable& input, const Variable& target,
                                     const MultilabelSoftMarginLossFuncOptions& o) {
  Variable loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input));
  if (o.weight().defined()) loss = loss * o.weight();
  const std::int64_t class_dim = input.dim() - 1;
  return reduce(loss.sum(class_dim) / input.size(class_dim), as_int(o.reduction()));
}

Variable triplet_margin_loss(const Variable& anchor, const Variable& positive, const Variable& negative,
                             const TripletMarginLossFuncOptions& o) {
  return ebb::triplet_margin_loss(anchor, positive, negative, o.margin(), o.p(), o.eps(), o.swap(),
                                  as_int(o.reduction()));
}

Variable poisson_nll_loss(const Variable& input, const Variable& target, const PoissonNLLLossFuncOptions& o) {
  return ebb::poisson_nll_loss(input, target, o.log_input(), o.full(), o.eps(), as_int(o.reduction()));
}

Variable margin_ranking_loss(const Variable& input1, const Variable& input2, const Variable& target,
                             const MarginRankingLossFuncOptions& o) {
  EBB_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: ",
            input1.sizes(), ", input2: ", input2.sizes(), ", target: ", target.sizes());
  return ebb::margin_ranking_loss(input1, input2, target, o.margin(), as_int(o.reduction()));
}

Variable nll_loss(const Variable& input, const Variable& target, const NLLLossFuncOptions& o) {
  EBB_CHECK(input.dim() >= 2, "nll_loss: Expected 2 or more dimensions (got ", input.dim(), ")");
  EBB_CHECK(input.size(0) == target.size(0), "Expected input batch_size (", input.size(0),
            ") to match target batch_size (", target.size(0), ").");
  return ebb::nll_loss_nd(input, target, o.weight(), as_int(o.reduction()), o.ignore_index());
}

Variable cross_entropy(const Variable& input, const Variable& target, const CrossEntropyFuncOptions& o) {
  return ebb::cross_entropy_loss(input, target, o.weight(), as_int(o.reduction()), o.ignore_index(),
                                 o.label_smoothing());
}

Variable gaussian_nll_loss(const Variable& input, const Variable& target, const Variable& variance,
                           const GaussianNLLLossFuncOptions& o) {
  Variable v = variance;
  if (v.sizes() != input.sizes()) {
    if (v.dim() + 1 == input.dim()) v = v.unsqueeze(-1);
    EBB_CHECK(v.dim() == input.dim() && v.size(-1) == 1, "gaussian_nll_loss: the variance's size ",
              variance.sizes(), " fits neither the input's, ", input.sizes(),
              ", nor that with one value a row.");
  }
  EBB_CHECK(!(v.detach() < 0).any().item<bool>(), "gaussian_nll_loss: var has negative entry/entries");
  v = v.clone();
  {
    NoGradGuard no_grad;  // as in PyTorch, the clamp passes the gradient on
    v.detach().clamp_min_(o.eps());
  }
  const Variable difference = input - target;
  Variable loss = 0.5 * (v.log() + difference * difference / v);
  if (o.full()) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return reduce(loss, as_int(o.reduction()));
}

}  // namespace ebb::nn::functional
