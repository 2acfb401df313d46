// Activation functions. A function that torch does not define for integers throws for them here too.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/random.h>  // rrelu, which this header declared in the past

#include <string_view>

namespace ebb {

/// sinh(x) / cosh(x). Integers are converted to the default dtype.
EBB_API Variable tanh(const Variable& self);
EBB_API Variable& tanh_(const Variable& self);
/// 1 / (1 + e^-x). Integers are converted to the default dtype.
EBB_API Variable sigmoid(const Variable& self);
EBB_API Variable& sigmoid_(const Variable& self);
/// max(x, 0); the derivative at 0 is 0. Throws for Bool.
EBB_API Variable relu(const Variable& self);
EBB_API Variable& relu_(const Variable& self);
/// min(max(x, 0), 6); the derivative at the bounds is 0.
EBB_API Variable relu6(const Variable& self);
EBB_API Variable& relu6_(const Variable& self);
/// x if x > 0, otherwise negative_slope * x. The derivative at 0 is negative_slope.
EBB_API Variable leaky_relu(const Variable& self, const Scalar& negative_slope = 0.01);
EBB_API Variable& leaky_relu_(const Variable& self, const Scalar& negative_slope = 0.01);
/// x if x > 0, otherwise weight * x. `weight` has one element, or one for each channel (dimension 1 of x).
EBB_API Variable prelu(const Variable& self, const Variable& weight);
/// scale * x if x > 0, otherwise scale * alpha * (e^(input_scale * x) - 1) (Clevert et al. 2016).
EBB_API Variable elu(const Variable& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                     const Scalar& input_scale = 1);
EBB_API Variable& elu_(const Variable& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                       const Scalar& input_scale = 1);
/// elu with the constants that preserve mean and variance (Klambauer et al. 2017).
EBB_API Variable selu(const Variable& self);
EBB_API Variable& selu_(const Variable& self);
/// x if x > 0, otherwise alpha * (e^(x / alpha) - 1) (Barron 2017). Throws for alpha = 0.
EBB_API Variable celu(const Variable& self, const Scalar& alpha = 1.0);
EBB_API Variable& celu_(const Variable& self, const Scalar& alpha = 1.0);
/// x * Phi(x), where Phi is the normal distribution function (Hendrycks and Gimpel 2016). approximate is
/// "none" (exact) or "tanh" (a cheaper formula).
EBB_API Variable gelu(const Variable& self, std::string_view approximate = "none");
EBB_API Variable& gelu_(const Variable& self, std::string_view approximate = "none");
/// x * sigmoid(x), also called swish.
EBB_API Variable silu(const Variable& self);
EBB_API Variable& silu_(const Variable& self);
/// x * tanh(softplus(x)) (Misra 2019).
EBB_API Variable mish(const Variable& self);
EBB_API Variable& mish_(const Variable& self);
/// log(1 + e^(beta * x)) / beta; x itself if beta * x > threshold.
EBB_API Variable softplus(const Variable& self, const Scalar& beta = 1, const Scalar& threshold = 20);
/// x / (1 + |x|).
EBB_API Variable softsign(const Variable& self);
/// x - tanh(x).
EBB_API Variable tanhshrink(const Variable& self);
/// log(sigmoid(x)), finite for large negative x.
EBB_API Variable log_sigmoid(const Variable& self);
/// min(max(x, min_val), max_val), which is max_val everywhere if max_val < min_val. The derivative at the
/// bounds is 0.
EBB_API Variable hardtanh(const Variable& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
EBB_API Variable& hardtanh_(const Variable& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
/// min(max(x + 3, 0), 6) / 6.
EBB_API Variable hardsigmoid(const Variable& self);
EBB_API Variable& hardsigmoid_(const Variable& self);
/// x * hardsigmoid(x) (Howard et al. 2019).
EBB_API Variable hardswish(const Variable& self);
EBB_API Variable& hardswish_(const Variable& self);
/// x if |x| > lambd, otherwise 0.
EBB_API Variable hardshrink(const Variable& self, const Scalar& lambd = 0.5);
/// x moved towards 0 by lambd; 0 within [-lambd, lambd]. Throws for negative lambd.
EBB_API Variable softshrink(const Variable& self, const Scalar& lambd = 0.5);
/// x if x > threshold, otherwise value.
EBB_API Variable threshold(const Variable& self, const Scalar& threshold, const Scalar& value);
EBB_API Variable& threshold_(const Variable& self, const Scalar& threshold, const Scalar& value);
/// a * sigmoid(b), where a and b are the halves of self along `dim`, whose size must be even (Dauphin et al.
/// 2017).
EBB_API Variable glu(const Variable& self, std::int64_t dim = -1);

}  // namespace ebb
