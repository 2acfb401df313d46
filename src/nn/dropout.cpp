#include <ebb/nn/functional/dropout.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/nn/modules/dropout.h>

#include <ostream>

#include "nn/module_tools.h"

namespace ebb::nn {

namespace F = functional;

namespace {

void check_probability(double p) {
  EBB_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

template <class FuncOptions>
FuncOptions func_options(const DropoutOptions& options, bool training) {
  return FuncOptions().p(options.p()).training(training).inplace(options.inplace());
}

void print(std::ostream& stream, const char* name, const DropoutOptions& options) {
  stream << "ebb::nn::" << name << "(p=" << options.p()
         << ", inplace=" << (options.inplace() ? "true)" : "false)");
}

}  // namespace

DropoutImpl::DropoutImpl(DropoutOptions options_) : options(options_) { DropoutImpl::reset(); }
void DropoutImpl::reset() { check_probability(options.p()); }
Variable DropoutImpl::forward(const Variable& input) {
  return at_path(
      *this, [&] { return F::dropout(input, func_options<F::DropoutFuncOptions>(options, is_training())); });
}
void DropoutImpl::pretty_print(std::ostream& stream) const { print(stream, "Dropout", options); }

Dropout2dImpl::Dropout2dImpl(Dropout2dOptions options_) : options(options_) { Dropout2dImpl::reset(); }
void Dropout2dImpl::reset() { check_probability(options.p()); }
Variable Dropout2dImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::dropout2d(input, func_options<F::DropoutFuncOptions>(options, is_training()));
  });
}
void Dropout2dImpl::pretty_print(std::ostream& stream) const { print(stream, "Dropout2d", options); }

Dropout3dImpl::Dropout3dImpl(Dropout3dOptions options_) : options(options_) { Dropout3dImpl::reset(); }
void Dropout3dImpl::reset() { check_probability(options.p()); }
Variable Dropout3dImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::dropout3d(input, func_options<F::DropoutFuncOptions>(options, is_training()));
  });
}
void Dropout3dImpl::pretty_print(std::ostream& stream) const { print(stream, "Dropout3d", options); }

AlphaDropoutImpl::AlphaDropoutImpl(AlphaDropoutOptions options_) : options(options_) {
  AlphaDropoutImpl::reset();
}
void AlphaDropoutImpl::reset() { check_probability(options.p()); }
Variable AlphaDropoutImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::alpha_dropout(input, func_options<F::AlphaDropoutFuncOptions>(options, is_training()));
  });
}
void AlphaDropoutImpl::pretty_print(std::ostream& stream) const { print(stream, "AlphaDropout", options); }

FeatureAlphaDropoutImpl::FeatureAlphaDropoutImpl(FeatureAlphaDropoutOptions options_) : options(options_) {
  FeatureAlphaDropoutImpl::reset();
}
void FeatureAlphaDropoutImpl::reset() { check_probability(options.p()); }
Variable FeatureAlphaDropoutImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::feature_alpha_dropout(input, func_options<F::AlphaDropoutFuncOptions>(options, is_training()));
  });
}
void FeatureAlphaDropoutImpl::pretty_print(std::ostream& stream) const {
  print(stream, "FeatureAlphaDropout", options);
}

CosineSimilarityImpl::CosineSimilarityImpl(CosineSimilarityOptions options_) : options(std::move(options_)) {
  CosineSimilarityImpl::reset();
}
void CosineSimilarityImpl::reset() {}
Variable CosineSimilarityImpl::forward(const Variable& x1, const Variable& x2) {
  return at_path(*this, [&] { return F::cosine_similarity(x1, x2, options); });
}
void CosineSimilarityImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::CosineSimilarity("
         << "dim=" << options.dim() << ", eps=" << options.eps() << ")";
}

PairwiseDistanceImpl::PairwiseDistanceImpl(PairwiseDistanceOptions options_) : options(std::move(options_)) {
  PairwiseDistanceImpl::reset();
}
void PairwiseDistanceImpl::reset() {}
Variable PairwiseDistanceImpl::forward(const Variable& x1, const Variable& x2) {
  return at_path(*this, [&] { return F::pairwise_distance(x1, x2, options); });
}
void PairwiseDistanceImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::PairwiseDistance("
         << "p=" << options.p() << ", eps=" << options.eps()
         << ", keepdim=" << (options.keepdim() ? "true)" : "false)");
}

}  // namespace ebb::nn
