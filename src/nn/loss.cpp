#include <ebb/nn/functional/loss.h>
#include <ebb/nn/modules/loss.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/softmax.h>

#include <ostream>

#include "nn/module_tools.h"

namespace ebb::nn {

namespace F = functional;

L1LossImpl::L1LossImpl(L1LossOptions options_) : options(std::move(options_)) { L1LossImpl::reset(); }
void L1LossImpl::reset() {}
Variable L1LossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::l1_loss(input, target, options); });
}
void L1LossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::L1Loss()"; }

KLDivLossImpl::KLDivLossImpl(KLDivLossOptions options_) : options(std::move(options_)) {
  KLDivLossImpl::reset();
}
void KLDivLossImpl::reset() {}
Variable KLDivLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::kl_div(input, target, options); });
}
void KLDivLossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::KLDivLoss()"; }

MSELossImpl::MSELossImpl(MSELossOptions options_) : options(std::move(options_)) { MSELossImpl::reset(); }
void MSELossImpl::reset() {}
Variable MSELossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::mse_loss(input, target, options); });
}
void MSELossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::MSELoss()"; }

BCELossImpl::BCELossImpl(BCELossOptions options_) : options(std::move(options_)) { BCELossImpl::reset(); }
void BCELossImpl::reset() { weight = register_buffer("weight", options.weight()); }
Variable BCELossImpl::forward(const Variable& input, const Variable& target) {
  auto with_buffers = options;
  with_buffers.weight(weight);
  return at_path(*this, [&] { return F::binary_cross_entropy(input, target, with_buffers); });
}
void BCELossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::BCELoss()"; }

HingeEmbeddingLossImpl::HingeEmbeddingLossImpl(HingeEmbeddingLossOptions options_)
    : options(std::move(options_)) {
  HingeEmbeddingLossImpl::reset();
}
void HingeEmbeddingLossImpl::reset() {}
Variable HingeEmbeddingLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::hinge_embedding_loss(input, target, options); });
}
void HingeEmbeddingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::HingeEmbeddingLoss(margin=" << options.margin() << ")";
}

MultiMarginLossImpl::MultiMarginLossImpl(MultiMarginLossOptions options_) : options(std::move(options_)) {
  MultiMarginLossImpl::reset();
}
void MultiMarginLossImpl::reset() { weight = register_buffer("weight", options.weight()); }
Variable MultiMarginLossImpl::forward(const Variable& input, const Variable& target) {
  auto with_buffers = options;
  with_buffers.weight(weight);
  return at_path(*this, [&] { return F::multi_margin_loss(input, target, with_buffers); });
}
void MultiMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::MultiMarginLoss(p=" << options.p() << ", margin=" << options.margin()
         << ", weight=" << options.weight() << ", reduction=" << options.reduction().name() << ")";
}

CosineEmbeddingLossImpl::CosineEmbeddingLossImpl(CosineEmbeddingLossOptions options_)
    : options(std::move(options_)) {
  CosineEmbeddingLossImpl::reset();
}
void CosineEmbeddingLossImpl::reset() {}
Variable CosineEmbeddingLossImpl::forward(const Variable& input1, const Variable& input2,
                                          const Variable& target) {
  return at_path(*this, [&] { return F::cosine_embedding_loss(input1, input2, target, options); });
}
void CosineEmbeddingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::CosineEmbeddingLoss(margin=" << options.margin() << ")";
}

MultiLabelMarginLossImpl::MultiLabelMarginLossImpl(MultiLabelMarginLossOptions options_)
    : options(std::move(options_)) {
  MultiLabelMarginLossImpl::reset();
}
void MultiLabelMarginLossImpl::reset() {}
Variable MultiLabelMarginLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::multilabel_margin_loss(input, target, options); });
}
void MultiLabelMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::MultiLabelMarginLoss()";
}

SoftMarginLossImpl::SoftMarginLossImpl(SoftMarginLossOptions options_) : options(std::move(options_)) {
  SoftMarginLossImpl::reset();
}
void SoftMarginLossImpl::reset() {}
Variable SoftMarginLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::soft_margin_loss(input, target, options); });
}
void SoftMarginLossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::SoftMarginLoss()"; }

MultiLabelSoftMarginLossImpl::MultiLabelSoftMarginLossImpl(MultiLabelSoftMarginLossOptions options_)
    : options(std::move(options_)) {
  MultiLabelSoftMarginLossImpl::reset();
}
void MultiLabelSoftMarginLossImpl::reset() { weight = register_buffer("weight", options.weight()); }
Variable MultiLabelSoftMarginLossImpl::forward(const Variable& input, const Variable& target) {
  auto with_buffers = options;
  with_buffers.weight(weight);
  return at_path(*this, [&] { return F::multilabel_soft_margin_loss(input, target, with_buffers); });
}
void MultiLabelSoftMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::MultiLabelSoftMarginLoss()";
}

TripletMarginLossImpl::TripletMarginLossImpl(TripletMarginLossOptions options_)
    : options(std::move(options_)) {
  TripletMarginLossImpl::reset();
}
void TripletMarginLossImpl::reset() {}
Variable TripletMarginLossImpl::forward(const Variable& anchor, const Variable& positive,
                                        const Variable& negative) {
  return at_path(*this, [&] { return F::triplet_margin_loss(anchor, positive, negative, options); });
}
void TripletMarginLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::TripletMarginLoss(margin=" << options.margin() << ", p=" << options.p()
         << ", eps=" << options.eps() << ", swap=" << (options.swap() ? "true" : "false") << ")";
}

SmoothL1LossImpl::SmoothL1LossImpl(SmoothL1LossOptions options_) : options(std::move(options_)) {
  SmoothL1LossImpl::reset();
}
void SmoothL1LossImpl::reset() {}
Variable SmoothL1LossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::smooth_l1_loss(input, target, options, options.beta()); });
}
void SmoothL1LossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::SmoothL1Loss"; }

HuberLossImpl::HuberLossImpl(HuberLossOptions options_) : options(std::move(options_)) {
  HuberLossImpl::reset();
}
void HuberLossImpl::reset() {}
Variable HuberLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::huber_loss(input, target, options); });
}
void HuberLossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::HuberLoss"; }

PoissonNLLLossImpl::PoissonNLLLossImpl(PoissonNLLLossOptions options_) : options(std::move(options_)) {
  PoissonNLLLossImpl::reset();
}
void PoissonNLLLossImpl::reset() {}
Variable PoissonNLLLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] { return F::poisson_nll_loss(input, target, options); });
}
void PoissonNLLLossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::PoissonNLLLoss()"; }

MarginRankingLossImpl::MarginRankingLossImpl(MarginRankingLossOptions options_)
    : options(std::move(options_)) {
  MarginRankingLossImpl::reset();
}
void MarginRankingLossImpl::reset() {}
Variable MarginRankingLossImpl::forward(const Variable& input1, const Variable& input2,
                                        const Variable& target) {
  return at_path(*this, [&] { return F::margin_ranking_loss(input1, input2, target, options); });
}
void MarginRankingLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::MarginRankingLoss()";
}

NLLLossImpl::NLLLossImpl(NLLLossOptions options_) : options(std::move(options_)) { NLLLossImpl::reset(); }
void NLLLossImpl::reset() { weight = register_buffer("weight", options.weight()); }
Variable NLLLossImpl::forward(const Variable& input, const Variable& target) {
  auto with_buffers = options;
  with_buffers.weight(weight);
  return at_path(*this, [&] { return F::nll_loss(input, target, with_buffers); });
}
void NLLLossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::NLLLoss()"; }

CrossEntropyLossImpl::CrossEntropyLossImpl(CrossEntropyLossOptions options_) : options(std::move(options_)) {
  CrossEntropyLossImpl::reset();
}
void CrossEntropyLossImpl::reset() { weight = register_buffer("weight", options.weight()); }
Variable CrossEntropyLossImpl::forward(const Variable& input, const Variable& target) {
  auto with_buffers = options;
  with_buffers.weight(weight);
  return at_path(*this, [&] { return F::cross_entropy(input, target, with_buffers); });
}
void CrossEntropyLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::CrossEntropyLoss()";
}

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_)
    : options(std::move(options_)) {
  BCEWithLogitsLossImpl::reset();
}
void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", options.weight());
  pos_weight = register_buffer("pos_weight", options.pos_weight());
}
Variable BCEWithLogitsLossImpl::forward(const Variable& input, const Variable& target) {
  auto with_buffers = options;
  with_buffers.weight(weight);
  with_buffers.pos_weight(pos_weight);
  return at_path(*this, [&] { return F::binary_cross_entropy_with_logits(input, target, with_buffers); });
}
void BCEWithLogitsLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::BCEWithLogitsLoss()";
}

GaussianNLLLossImpl::GaussianNLLLossImpl(GaussianNLLLossOptions options_) : options(std::move(options_)) {
  GaussianNLLLossImpl::reset();
}
void GaussianNLLLossImpl::reset() {}
Variable GaussianNLLLossImpl::forward(const Variable& input, const Variable& target,
                                      const Variable& variance) {
  return at_path(*this, [&] { return F::gaussian_nll_loss(input, target, variance, options); });
}
void GaussianNLLLossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::GaussianNLLLoss()"; }

}  // namespace ebb::nn
