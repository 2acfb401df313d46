// Normalizations and distances with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/ops/linalg/products.h>

namespace ebb::nn {

/// Options of BatchNorm.
class EBB_API BatchNormOptions {
 public:
  BatchNormOptions(std::int64_t num_features) : num_features_(num_features) {}

  EBB_ARG(std::int64_t, num_features);        ///< channels
  EBB_ARG(double, eps) = 1e-5;                ///< added to the variance
  EBB_ARG(optional<double>, momentum) = 0.1;  ///< nullopt: running statistics are cumulative averages
  EBB_ARG(bool, affine) = true;               ///< learns a scale and a shift for each channel
  EBB_ARG(bool, track_running_stats) = true;  ///< stores running statistics for evaluation
  EBB_ARG(bool, bias) = true;                 ///< if false, learns no shift
};

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

/// Options of InstanceNorm.
class EBB_API InstanceNormOptions {
 public:
  InstanceNormOptions(std::int64_t num_features) : num_features_(num_features) {}

  EBB_ARG(std::int64_t, num_features);         ///< channels
  EBB_ARG(double, eps) = 1e-5;                 ///< added to the variance
  EBB_ARG(double, momentum) = 0.1;             ///< weight of the new statistics in the running statistics
  EBB_ARG(bool, affine) = false;               ///< learns a scale and a shift for each channel
  EBB_ARG(bool, track_running_stats) = false;  ///< stores running statistics for evaluation
  EBB_ARG(bool, bias) = true;                  ///< if false, learns no shift
};

using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

/// Options of LayerNorm.
class EBB_API LayerNormOptions {
 public:
  LayerNormOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  EBB_ARG(std::vector<std::int64_t>, normalized_shape);  ///< sizes of the trailing dimensions
  EBB_ARG(double, eps) = 1e-5;                           ///< added to the variance
  EBB_ARG(bool, elementwise_affine) = true;              ///< learns a scale and a shift for each element
  EBB_ARG(bool, bias) = true;                            ///< if false, learns no shift
};

/// Options of RMSNorm.
class EBB_API RMSNormOptions {
 public:
  RMSNormOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  EBB_ARG(std::vector<std::int64_t>, normalized_shape);  ///< sizes of the trailing dimensions
  EBB_ARG(optional<double>, eps);            ///< added to the mean square; default: the dtype's epsilon
  EBB_ARG(bool, elementwise_affine) = true;  ///< learns a scale for each element
};

/// Options of LocalResponseNorm.
class EBB_API LocalResponseNormOptions {
 public:
  LocalResponseNormOptions(std::int64_t size) : size_(size) {}

  EBB_ARG(std::int64_t, size);    ///< number of neighbouring channels
  EBB_ARG(double, alpha) = 1e-4;  ///< factor of the mean square
  EBB_ARG(double, beta) = 0.75;   ///< exponent
  EBB_ARG(double, k) = 1.0;       ///< added to the mean square
};

/// Options of GroupNorm.
class EBB_API GroupNormOptions {
 public:
  GroupNormOptions(std::int64_t num_groups, std::int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}

  EBB_ARG(std::int64_t, num_groups);    ///< number of channel groups
  EBB_ARG(std::int64_t, num_channels);  ///< channels of the input
  EBB_ARG(double, eps) = 1e-5;          ///< added to the variance
  EBB_ARG(bool, affine) = true;         ///< learns a scale and a shift for each channel
  EBB_ARG(bool, bias) = true;           ///< if false, learns no shift
};

/// Options of CosineSimilarity.
class EBB_API CosineSimilarityOptions {
  EBB_ARG(std::int64_t, dim) = 1;  ///< dimension of the vectors
  EBB_ARG(double, eps) = 1e-8;     ///< lower bound of each norm
};

/// Options of PairwiseDistance.
class EBB_API PairwiseDistanceOptions {
  EBB_ARG(double, p) = 2.0;        ///< order of the norm
  EBB_ARG(double, eps) = 1e-6;     ///< added to the difference
  EBB_ARG(bool, keepdim) = false;  ///< keeps the dimension, with size 1
};

namespace functional {

using LocalResponseNormFuncOptions = LocalResponseNormOptions;
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

/// Options of batch_norm.
class EBB_API BatchNormFuncOptions {
  EBB_ARG(Variable, weight);                  ///< scale
  EBB_ARG(Variable, bias);                    ///< shift
  EBB_ARG(bool, training) = false;            ///< uses the statistics of the batch
  EBB_ARG(optional<double>, momentum) = 0.1;  ///< weight of the new statistics in the running statistics
  EBB_ARG(double, eps) = 1e-5;                ///< added to the variance
};

/// Options of instance_norm.
class EBB_API InstanceNormFuncOptions {
  EBB_ARG(Variable, running_mean);        ///< updated if given
  EBB_ARG(Variable, running_var);         ///< updated if given
  EBB_ARG(Variable, weight);              ///< scale
  EBB_ARG(Variable, bias);                ///< shift
  EBB_ARG(bool, use_input_stats) = true;  ///< if false, uses the running statistics
  EBB_ARG(double, momentum) = 0.1;        ///< weight of the new statistics in the running statistics
  EBB_ARG(double, eps) = 1e-5;            ///< added to the variance
};

/// Options of layer_norm.
class EBB_API LayerNormFuncOptions {
 public:
  LayerNormFuncOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  EBB_ARG(std::vector<std::int64_t>, normalized_shape);  ///< sizes of the trailing dimensions
  EBB_ARG(Variable, weight);                             ///< scale
  EBB_ARG(Variable, bias);                               ///< shift
  EBB_ARG(double, eps) = 1e-5;                           ///< added to the variance
};

/// Options of rms_norm.
class EBB_API RMSNormFuncOptions {
 public:
  RMSNormFuncOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}

  EBB_ARG(std::vector<std::int64_t>, normalized_shape);  ///< sizes of the trailing dimensions
  EBB_ARG(Variable, weight);                             ///< scale
  EBB_ARG(optional<double>, eps);  ///< added to the mean square; default: the dtype's epsilon
};

/// Options of group_norm.
class EBB_API GroupNormFuncOptions {
 public:
  GroupNormFuncOptions(std::int64_t num_groups) : num_groups_(num_groups) {}

  EBB_ARG(std::int64_t, num_groups);  ///< number of channel groups
  EBB_ARG(Variable, weight);          ///< scale
  EBB_ARG(Variable, bias);            ///< shift
  EBB_ARG(double, eps) = 1e-5;        ///< added to the variance
};

/// Options of normalize.
class EBB_API NormalizeFuncOptions {
  EBB_ARG(double, p) = 2.0;          ///< order of the norm
  EBB_ARG(std::int64_t, dim) = 1;    ///< dimension
  EBB_ARG(double, eps) = 1e-12;      ///< lower bound of the divisor
  EBB_ARG(optional<Variable>, out);  ///< output tensor, if given
};

/// Throws in training if a channel has a single value.
EBB_API Variable batch_norm(const Variable& input, const Variable& running_mean, const Variable& running_var,
                            const BatchNormFuncOptions& options = {});
EBB_API Variable instance_norm(const Variable& input, const InstanceNormFuncOptions& options = {});
EBB_API Variable layer_norm(const Variable& input, const LayerNormFuncOptions& options);
EBB_API Variable rms_norm(const Variable& input, const RMSNormFuncOptions& options);
EBB_API Variable group_norm(const Variable& input, const GroupNormFuncOptions& options);
/// Computes x / (k + alpha / size * sum of squares over `size` neighbouring channels)^beta (Krizhevsky et al.
/// 2012).
EBB_API Variable local_response_norm(const Variable& input, const LocalResponseNormFuncOptions& options);
/// Computes x / max(|x|_p, eps) along a dimension.
EBB_API Variable normalize(const Variable& input, NormalizeFuncOptions options = {});
EBB_API Variable cosine_similarity(const Variable& x1, const Variable& x2,
                                   const CosineSimilarityFuncOptions& options = {});
EBB_API Variable pairwise_distance(const Variable& x1, const Variable& x2,
                                   const PairwiseDistanceFuncOptions& options = {});
using ebb::pdist;

}  // namespace functional

}  // namespace ebb::nn
