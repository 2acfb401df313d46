// Options of dropout and of the distances.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::nn {

/// Options of the dropouts: p is the probability of zeroing.
class DropoutOptions {
 public:
  DropoutOptions() = default;
  DropoutOptions(double p) : p_(p) {}
  DropoutOptions& p(double value) { return p_ = value, *this; }
  double p() const { return p_; }
  DropoutOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double p_ = 0.5;
  bool inplace_ = false;
};

using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

/// Options of CosineSimilarity.
class CosineSimilarityOptions {
 public:
  CosineSimilarityOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }
  CosineSimilarityOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }

 private:
  std::int64_t dim_ = 1;
  double eps_ = 1e-8;
};

/// Options of PairwiseDistance.
class PairwiseDistanceOptions {
 public:
  PairwiseDistanceOptions& p(double value) { return p_ = value, *this; }
  double p() const { return p_; }
  PairwiseDistanceOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  PairwiseDistanceOptions& keepdim(bool value) { return keepdim_ = value, *this; }
  bool keepdim() const { return keepdim_; }

 private:
  double p_ = 2.0;
  double eps_ = 1e-6;
  bool keepdim_ = false;
};

namespace functional {

/// Options of dropout, dropout2d, dropout3d.
class DropoutFuncOptions {
 public:
  DropoutFuncOptions& p(double value) { return p_ = value, *this; }
  double p() const { return p_; }
  DropoutFuncOptions& training(bool value) { return training_ = value, *this; }
  bool training() const { return training_; }
  DropoutFuncOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double p_ = 0.5;
  bool training_ = true;
  bool inplace_ = false;
};

/// Options of alpha_dropout and feature_alpha_dropout.
class AlphaDropoutFuncOptions {
 public:
  AlphaDropoutFuncOptions& p(double value) { return p_ = value, *this; }
  double p() const { return p_; }
  AlphaDropoutFuncOptions& training(bool value) { return training_ = value, *this; }
  bool training() const { return training_; }
  AlphaDropoutFuncOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double p_ = 0.5;
  bool training_ = false;
  bool inplace_ = false;
};

using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

}  // namespace functional

}  // namespace ebb::nn
