// BatchNorm, InstanceNorm, LayerNorm, RMSNorm, GroupNorm and distances as modules.
#pragma once

#include <ebb/nn/functional/norm.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// Normalizes each channel with the statistics of the batch, or in evaluation mode with the running
/// statistics. The buffers are running_mean, running_var and num_batches_tracked.
template <std::size_t D>
class EBB_API BatchNormImpl : public Cloneable<BatchNormImpl<D>> {
 public:
  explicit BatchNormImpl(BatchNormOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  void reset_parameters();
  void reset_running_stats();

  BatchNormOptions options;
  Variable weight;
  Variable bias;
  Variable running_mean;
  Variable running_var;
  Variable num_batches_tracked;
};

/// Normalizes each channel of each sample.
template <std::size_t D>
class EBB_API InstanceNormImpl : public Cloneable<InstanceNormImpl<D>> {
 public:
  explicit InstanceNormImpl(InstanceNormOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  void reset_parameters();
  void reset_running_stats();

  InstanceNormOptions options;
  Variable weight;
  Variable bias;
  Variable running_mean;
  Variable running_var;
  Variable num_batches_tracked;
};

/// Normalizes over the trailing dimensions, which have the given sizes.
class EBB_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  explicit LayerNormImpl(std::vector<std::int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  /// Returns forward(input + residual) and the sum, computed in one pass (add_layer_norm).
  std::tuple<Variable, Variable> forward_sum(const Variable& input, const Variable& residual);

  LayerNormOptions options;
  Variable weight;
  Variable bias;
};
EBB_LIBRARY_MODULE(LayerNorm);

/// Divides by the root mean square over the trailing dimensions, which have the given sizes
/// (torch.nn.RMSNorm).
class EBB_API RMSNormImpl : public Cloneable<RMSNormImpl> {
 public:
  explicit RMSNormImpl(std::vector<std::int64_t> normalized_shape)
      : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}
  explicit RMSNormImpl(RMSNormOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  /// Returns forward(input + residual) and the sum, computed in one pass (add_rms_norm).
  std::tuple<Variable, Variable> forward_sum(const Variable& input, const Variable& residual);

  RMSNormOptions options;
  Variable weight;
};
EBB_LIBRARY_MODULE(RMSNorm);

/// Normalizes over groups of channels of each sample.
class EBB_API GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(std::int64_t num_groups, std::int64_t num_channels)
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(GroupNormOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  GroupNormOptions options;
  Variable weight;
  Variable bias;
};
EBB_LIBRARY_MODULE(GroupNorm);

/// Normalizes over neighbouring channels.
struct EBB_API LocalResponseNormImpl
    : detail::Stateless<LocalResponseNormImpl, LocalResponseNormOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(LocalResponseNorm);

/// cos(x1, x2) along dim.
struct EBB_API CosineSimilarityImpl
    : detail::Stateless<CosineSimilarityImpl, CosineSimilarityOptions, Variable, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(CosineSimilarity);

/// |x1 - x2 + eps|_p along the last dimension.
struct EBB_API PairwiseDistanceImpl
    : detail::Stateless<PairwiseDistanceImpl, PairwiseDistanceOptions, Variable, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(PairwiseDistance);

extern template class BatchNormImpl<1>;
extern template class BatchNormImpl<2>;
extern template class BatchNormImpl<3>;
extern template class InstanceNormImpl<1>;
extern template class InstanceNormImpl<2>;
extern template class InstanceNormImpl<3>;

using BatchNorm1dImpl = BatchNormImpl<1>;
using BatchNorm2dImpl = BatchNormImpl<2>;
using BatchNorm3dImpl = BatchNormImpl<3>;
using InstanceNorm1dImpl = InstanceNormImpl<1>;
using InstanceNorm2dImpl = InstanceNormImpl<2>;
using InstanceNorm3dImpl = InstanceNormImpl<3>;
EBB_LIBRARY_MODULE(BatchNorm1d);
EBB_LIBRARY_MODULE(BatchNorm2d);
EBB_LIBRARY_MODULE(BatchNorm3d);
EBB_LIBRARY_MODULE(InstanceNorm1d);
EBB_LIBRARY_MODULE(InstanceNorm2d);
EBB_LIBRARY_MODULE(InstanceNorm3d);

}  // namespace ebb::nn
