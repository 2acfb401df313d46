// Fuses batch norm in evaluation mode into the layer before it (torch.nn.utils.fusion).
#pragma once

#include <ebb/nn/modules/conv.h>
#include <ebb/nn/modules/linear.h>
#include <ebb/nn/modules/norm.h>

#include <tuple>

namespace ebb::nn::utils {

/// Returns the weight and the bias of the convolution that computes bn(conv(x)): conv_w * s and (conv_b -
/// bn_rm) * s + bn_b, where s = bn_w / sqrt(bn_rv + bn_eps) has one element for each output channel.
/// Undefined conv_b, bn_w and bn_b mean 0, 1 and 0. With `transpose`, conv_w is the weight of a transposed
/// convolution, (in, out / groups, kernel...).
EBB_API std::tuple<Variable, Variable> fuse_conv_bn_weights(const Variable& conv_w, const Variable& conv_b,
                                                            const Variable& bn_rm, const Variable& bn_rv,
                                                            double bn_eps, const Variable& bn_w,
                                                            const Variable& bn_b, bool transpose = false);
/// Returns weight and bias of the linear layer that computes bn(linear(x)).
EBB_API std::tuple<Variable, Variable> fuse_linear_bn_weights(const Variable& linear_w,
                                                              const Variable& linear_b, const Variable& bn_rm,
                                                              const Variable& bn_rv, double bn_eps,
                                                              const Variable& bn_w, const Variable& bn_b);

/// Returns a new layer in evaluation mode that computes bn(layer(x)). Its parameters require grad if the
/// parameters of `layer` do. Both inputs must be in evaluation mode, and bn must have running statistics.
EBB_API Conv1d fuse_conv_bn_eval(const Conv1d& conv, const BatchNorm1d& bn);
EBB_API Conv2d fuse_conv_bn_eval(const Conv2d& conv, const BatchNorm2d& bn);
EBB_API Conv3d fuse_conv_bn_eval(const Conv3d& conv, const BatchNorm3d& bn);
EBB_API ConvTranspose1d fuse_conv_bn_eval(const ConvTranspose1d& conv, const BatchNorm1d& bn);
EBB_API ConvTranspose2d fuse_conv_bn_eval(const ConvTranspose2d& conv, const BatchNorm2d& bn);
EBB_API ConvTranspose3d fuse_conv_bn_eval(const ConvTranspose3d& conv, const BatchNorm3d& bn);
EBB_API Linear fuse_linear_bn_eval(const Linear& linear, const BatchNorm1d& bn);

}  // namespace ebb::nn::utils
