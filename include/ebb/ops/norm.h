// Normalizations (batch_norm, layer_norm, rms_norm, group_norm, instance_norm) and distances.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

/// (x - mean) / sqrt(var + eps) * weight + bias for each channel (dimension 1). In training mean and var are
/// computed from the batch (var is biased), and the running statistics are updated with the unbiased
/// variance: running = (1 - momentum) * running + momentum * batch. In evaluation the running statistics are
/// used. weight, bias and the running tensors may be undefined. Throws if one of them does not have one value
/// for each channel. An empty input gives an empty result and does not change the running statistics. (Ioffe
/// & Szegedy 2015.) cudnn_enabled is ignored.
EBB_API Variable batch_norm(const Variable& input, const optional<Variable>& weight,
                            const optional<Variable>& bias, const optional<Variable>& running_mean,
                            const optional<Variable>& running_var, bool training, double momentum, double eps,
                            bool cudnn_enabled = false);
/// Returns three tensors: the result of batch_norm, and the mean and 1 / sqrt(var + eps) of the batch. The
/// last two are empty in evaluation.
EBB_API std::tuple<Variable, Variable, Variable> native_batch_norm(
    const Variable& input, const optional<Variable>& weight, const optional<Variable>& bias,
    const optional<Variable>& running_mean, const optional<Variable>& running_var, bool training,
    double momentum, double eps);

/// Normalizes like batch_norm, but over the trailing dimensions, whose sizes are `normalized_shape`. weight
/// and bias have the shape `normalized_shape`. Throws if the last sizes of the input differ from
/// `normalized_shape`. (Ba, Kiros & Hinton 2016.) cudnn_enable is ignored.
EBB_API Variable layer_norm(const Variable& input, IntArrayRef normalized_shape,
                            const optional<Variable>& weight = {}, const optional<Variable>& bias = {},
                            double eps = 1e-5, bool cudnn_enable = true);
/// Returns layer_norm, and mean and 1 / sqrt(var + eps), whose normalized dimensions have size 1.
EBB_API std::tuple<Variable, Variable, Variable> native_layer_norm(const Variable& input,
                                                                   IntArrayRef normalized_shape,
                                                                   const optional<Variable>& weight,
                                                                   const optional<Variable>& bias,
                                                                   double eps);

/// input / sqrt(mean(input^2) + eps) * weight over the trailing dimensions, whose sizes are
/// `normalized_shape`. It is layer_norm without the mean. The default eps is the epsilon of double for
/// Double, and of float for all other dtypes. Floating dtypes. (Zhang & Sennrich 2019;
/// torch.nn.functional.rms_norm.)
EBB_API Variable rms_norm(const Variable& input, IntArrayRef normalized_shape,
                          const optional<Variable>& weight = {}, optional<double> eps = {});

/// Return two tensors, computed in one pass: layer_norm or rms_norm of input + residual, and the sum input +
/// residual, which is the residual of the next layer. The sum is rounded to the dtype before it is
/// normalized, as in two ops. Both inputs have the same size and dtype and are on the same device. (The fused
/// residual norms of FlashAttention and vLLM.)
EBB_API std::tuple<Variable, Variable> add_layer_norm(const Variable& input, const Variable& residual,
                                                      IntArrayRef normalized_shape,
                                                      const optional<Variable>& weight = {},
                                                      const optional<Variable>& bias = {}, double eps = 1e-5);
EBB_API std::tuple<Variable, Variable> add_rms_norm(const Variable& input, const Variable& residual,
                                                    IntArrayRef normalized_shape,
                                                    const optional<Variable>& weight = {},
                                                    optional<double> eps = {});

/// Normalizes like layer_norm, but over groups of C / num_groups channels of each sample. weight and bias
/// have one value for each channel. Throws unless num_groups divides C. (Wu & He 2018.)
EBB_API Variable group_norm(const Variable& input, std::int64_t num_groups,
                            const optional<Variable>& weight = {}, const optional<Variable>& bias = {},
                            double eps = 1e-5, bool cudnn_enabled = true);

/// Normalizes each channel of each sample. If use_input_stats is true, uses the mean and variance of this
/// channel in the input, and updates the running tensors that are given. Otherwise uses the running
/// statistics. (Ulyanov, Vedaldi & Lempitsky 2016.)
EBB_API Variable instance_norm(const Variable& input, const optional<Variable>& weight,
                               const optional<Variable>& bias, const optional<Variable>& running_mean,
                               const optional<Variable>& running_var, bool use_input_stats, double momentum,
                               double eps, bool cudnn_enabled = false);

/// <x1, x2> / (max(|x1|, eps) max(|x2|, eps)) along dim. Shapes broadcast.
EBB_API Variable cosine_similarity(const Variable& x1, const Variable& x2, std::int64_t dim = 1,
                                   double eps = 1e-8);
/// |x1 - x2 + eps|_p along the last dimension.
EBB_API Variable pairwise_distance(const Variable& x1, const Variable& x2, double p = 2, double eps = 1e-6,
                                   bool keepdim = false);

/// Returns group_norm of an input (N, C, HxW elements...), and the mean and 1 / sqrt(var + eps), both (N,
/// group) and without a gradient. (torch.native_group_norm)
EBB_API std::tuple<Variable, Variable, Variable> native_group_norm(
    const Variable& input, const optional<Variable>& weight, const optional<Variable>& bias, std::int64_t N,
    std::int64_t C, std::int64_t HxW, std::int64_t group, double eps);

/// Returns the norm of all elements. (torch.native_norm)
EBB_API Variable native_norm(const Variable& self, const Scalar& p = 2);
EBB_API Variable native_norm(const Variable& self, const optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                             optional<ScalarType> dtype);

/// Returns the norm over all dimensions except `dim`, which is kept. For `dim` = -1 it is over all
/// dimensions. (torch.norm_except_dim)
EBB_API Variable norm_except_dim(const Variable& v, std::int64_t pow = 2, std::int64_t dim = 0);

}  // namespace ebb
