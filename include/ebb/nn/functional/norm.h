// Normalisations and distances with options (torch::nn::functional).
#pragma once

#include <ebb/nn/options/dropout.h>
#include <ebb/nn/options/norm.h>

namespace ebb::nn::functional {

/// Throws in training when a channel has a single value.
EBB_API Variable batch_norm(const Variable& input, const Variable& running_mean, const Variable& running_var,
                            const BatchNormFuncOptions& options = {});
EBB_API Variable instance_norm(const Variable& input, const InstanceNormFuncOptions& options = {});
EBB_API Variable layer_norm(const Variable& input, const LayerNormFuncOptions& options);
EBB_API Variable group_norm(const Variable& input, const GroupNormFuncOptions& options);
/// x / (k + alpha / size * sum of squares over `size` neighbouring channels)^beta (Krizhevsky et al. 2012).
EBB_API Variable local_response_norm(const Variable& input, const LocalResponseNormFuncOptions& options);
/// x / max(|x|_p, eps) along a dimension.
EBB_API Variable normalize(const Variable& input, NormalizeFuncOptions options = {});
EBB_API Variable cosine_similarity(const Variable& x1, const Variable& x2,
                                   const CosineSimilarityFuncOptions& options = {});
EBB_API Variable pairwise_distance(const Variable& x1, const Variable& x2,
                                   const PairwiseDistanceFuncOptions& options = {});
/// The condensed distances of all pairs of rows.
EBB_API Variable pdist(const Variable& input, double p = 2.0);

}  // namespace ebb::nn::functional
