// Options of the activations.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::nn {

/// Options of ELU.
class ELUOptions {
 public:
  ELUOptions() = default;
  ELUOptions(double alpha) : alpha_(alpha) {}
  ELUOptions& alpha(double value) { return alpha_ = value, *this; }
  double alpha() const { return alpha_; }
  ELUOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double alpha_ = 1.0;
  bool inplace_ = false;
};

/// Options of SELU.
class SELUOptions {
 public:
  SELUOptions() = default;
  SELUOptions(bool inplace) : inplace_(inplace) {}
  SELUOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  bool inplace_ = false;
};

/// Options of GLU.
class GLUOptions {
 public:
  GLUOptions() = default;
  GLUOptions(std::int64_t dim) : dim_(dim) {}
  GLUOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }

 private:
  std::int64_t dim_ = -1;
};

/// Options of GELU: approximate is "none" (exact, by erf) or "tanh".
class GELUOptions {
 public:
  GELUOptions& approximate(std::string value) { return approximate_ = std::move(value), *this; }
  const std::string& approximate() const { return approximate_; }

 private:
  std::string approximate_ = "none";
};

/// Options of Hardshrink.
class HardshrinkOptions {
 public:
  HardshrinkOptions() = default;
  HardshrinkOptions(double lambda) : lambda_(lambda) {}
  HardshrinkOptions& lambda(double value) { return lambda_ = value, *this; }
  double lambda() const { return lambda_; }

 private:
  double lambda_ = 0.5;
};

/// Options of Hardtanh.
class HardtanhOptions {
 public:
  HardtanhOptions& min_val(double value) { return min_val_ = value, *this; }
  double min_val() const { return min_val_; }
  HardtanhOptions& max_val(double value) { return max_val_ = value, *this; }
  double max_val() const { return max_val_; }
  HardtanhOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double min_val_ = -1.0;
  double max_val_ = 1.0;
  bool inplace_ = false;
};

/// Options of LeakyReLU.
class LeakyReLUOptions {
 public:
  LeakyReLUOptions() = default;
  LeakyReLUOptions(double negative_slope) : negative_slope_(negative_slope) {}
  LeakyReLUOptions& negative_slope(double value) { return negative_slope_ = value, *this; }
  double negative_slope() const { return negative_slope_; }
  LeakyReLUOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double negative_slope_ = 1e-2;
  bool inplace_ = false;
};

/// Options of Softmax: the dimension that sums to one.
class SoftmaxOptions {
 public:
  SoftmaxOptions(std::int64_t dim) : dim_(dim) {}
  SoftmaxOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }

 private:
  std::int64_t dim_;
};

/// Options of Softmin: the dimension that sums to one.
class SoftminOptions {
 public:
  SoftminOptions(std::int64_t dim) : dim_(dim) {}
  SoftminOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }

 private:
  std::int64_t dim_;
};

/// Options of LogSoftmax: the dimension that sums to one.
class LogSoftmaxOptions {
 public:
  LogSoftmaxOptions(std::int64_t dim) : dim_(dim) {}
  LogSoftmaxOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }

 private:
  std::int64_t dim_;
};

/// Options of PReLU.
class PReLUOptions {
 public:
  PReLUOptions() = default;
  PReLUOptions(std::int64_t num_parameters) : num_parameters_(num_parameters) {}
  PReLUOptions& num_parameters(std::int64_t value) { return num_parameters_ = value, *this; }
  std::int64_t num_parameters() const { return num_parameters_; }
  PReLUOptions& init(double value) { return init_ = value, *this; }
  double init() const { return init_; }

 private:
  std::int64_t num_parameters_ = 1;
  double init_ = 0.25;
};

/// Options of ReLU.
class ReLUOptions {
 public:
  ReLUOptions() = default;
  ReLUOptions(bool inplace) : inplace_(inplace) {}
  ReLUOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  bool inplace_ = false;
};

/// Options of ReLU6.
class ReLU6Options {
 public:
  ReLU6Options() = default;
  ReLU6Options(bool inplace) : inplace_(inplace) {}
  ReLU6Options& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  bool inplace_ = false;
};

/// Options of RReLU.
class RReLUOptions {
 public:
  RReLUOptions& lower(double value) { return lower_ = value, *this; }
  double lower() const { return lower_; }
  RReLUOptions& upper(double value) { return upper_ = value, *this; }
  double upper() const { return upper_; }
  RReLUOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double lower_ = 1.0 / 8.0;
  double upper_ = 1.0 / 3.0;
  bool inplace_ = false;
};

/// Options of CELU.
class CELUOptions {
 public:
  CELUOptions() = default;
  CELUOptions(double alpha) : alpha_(alpha) {}
  CELUOptions& alpha(double value) { return alpha_ = value, *this; }
  double alpha() const { return alpha_; }
  CELUOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double alpha_ = 1.0;
  bool inplace_ = false;
};

/// Options of Softplus.
class SoftplusOptions {
 public:
  SoftplusOptions& beta(double value) { return beta_ = value, *this; }
  double beta() const { return beta_; }
  SoftplusOptions& threshold(double value) { return threshold_ = value, *this; }
  double threshold() const { return threshold_; }

 private:
  double beta_ = 1.0;
  double threshold_ = 20.0;
};

/// Options of Softshrink.
class SoftshrinkOptions {
 public:
  SoftshrinkOptions() = default;
  SoftshrinkOptions(double lambda) : lambda_(lambda) {}
  SoftshrinkOptions& lambda(double value) { return lambda_ = value, *this; }
  double lambda() const { return lambda_; }

 private:
  double lambda_ = 0.5;
};

/// Options of Threshold.
class ThresholdOptions {
 public:
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  ThresholdOptions& threshold(double value) { return threshold_ = value, *this; }
  double threshold() const { return threshold_; }
  ThresholdOptions& value(double value) { return value_ = value, *this; }
  double value() const { return value_; }
  ThresholdOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double threshold_;
  double value_;
  bool inplace_ = false;
};

namespace functional {

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

/// Options of softmax: with a dtype the input is converted first.
class SoftmaxFuncOptions {
 public:
  SoftmaxFuncOptions(std::int64_t dim) : dim_(dim) {}
  SoftmaxFuncOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }
  SoftmaxFuncOptions& dtype(optional<DType> value) { return dtype_ = value, *this; }
  const optional<DType>& dtype() const { return dtype_; }

 private:
  std::int64_t dim_;
  optional<DType> dtype_;
};

/// Options of softmin: with a dtype the input is converted first.
class SoftminFuncOptions {
 public:
  SoftminFuncOptions(std::int64_t dim) : dim_(dim) {}
  SoftminFuncOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }
  SoftminFuncOptions& dtype(optional<DType> value) { return dtype_ = value, *this; }
  const optional<DType>& dtype() const { return dtype_; }

 private:
  std::int64_t dim_;
  optional<DType> dtype_;
};

/// Options of log_softmax: with a dtype the input is converted first.
class LogSoftmaxFuncOptions {
 public:
  LogSoftmaxFuncOptions(std::int64_t dim) : dim_(dim) {}
  LogSoftmaxFuncOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }
  LogSoftmaxFuncOptions& dtype(optional<DType> value) { return dtype_ = value, *this; }
  const optional<DType>& dtype() const { return dtype_; }

 private:
  std::int64_t dim_;
  optional<DType> dtype_;
};

/// Options of rrelu.
class RReLUFuncOptions {
 public:
  RReLUFuncOptions& lower(double value) { return lower_ = value, *this; }
  double lower() const { return lower_; }
  RReLUFuncOptions& upper(double value) { return upper_ = value, *this; }
  double upper() const { return upper_; }
  RReLUFuncOptions& training(bool value) { return training_ = value, *this; }
  bool training() const { return training_; }
  RReLUFuncOptions& inplace(bool value) { return inplace_ = value, *this; }
  bool inplace() const { return inplace_; }

 private:
  double lower_ = 1.0 / 8.0;
  double upper_ = 1.0 / 3.0;
  bool training_ = false;
  bool inplace_ = false;
};

/// Options of gumbel_softmax.
class GumbelSoftmaxFuncOptions {
 public:
  GumbelSoftmaxFuncOptions& tau(double value) { return tau_ = value, *this; }
  double tau() const { return tau_; }
  GumbelSoftmaxFuncOptions& hard(bool value) { return hard_ = value, *this; }
  bool hard() const { return hard_; }
  GumbelSoftmaxFuncOptions& dim(int value) { return dim_ = value, *this; }
  int dim() const { return dim_; }

 private:
  double tau_ = 1.0;
  bool hard_ = false;
  int dim_ = -1;
};

}  // namespace functional

}  // namespace ebb::nn
