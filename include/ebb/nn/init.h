// Initialization of parameters (torch::nn::init). All functions write in place, record no graph, and return
// the tensor.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/enums.h>

#include <tuple>

namespace ebb::nn::init {

using NonlinearityType =
    OneOf<enumtype::kLeakyReLU, enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D,
          enumtype::kConvTranspose1D, enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
          enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU>;
using FanModeType = OneOf<enumtype::kFanIn, enumtype::kFanOut>;

/// Returns the gain that keeps the variance of activations constant: 1 for linear maps and sigmoid, 5/3 for
/// tanh, sqrt(2) for ReLU, sqrt(2 / (1 + param^2)) for leaky ReLU.
EBB_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);
EBB_API Variable constant_(Variable tensor, const Scalar& value);
EBB_API Variable zeros_(Variable tensor);
EBB_API Variable ones_(Variable tensor);
/// Fills a matrix with the identity.
EBB_API Variable eye_(Variable matrix);
/// Fills the weight of a convolution so that it is the identity.
EBB_API Variable dirac_(Variable tensor);
/// Samples from U(low, high).
EBB_API Variable uniform_(Variable tensor, double low = 0, double high = 1);
/// Samples from N(mean, std^2).
EBB_API Variable normal_(Variable tensor, double mean = 0, double std = 1);
/// Samples from N(mean, std^2) truncated to [a, b] (torch.nn.init.trunc_normal_, which libtorch lacks).
EBB_API Variable trunc_normal_(Variable tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
/// Fills with orthogonal rows or columns, from the QR decomposition of a normal matrix (Saxe, McClelland &
/// Ganguli 2013).
EBB_API Variable orthogonal_(Variable tensor, double gain = 1.0);
/// Samples from N(0, std^2) and sets a fraction of each column to zero (Martens 2010).
EBB_API Variable sparse_(Variable tensor, double sparsity, double std = 0.01);
/// Samples from U(-b, b) with b = gain sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio 2010).
EBB_API Variable xavier_uniform_(Variable tensor, double gain = 1.0);
/// Samples from N(0, gain^2 2 / (fan_in + fan_out)).
EBB_API Variable xavier_normal_(Variable tensor, double gain = 1.0);
/// Samples from U(-b, b) with b = gain sqrt(3 / fan), where gain = calculate_gain(nonlinearity, a) (He et al.
/// 2015).
EBB_API Variable kaiming_uniform_(Variable tensor, double a = 0, FanModeType mode = ebb::kFanIn,
                                  NonlinearityType nonlinearity = ebb::kLeakyReLU);
/// Samples from N(0, gain^2 / fan).
EBB_API Variable kaiming_normal_(Variable tensor, double a = 0, FanModeType mode = ebb::kFanIn,
                                 NonlinearityType nonlinearity = ebb::kLeakyReLU);
/// Returns the number of inputs and the number of outputs of one unit, for a weight (out, in, kernel...).
EBB_API std::tuple<std::int64_t, std::int64_t> _calculate_fan_in_and_fan_out(const Variable& tensor);

}  // namespace ebb::nn::init
