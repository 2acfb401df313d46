// Options of the normalisations.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::nn {

/// Options of BatchNorm: without momentum the running statistics are plain averages.
class BatchNormOptions {
 public:
  BatchNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  BatchNormOptions& num_features(std::int64_t value) { return num_features_ = value, *this; }
  std::int64_t num_features() const { return num_features_; }
  BatchNormOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  BatchNormOptions& momentum(optional<double> value) { return momentum_ = value, *this; }
  const optional<double>& momentum() const { return momentum_; }
  BatchNormOptions& affine(bool value) { return affine_ = value, *this; }
  bool affine() const { return affine_; }
  BatchNormOptions& track_running_stats(bool value) { return track_running_stats_ = value, *this; }
  bool track_running_stats() const { return track_running_stats_; }

 private:
  std::int64_t num_features_;
  double eps_ = 1e-5;
  optional<double> momentum_ = 0.1;
  bool affine_ = true;
  bool track_running_stats_ = true;
};

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

/// Options of InstanceNorm.
class InstanceNormOptions {
 public:
  InstanceNormOptions(std::int64_t num_features) : num_features_(num_features) {}
  InstanceNormOptions& num_features(std::int64_t value) { return num_features_ = value, *this; }
  std::int64_t num_features() const { return num_features_; }
  InstanceNormOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  InstanceNormOptions& momentum(double value) { return momentum_ = value, *this; }
  double momentum() const { return momentum_; }
  InstanceNormOptions& affine(bool value) { return affine_ = value, *this; }
  bool affine() const { return affine_; }
  InstanceNormOptions& track_running_stats(bool value) { return track_running_stats_ = value, *this; }
  bool track_running_stats() const { return track_running_stats_; }

 private:
  std::int64_t num_features_;
  double eps_ = 1e-5;
  double momentum_ = 0.1;
  bool affine_ = false;
  bool track_running_stats_ = false;
};

using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

/// Options of LayerNorm: the trailing sizes that are normalised together.
class LayerNormOptions {
 public:
  LayerNormOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  LayerNormOptions& normalized_shape(std::vector<std::int64_t> value) {
    return normalized_shape_ = std::move(value), *this;
  }
  const std::vector<std::int64_t>& normalized_shape() const { return normalized_shape_; }
  LayerNormOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  LayerNormOptions& elementwise_affine(bool value) { return elementwise_affine_ = value, *this; }
  bool elementwise_affine() const { return elementwise_affine_; }

 private:
  std::vector<std::int64_t> normalized_shape_;
  double eps_ = 1e-5;
  bool elementwise_affine_ = true;
};

/// Options of LocalResponseNorm.
class LocalResponseNormOptions {
 public:
  LocalResponseNormOptions(std::int64_t size) : size_(size) {}
  LocalResponseNormOptions& size(std::int64_t value) { return size_ = value, *this; }
  std::int64_t size() const { return size_; }
  LocalResponseNormOptions& alpha(double value) { return alpha_ = value, *this; }
  double alpha() const { return alpha_; }
  LocalResponseNormOptions& beta(double value) { return beta_ = value, *this; }
  double beta() const { return beta_; }
  LocalResponseNormOptions& k(double value) { return k_ = value, *this; }
  double k() const { return k_; }

 private:
  std::int64_t size_;
  double alpha_ = 1e-4;
  double beta_ = 0.75;
  double k_ = 1.0;
};

/// Options of GroupNorm.
class GroupNormOptions {
 public:
  GroupNormOptions(std::int64_t num_groups, std::int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  GroupNormOptions& num_groups(std::int64_t value) { return num_groups_ = value, *this; }
  std::int64_t num_groups() const { return num_groups_; }
  GroupNormOptions& num_channels(std::int64_t value) { return num_channels_ = value, *this; }
  std::int64_t num_channels() const { return num_channels_; }
  GroupNormOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  GroupNormOptions& affine(bool value) { return affine_ = value, *this; }
  bool affine() const { return affine_; }

 private:
  std::int64_t num_groups_;
  std::int64_t num_channels_;
  double eps_ = 1e-5;
  bool affine_ = true;
};

namespace functional {

using LocalResponseNormFuncOptions = LocalResponseNormOptions;

/// Options of batch_norm.
class BatchNormFuncOptions {
 public:
  BatchNormFuncOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  BatchNormFuncOptions& bias(Variable value) { return bias_ = std::move(value), *this; }
  const Variable& bias() const { return bias_; }
  BatchNormFuncOptions& training(bool value) { return training_ = value, *this; }
  bool training() const { return training_; }
  BatchNormFuncOptions& momentum(optional<double> value) { return momentum_ = value, *this; }
  const optional<double>& momentum() const { return momentum_; }
  BatchNormFuncOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }

 private:
  Variable weight_;
  Variable bias_;
  bool training_ = false;
  optional<double> momentum_ = 0.1;
  double eps_ = 1e-5;
};

/// Options of instance_norm.
class InstanceNormFuncOptions {
 public:
  InstanceNormFuncOptions& running_mean(Variable value) { return running_mean_ = std::move(value), *this; }
  const Variable& running_mean() const { return running_mean_; }
  InstanceNormFuncOptions& running_var(Variable value) { return running_var_ = std::move(value), *this; }
  const Variable& running_var() const { return running_var_; }
  InstanceNormFuncOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  InstanceNormFuncOptions& bias(Variable value) { return bias_ = std::move(value), *this; }
  const Variable& bias() const { return bias_; }
  InstanceNormFuncOptions& use_input_stats(bool value) { return use_input_stats_ = value, *this; }
  bool use_input_stats() const { return use_input_stats_; }
  InstanceNormFuncOptions& momentum(double value) { return momentum_ = value, *this; }
  double momentum() const { return momentum_; }
  InstanceNormFuncOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }

 private:
  Variable running_mean_;
  Variable running_var_;
  Variable weight_;
  Variable bias_;
  bool use_input_stats_ = true;
  double momentum_ = 0.1;
  double eps_ = 1e-5;
};

/// Options of layer_norm.
class LayerNormFuncOptions {
 public:
  LayerNormFuncOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  LayerNormFuncOptions& normalized_shape(std::vector<std::int64_t> value) {
    return normalized_shape_ = std::move(value), *this;
  }
  const std::vector<std::int64_t>& normalized_shape() const { return normalized_shape_; }
  LayerNormFuncOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  LayerNormFuncOptions& bias(Variable value) { return bias_ = std::move(value), *this; }
  const Variable& bias() const { return bias_; }
  LayerNormFuncOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }

 private:
  std::vector<std::int64_t> normalized_shape_;
  Variable weight_;
  Variable bias_;
  double eps_ = 1e-5;
};

/// Options of group_norm.
class GroupNormFuncOptions {
 public:
  GroupNormFuncOptions(std::int64_t num_groups) : num_groups_(num_groups) {}
  GroupNormFuncOptions& num_groups(std::int64_t value) { return num_groups_ = value, *this; }
  std::int64_t num_groups() const { return num_groups_; }
  GroupNormFuncOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  GroupNormFuncOptions& bias(Variable value) { return bias_ = std::move(value), *this; }
  const Variable& bias() const { return bias_; }
  GroupNormFuncOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }

 private:
  std::int64_t num_groups_;
  Variable weight_;
  Variable bias_;
  double eps_ = 1e-5;
};

/// Options of normalize.
class NormalizeFuncOptions {
 public:
  NormalizeFuncOptions& p(double value) { return p_ = value, *this; }
  double p() const { return p_; }
  NormalizeFuncOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }
  NormalizeFuncOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  NormalizeFuncOptions& out(optional<Variable> value) { return out_ = std::move(value), *this; }
  const optional<Variable>& out() const { return out_; }

 private:
  double p_ = 2.0;
  std::int64_t dim_ = 1;
  double eps_ = 1e-12;
  optional<Variable> out_;
};

}  // namespace functional

}  // namespace ebb::nn
