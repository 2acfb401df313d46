// Activation functions with options (torch::nn::functional). With `inplace` they overwrite and return the
// input.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>

namespace ebb::nn {

/// Options of ELU.
class EBB_API ELUOptions {
 public:
  ELUOptions() = default;
  ELUOptions(double alpha) : alpha_(alpha) {}

  EBB_ARG(double, alpha) = 1.0;    ///< the limit for x -> -inf is -alpha
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of SELU.
class EBB_API SELUOptions {
 public:
  SELUOptions() = default;
  SELUOptions(bool inplace) : inplace_(inplace) {}

  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of GLU.
class EBB_API GLUOptions {
 public:
  GLUOptions() = default;
  GLUOptions(std::int64_t dim) : dim_(dim) {}

  EBB_ARG(std::int64_t, dim) = -1;  ///< the dimension that is halved
};

/// Options of GELU.
class EBB_API GELUOptions {
  EBB_ARG(std::string, approximate) = "none";  ///< "none" (exact, by erf) or "tanh"
};

/// Options of Hardshrink.
class EBB_API HardshrinkOptions {
 public:
  HardshrinkOptions() = default;
  HardshrinkOptions(double lambda) : lambda_(lambda) {}

  EBB_ARG(double, lambda) = 0.5;  ///< x becomes 0 if |x| <= lambda
};

/// Options of Hardtanh.
class EBB_API HardtanhOptions {
  EBB_ARG(double, min_val) = -1.0;  ///< lower bound
  EBB_ARG(double, max_val) = 1.0;   ///< upper bound
  EBB_ARG(bool, inplace) = false;   ///< overwrites the input
};

/// Options of LeakyReLU.
class EBB_API LeakyReLUOptions {
 public:
  LeakyReLUOptions() = default;
  LeakyReLUOptions(double negative_slope) : negative_slope_(negative_slope) {}

  EBB_ARG(double, negative_slope) = 1e-2;  ///< slope for x < 0
  EBB_ARG(bool, inplace) = false;          ///< overwrites the input
};

/// Options of Softmax.
class EBB_API SoftmaxOptions {
 public:
  SoftmaxOptions(std::int64_t dim) : dim_(dim) {}

  EBB_ARG(std::int64_t, dim);  ///< the dimension that sums to one
};

/// Options of Softmin.
class EBB_API SoftminOptions {
 public:
  SoftminOptions(std::int64_t dim) : dim_(dim) {}

  EBB_ARG(std::int64_t, dim);  ///< the dimension that sums to one
};

/// Options of LogSoftmax.
class EBB_API LogSoftmaxOptions {
 public:
  LogSoftmaxOptions(std::int64_t dim) : dim_(dim) {}

  EBB_ARG(std::int64_t, dim);  ///< the dimension that sums to one
};

/// Options of PReLU.
class EBB_API PReLUOptions {
 public:
  PReLUOptions() = default;
  PReLUOptions(std::int64_t num_parameters) : num_parameters_(num_parameters) {}

  EBB_ARG(std::int64_t, num_parameters) = 1;  ///< 1, or the number of channels
  EBB_ARG(double, init) = 0.25;               ///< initial value of the slopes
};

/// Options of ReLU.
class EBB_API ReLUOptions {
 public:
  ReLUOptions() = default;
  ReLUOptions(bool inplace) : inplace_(inplace) {}

  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of ReLU6.
class EBB_API ReLU6Options {
 public:
  ReLU6Options() = default;
  ReLU6Options(bool inplace) : inplace_(inplace) {}

  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of RReLU.
class EBB_API RReLUOptions {
  EBB_ARG(double, lower) = 1.0 / 8.0;  ///< smallest slope
  EBB_ARG(double, upper) = 1.0 / 3.0;  ///< largest slope
  EBB_ARG(bool, inplace) = false;      ///< overwrites the input
};

/// Options of CELU.
class EBB_API CELUOptions {
 public:
  CELUOptions() = default;
  CELUOptions(double alpha) : alpha_(alpha) {}

  EBB_ARG(double, alpha) = 1.0;    ///< the limit for x -> -inf is -alpha
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of Softplus.
class EBB_API SoftplusOptions {
  EBB_ARG(double, beta) = 1.0;        ///< log(1 + exp(beta * x)) / beta
  EBB_ARG(double, threshold) = 20.0;  ///< returns x if beta * x > threshold
};

/// Options of Softshrink.
class EBB_API SoftshrinkOptions {
 public:
  SoftshrinkOptions() = default;
  SoftshrinkOptions(double lambda) : lambda_(lambda) {}

  EBB_ARG(double, lambda) = 0.5;  ///< the amount by which x moves towards 0
};

/// Options of Threshold.
class EBB_API ThresholdOptions {
 public:
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}

  EBB_ARG(double, threshold);      ///< x is replaced if x <= threshold
  EBB_ARG(double, value);          ///< the replacement of x
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of Hardsigmoid.
class EBB_API HardsigmoidOptions {
 public:
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of SiLU.
class EBB_API SiLUOptions {
 public:
  SiLUOptions() = default;
  SiLUOptions(bool inplace) : inplace_(inplace) {}

  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of Mish.
class EBB_API MishOptions {
 public:
  MishOptions() = default;
  MishOptions(bool inplace) : inplace_(inplace) {}

  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of Hardswish.
class EBB_API HardswishOptions {
 public:
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

namespace functional {

using HardsigmoidFuncOptions = HardsigmoidOptions;
using HardswishFuncOptions = HardswishOptions;
using SiLUFuncOptions = SiLUOptions;
using MishFuncOptions = MishOptions;

using ELUFuncOptions = ELUOptions;
using SELUFuncOptions = SELUOptions;
using GLUFuncOptions = GLUOptions;
using GELUFuncOptions = GELUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using CELUFuncOptions = CELUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using ThresholdFuncOptions = ThresholdOptions;

/// Options of softmax.
class EBB_API SoftmaxFuncOptions {
 public:
  SoftmaxFuncOptions(std::int64_t dim) : dim_(dim) {}

  EBB_ARG(std::int64_t, dim);       ///< the dimension that sums to one
  EBB_ARG(optional<DType>, dtype);  ///< the input is first converted to this dtype
};

/// Options of softmin.
class EBB_API SoftminFuncOptions {
 public:
  SoftminFuncOptions(std::int64_t dim) : dim_(dim) {}

  EBB_ARG(std::int64_t, dim);       ///< the dimension that sums to one
  EBB_ARG(optional<DType>, dtype);  ///< the input is first converted to this dtype
};

/// Options of log_softmax.
class EBB_API LogSoftmaxFuncOptions {
 public:
  LogSoftmaxFuncOptions(std::int64_t dim) : dim_(dim) {}

  EBB_ARG(std::int64_t, dim);       ///< the dimension that sums to one
  EBB_ARG(optional<DType>, dtype);  ///< the input is first converted to this dtype
};

/// Options of rrelu.
class EBB_API RReLUFuncOptions {
  EBB_ARG(double, lower) = 1.0 / 8.0;  ///< smallest slope
  EBB_ARG(double, upper) = 1.0 / 3.0;  ///< largest slope
  EBB_ARG(bool, training) = false;     ///< samples the slopes; if false, uses their mean
  EBB_ARG(bool, inplace) = false;      ///< overwrites the input
};

/// Options of gumbel_softmax.
class EBB_API GumbelSoftmaxFuncOptions {
  EBB_ARG(double, tau) = 1.0;   ///< temperature
  EBB_ARG(bool, hard) = false;  ///< returns one-hot values
  EBB_ARG(int, dim) = -1;       ///< the dimension that sums to one
};

EBB_API Variable elu(Variable input, const ELUFuncOptions& options = {});
EBB_API Variable selu(Variable input, const SELUFuncOptions& options = {});
EBB_API Variable hardshrink(const Variable& input, const HardshrinkFuncOptions& options = {});
EBB_API Variable hardtanh(Variable input, const HardtanhFuncOptions& options = {});
EBB_API Variable leaky_relu(Variable input, const LeakyReLUFuncOptions& options = {});
EBB_API Variable logsigmoid(const Variable& input);
EBB_API Variable softmax(const Variable& input, const SoftmaxFuncOptions& options);
EBB_API Variable softmin(const Variable& input, const SoftminFuncOptions& options);
EBB_API Variable log_softmax(const Variable& input, const LogSoftmaxFuncOptions& options);
/// Samples from the Gumbel-softmax distribution (Jang, Gu & Poole 2017). With `hard` returns one-hot values;
/// their gradient is the gradient of the soft values.
EBB_API Variable gumbel_softmax(const Variable& logits, const GumbelSoftmaxFuncOptions& options = {});
EBB_API Variable glu(const Variable& input, const GLUFuncOptions& options = {});
EBB_API Variable gelu(const Variable& input, const GELUFuncOptions& options = {});
EBB_API Variable silu(Variable input, const SiLUFuncOptions& options = {});
EBB_API Variable mish(Variable input, const MishFuncOptions& options = {});
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

/// Computes x / 6 + 1 / 2, clamped to [0, 1].
EBB_API Variable hardsigmoid(Variable input, const HardsigmoidFuncOptions& options = {});
/// Computes x * hardsigmoid(x).
EBB_API Variable hardswish(Variable input, const HardswishFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
