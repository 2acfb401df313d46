// Activations with options (torch::nn::functional). With inplace the input is overwritten and returned.
#pragma once

#include <ebb/nn/options/activation.h>

namespace ebb::nn::functional {

EBB_API Variable elu(Variable input, const ELUFuncOptions& options = {});
EBB_API Variable selu(Variable input, const SELUFuncOptions& options = {});
EBB_API Variable hardshrink(const Variable& input, const HardshrinkFuncOptions& options = {});
EBB_API Variable hardtanh(Variable input, const HardtanhFuncOptions& options = {});
EBB_API Variable leaky_relu(Variable input, const LeakyReLUFuncOptions& options = {});
EBB_API Variable logsigmoid(const Variable& input);
EBB_API Variable softmax(const Variable& input, const SoftmaxFuncOptions& options);
EBB_API Variable softmin(const Variable& input, const SoftminFuncOptions& options);
EBB_API Variable log_softmax(const Variable& input, const LogSoftmaxFuncOptions& options);
/// Samples from the Gumbel-softmax distribution (Jang, Gu & Poole 2017); `hard` gives one-hot values whose
/// gradient is that of the soft ones.
EBB_API Variable gumbel_softmax(const Variable& logits, const GumbelSoftmaxFuncOptions& options = {});
EBB_API Variable glu(const Variable& input, const GLUFuncOptions& options = {});
EBB_API Variable gelu(const Variable& input, const GELUFuncOptions& options = {});
EBB_API Variable silu(const Variable& input);
EBB_API Variable mish(const Variable& input);
EBB_API Variable prelu(const Variable& input, const Variable& weight);
EBB_API Variable relu(Variable input, const ReLUFuncOptions& options = {});
EBB_API Variable relu6(Variable input, const ReLU6FuncOptions& options = {});
EBB_API Variable rrelu(Variable input, const RReLUFuncOptions& options = {});
EBB_API Variable celu(Variable input, const CELUFuncOptions& options = {});
EBB_API Variable softplus(const Variable& input, const SoftplusFuncOptions& options = {});
EBB_API Variable softshrink(const Variable& input, const SoftshrinkFuncOptions& options = {});
EBB_API Variable softsign(const Variable& input);
EBB_API Variable tanhshrink(const Variable& input);
EBB_API Variable threshold(Variable input, const ThresholdFuncOptions& options);

}  // namespace ebb::nn::functional
