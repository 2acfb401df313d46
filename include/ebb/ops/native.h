// What ATen calls native: ops under the names that graphs of torch show, with all that they compute.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/random.h>

#include <tuple>

namespace ebb {

/// group_norm of an input (N, C, HxW elements...), with mean and 1 / sqrt(var + eps), both (N, group); these
/// two take no gradient. (torch.native_group_norm)
EBB_API std::tuple<Variable, Variable, Variable> native_group_norm(
    const Variable& input, const optional<Variable>& weight, const optional<Variable>& bias, std::int64_t N,
    std::int64_t C, std::int64_t HxW, std::int64_t group, double eps);

/// dropout, with the mask: true where an element stays. Without train (nullopt means true) the input and a
/// mask of true. (torch.native_dropout)
EBB_API std::tuple<Variable, Variable> native_dropout(const Variable& input, double p, optional<bool> train);

/// The norm of all elements. (torch.native_norm)
EBB_API Variable native_norm(const Variable& self, const Scalar& p = 2);
EBB_API Variable native_norm(const Variable& self, const optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                             optional<ScalarType> dtype);

/// The norm over all dimensions but one, which keeps its place; of -1 over all. (torch.norm_except_dim)
EBB_API Variable norm_except_dim(const Variable& v, std::int64_t pow = 2, std::int64_t dim = 0);

/// channel_shuffle. (torch.native_channel_shuffle)
EBB_API Variable native_channel_shuffle(const Variable& self, std::int64_t groups);

/// rrelu whose slopes are left in `noise`, of self's shape and dtype: in training those drawn from U(lower,
/// upper) where self <= 0, else 1. In evaluation noise is left alone. (torch.rrelu_with_noise)
EBB_API Variable rrelu_with_noise(const Variable& self, const Variable& noise, const Scalar& lower = 0.125,
                                  const Scalar& upper = 1.0 / 3, bool training = false,
                                  const optional<Generator>& generator = {});
EBB_API Variable& rrelu_with_noise_(const Variable& self, const Variable& noise, const Scalar& lower = 0.125,
                                    const Scalar& upper = 1.0 / 3, bool training = false,
                                    const optional<Generator>& generator = {});
/// The same with the slopes as a second result.
EBB_API std::tuple<Variable, Variable> rrelu_with_noise_functional(
    const Variable& self, const Variable& noise, const Scalar& lower = 0.125, const Scalar& upper = 1.0 / 3,
    bool training = false, const optional<Generator>& generator = {});

/// conv1d of a sequence (T, B, C_in) with weight (kernel, C_in, C_out), bias (C_out) and `pad` zeros at both
/// ends: (T', B, C_out). (torch.conv_tbc)
EBB_API Variable conv_tbc(const Variable& self, const Variable& weight, const Variable& bias,
                          std::int64_t pad = 0);

/// conv3d with a group for each channel of self, (N, C, D, H, W); weight (C m, 1, kernel...).
/// (torch.ops.aten. conv_depthwise3d)
EBB_API Variable conv_depthwise3d(const Variable& self, const Variable& weight, IntArrayRef kernel_size,
                                  const optional<Variable>& bias, IntArrayRef stride, IntArrayRef padding,
                                  IntArrayRef dilation);

/// Scales those rows of the table (V, D) that indices name, and whose norm exceeds max_norm, down to it, in
/// place and without a graph. (torch.embedding_renorm_)
EBB_API Variable& embedding_renorm_(const Variable& self, const Variable& indices, double max_norm,
                                    double norm_type);
/// The same of a copy.
EBB_API Variable embedding_renorm(const Variable& self, const Variable& indices, double max_norm,
                                  double norm_type);

}  // namespace ebb
