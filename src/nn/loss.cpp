// Loss functions and modules.
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/warning.h>
#include <ebb/nn/modules/loss.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/module_tools.h"
#include "nn/stateless.h"
#include "ops/common/checks.h"

#include <cmath>
#include <numbers>

namespace ebb::nn {

namespace functional {

namespace {

template <class Holder>
std::int64_t as_int(Holder reduction) {
  if (reduction.template is<enumtype::kNone>()) return Reduction::None;
  return reduction.template is<enumtype::kMean>() ? Reduction::Mean : Reduction::Sum;
}

Variable reduce(const Variable& loss, std::int64_t reduction) {
  return reduction == Reduction::None ? loss : reduction == Reduction::Mean ? loss.mean() : loss.sum();
}

// Warns about a target with a shape other than the input's. For example, (N, 1) and (N) broadcast to N^2
// differences, which is rarely intended.
void check_size(const char* op, const Variable& input, const Variable& target) {
  if (!input.defined() || !target.defined() || input.sizes() == target.sizes()) return;
  warn(op, ": Using a target size (", target.sizes(), ") that is different to the input size (",
       input.sizes(),
       "). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same "
       "size.");
}

}  // namespace

Variable l1_loss(const Variable& input, const Variable& target, const L1LossFuncOptions& o) {
  check_size("l1_loss", input, target);
  return ebb::l1_loss(input, target, as_int(o.reduction()));
}
Variable mse_loss(const Variable& input, const Variable& target, const MSELossFuncOptions& o) {
  check_size("mse_loss", input, target);
  return ebb::mse_loss(input, target, as_int(o.reduction()));
}
Variable smooth_l1_loss(const Variable& input, const Variable& target, const SmoothL1LossFuncOptions& o,
                        double beta) {
  check_size("smooth_l1_loss", input, target);
  return ebb::smooth_l1_loss(input, target, as_int(o.reduction()), beta);
}
Variable huber_loss(const Variable& input, const Variable& target, const HuberLossFuncOptions& o) {
  check_size("huber_loss", input, target);
  return ebb::huber_loss(input, target, as_int(o.reduction()), o.delta());
}
Variable kl_div(const Variable& input, const Variable& target, const KLDivFuncOptions& o) {
  const bool batch_mean = o.reduction().is<enumtype::kBatchMean>();
  if (o.reduction().is<enumtype::kMean>())
    warn(
        "kl_div: reduction kMean divides the total loss by both the batch size and the support size. "
        "kBatchMean divides by the batch size alone and gives the divergence.");
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
  EBB_CHECK(o.margin() > 0, "triplet_margin_loss: margin must be greater than 0, got ", o.margin(), ".");
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
  ops::check_true("gaussian_nll_loss", (variance.detach() < 0).any().logical_not(),
                  "var has negative entry/entries");
  Variable v = variance;
  if (v.sizes() != input.sizes()) {
    // `var` may lack the last dimension (one value per row), or have size 1 in one dimension.
    if (v.dim() + 1 == input.dim() && v.sizes() == input.sizes().slice(0, v.dim())) v = v.unsqueeze(-1);
    std::int64_t other = v.dim() == input.dim() ? 0 : 2;
    for (std::int64_t d = 0; d < v.dim() && other < 2; ++d)
      if (v.size(d) != input.size(d)) other += v.size(d);
    EBB_CHECK(other == 1 || v.sizes() == input.sizes(), "gaussian_nll_loss: var is of incorrect size ",
              variance.sizes(), ". Give one value for each element of the input, ", input.sizes(),
              ", one for each row, or a size of 1 along one of its dimensions.");
  }
  v = v.clone();
  {
    NoGradGuard no_grad;  // as in PyTorch, the gradient ignores the clamp
    v.detach().clamp_min_(o.eps());
  }
  const Variable difference = input - target;
  Variable loss = 0.5 * (v.log() + difference * difference / v);
  if (o.full()) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return reduce(loss, as_int(o.reduction()));
}

}  // namespace functional

namespace F = functional;

EBB_STATELESS_AS(F::l1_loss, L1LossImpl, L1LossOptions, Variable, Variable);
EBB_STATELESS_AS(F::kl_div, KLDivLossImpl, KLDivLossOptions, Variable, Variable);
EBB_STATELESS_AS(F::mse_loss, MSELossImpl, MSELossOptions, Variable, Variable);

static void print(Fields& out, const HingeEmbeddingLossOptions& o) { out("margin", o.margin()); }
EBB_STATELESS_AS(F::hinge_embedding_loss, HingeEmbeddingLossImpl, HingeEmbeddingLossOptions, Variable,
                 Variable);
EBB_STATELESS_AS(F::multilabel_margin_loss, MultiLabelMarginLossImpl, MultiLabelMarginLossOptions, Variable,
                 Variable);
EBB_STATELESS_AS(F::soft_margin_loss, SoftMarginLossImpl, SoftMarginLossOptions, Variable, Variable);

static Variable call(const SmoothL1LossImpl& m, const Variable& x, const Variable& y) {
  return F::smooth_l1_loss(x, y, m.options, m.options.beta());
}
static void print(Fields& out, const SmoothL1LossOptions&) { out.none(); }
EBB_STATELESS(SmoothL1LossImpl, SmoothL1LossOptions, Variable, Variable);

static void print(Fields& out, const HuberLossOptions&) { out.none(); }
EBB_STATELESS_AS(F::huber_loss, HuberLossImpl, HuberLossOptions, Variable, Variable);
EBB_STATELESS_AS(F::poisson_nll_loss, PoissonNLLLossImpl, PoissonNLLLossOptions, Variable, Variable);

static void print(Fields& out, const CosineEmbeddingLossOptions& o) { out("margin", o.margin()); }
EBB_STATELESS_AS(F::cosine_embedding_loss, CosineEmbeddingLossImpl, CosineEmbeddingLossOptions, Variable,
                 Variable, Variable);

static void print(Fields& out, const TripletMarginLossOptions& o) {
  out("margin", o.margin())("p", o.p())("eps", o.eps())("swap", o.swap());
}
EBB_STATELESS_AS(F::triplet_margin_loss, TripletMarginLossImpl, TripletMarginLossOptions, Variable, Variable,
                 Variable);
EBB_STATELESS_AS(F::margin_ranking_loss, MarginRankingLossImpl, MarginRankingLossOptions, Variable, Variable,
                 Variable);
EBB_STATELESS_AS(F::gaussian_nll_loss, GaussianNLLLossImpl, GaussianNLLLossOptions, Variable, Variable,
                 Variable);

namespace detail {
template <class Derived, class Options>
WeightedLoss<Derived, Options>::WeightedLoss(Options options_) : options(std::move(options_)) {
  WeightedLoss::reset();
}
template <class Derived, class Options>
void WeightedLoss<Derived, Options>::reset() {
  weight = this->register_buffer("weight", own_handle(options.weight(), weight));
}
template <class Derived, class Options>
void WeightedLoss<Derived, Options>::pretty_print(std::ostream& stream) const {
  Fields out(stream, typeid(Derived));
  print(out, options);
}
template <class Derived, class Options>
Variable WeightedLoss<Derived, Options>::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return call(Options(options).weight(weight), input, target); });
}
}  // namespace detail

/// Instantiates a weighted loss whose forward returns function(input, target, options).
#define EBB_WEIGHTED_LOSS(function, Impl, Options)                                                           \
  static Variable call(const Options& o, const Variable& x, const Variable& y) { return function(x, y, o); } \
  template class detail::WeightedLoss<Impl, Options>;                                                        \
  template class Cloneable<Impl>

EBB_WEIGHTED_LOSS(F::binary_cross_entropy, BCELossImpl, BCELossOptions);

static void print(Fields& out, const MultiMarginLossOptions& o) {
  out("p", o.p())("margin", o.margin())("weight", o.weight())("reduction", o.reduction().name());
}
EBB_WEIGHTED_LOSS(F::multi_margin_loss, MultiMarginLossImpl, MultiMarginLossOptions);
EBB_WEIGHTED_LOSS(F::multilabel_soft_margin_loss, MultiLabelSoftMarginLossImpl,
                  MultiLabelSoftMarginLossOptions);
EBB_WEIGHTED_LOSS(F::nll_loss, NLLLossImpl, NLLLossOptions);
EBB_WEIGHTED_LOSS(F::cross_entropy, CrossEntropyLossImpl, CrossEntropyLossOptions);

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_)
    : options(std::move(options_)) {
  BCEWithLogitsLossImpl::reset();
}
void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", own_handle(options.weight(), weight));
  pos_weight = register_buffer("pos_weight", own_handle(options.pos_weight(), pos_weight));
}
Variable BCEWithLogitsLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] {
    return F::binary_cross_entropy_with_logits(
        input, target, BCEWithLogitsLossOptions(options).weight(weight).pos_weight(pos_weight));
  });
}
void BCEWithLogitsLossImpl::pretty_print(std::ostream& stream) const {
  Fields(stream, typeid(BCEWithLogitsLossImpl));
}
template class Cloneable<BCEWithLogitsLossImpl>;

namespace functional {

Variable ctc_loss(const Variable& log_probs, const Variable& targets, const Variable& input_lengths,
                  const Variable& target_lengths, const CTCLossFuncOptions& o) {
  const std::int64_t reduction = o.reduction() == kNone   ? Reduction::None
                                 : o.reduction() == kMean ? Reduction::Mean
                                                          : Reduction::Sum;
  return ebb::ctc_loss(log_probs, targets, input_lengths, target_lengths, o.blank(), reduction,
                       o.zero_infinity());
}

}  // namespace functional

EBB_STATELESS_AS(functional::ctc_loss, CTCLossImpl, CTCLossOptions, Variable, Variable, Variable, Variable);

namespace functional {

Variable triplet_margin_with_distance_loss(const Variable& anchor, const Variable& positive,
                                           const Variable& negative,
                                           const TripletMarginWithDistanceLossFuncOptions& o) {
  EBB_CHECK(anchor.defined() && positive.defined() && negative.defined() && anchor.dim() == positive.dim() &&
                anchor.dim() == negative.dim(),
            "triplet_margin_with_distance_loss: The anchor, positive, and negative tensors are expected to "
            "have the same number of "
            "dimensions.");
  EBB_CHECK(o.margin() > 0, "triplet_margin_with_distance_loss: margin must be greater than 0, got ",
            o.margin(), ".");
  const auto distance = [&](const Variable& a, const Variable& b) {
    return o.distance_function() ? (*o.distance_function())(a, b) : ebb::pairwise_distance(a, b);
  };
  const Variable near = distance(anchor, positive);
  Variable far = distance(anchor, negative);
  if (o.swap()) far = minimum(far, distance(positive, negative));
  const Variable loss = (near - far + o.margin()).clamp_min(0);
  return o.reduction() == kNone ? loss : o.reduction() == kMean ? loss.mean() : loss.sum();
}

}  // namespace functional

static void print(Fields& out, const TripletMarginWithDistanceLossOptions& o) {
  out("margin", o.margin())("swap", o.swap());
}
EBB_STATELESS_AS(functional::triplet_margin_with_distance_loss, TripletMarginWithDistanceLossImpl,
                 TripletMarginWithDistanceLossOptions, Variable, Variable, Variable);

}  // namespace ebb::nn
