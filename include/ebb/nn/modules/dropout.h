// Dropouts and distances as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/options/dropout.h>

namespace ebb::nn {

/// Zeroes elements with probability p and scales the others by 1 / (1 - p), in training.
class EBB_API DropoutImpl : public Cloneable<DropoutImpl> {
 public:
  explicit DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}
  explicit DropoutImpl(DropoutOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  DropoutOptions options;
};
EBB_MODULE(Dropout);

/// Dropout of whole channels.
class EBB_API Dropout2dImpl : public Cloneable<Dropout2dImpl> {
 public:
  explicit Dropout2dImpl(double p) : Dropout2dImpl(Dropout2dOptions(p)) {}
  explicit Dropout2dImpl(Dropout2dOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  Dropout2dOptions options;
};
EBB_MODULE(Dropout2d);

/// Dropout of whole channels.
class EBB_API Dropout3dImpl : public Cloneable<Dropout3dImpl> {
 public:
  explicit Dropout3dImpl(double p) : Dropout3dImpl(Dropout3dOptions(p)) {}
  explicit Dropout3dImpl(Dropout3dOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  Dropout3dOptions options;
};
EBB_MODULE(Dropout3d);

/// Dropout that keeps mean and variance after SELU.
class EBB_API AlphaDropoutImpl : public Cloneable<AlphaDropoutImpl> {
 public:
  explicit AlphaDropoutImpl(double p) : AlphaDropoutImpl(AlphaDropoutOptions(p)) {}
  explicit AlphaDropoutImpl(AlphaDropoutOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  AlphaDropoutOptions options;
};
EBB_MODULE(AlphaDropout);

/// AlphaDropout of whole channels.
class EBB_API FeatureAlphaDropoutImpl : public Cloneable<FeatureAlphaDropoutImpl> {
 public:
  explicit FeatureAlphaDropoutImpl(double p) : FeatureAlphaDropoutImpl(FeatureAlphaDropoutOptions(p)) {}
  explicit FeatureAlphaDropoutImpl(FeatureAlphaDropoutOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  FeatureAlphaDropoutOptions options;
};
EBB_MODULE(FeatureAlphaDropout);

/// cos(x1, x2) along dim.
class EBB_API CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(CosineSimilarityOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& x1, const Variable& x2);

  CosineSimilarityOptions options;
};
EBB_MODULE(CosineSimilarity);

/// |x1 - x2 + eps|_p along the last dimension.
class EBB_API PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(PairwiseDistanceOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& x1, const Variable& x2);

  PairwiseDistanceOptions options;
};
EBB_MODULE(PairwiseDistance);

}  // namespace ebb::nn
