// Activations as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/options/activation.h>

namespace ebb::nn {

/// max(0, x) + min(0, alpha (exp(x) - 1)).
class EBB_API ELUImpl : public Cloneable<ELUImpl> {
 public:
  explicit ELUImpl(ELUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ELUOptions options;
};
EBB_MODULE(ELU);

/// Scaled ELU.
class EBB_API SELUImpl : public Cloneable<SELUImpl> {
 public:
  explicit SELUImpl(SELUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  SELUOptions options;
};
EBB_MODULE(SELU);

/// x where |x| > lambda, else 0.
class EBB_API HardshrinkImpl : public Cloneable<HardshrinkImpl> {
 public:
  explicit HardshrinkImpl(double lambda) : HardshrinkImpl(HardshrinkOptions(lambda)) {}
  explicit HardshrinkImpl(HardshrinkOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  HardshrinkOptions options;
};
EBB_MODULE(Hardshrink);

/// x clamped to [min_val, max_val].
class EBB_API HardtanhImpl : public Cloneable<HardtanhImpl> {
 public:
  explicit HardtanhImpl(HardtanhOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  HardtanhOptions options;
};
EBB_MODULE(Hardtanh);

/// max(0, x) + negative_slope min(0, x).
class EBB_API LeakyReLUImpl : public Cloneable<LeakyReLUImpl> {
 public:
  explicit LeakyReLUImpl(double negative_slope) : LeakyReLUImpl(LeakyReLUOptions(negative_slope)) {}
  explicit LeakyReLUImpl(LeakyReLUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  LeakyReLUOptions options;
};
EBB_MODULE(LeakyReLU);

/// exp(x) / sum exp(x) along dim.
class EBB_API SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(std::int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}
  explicit SoftmaxImpl(SoftmaxOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  SoftmaxOptions options;
};
EBB_MODULE(Softmax);

/// Softmax of -x.
class EBB_API SoftminImpl : public Cloneable<SoftminImpl> {
 public:
  explicit SoftminImpl(std::int64_t dim) : SoftminImpl(SoftminOptions(dim)) {}
  explicit SoftminImpl(SoftminOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  SoftminOptions options;
};
EBB_MODULE(Softmin);

/// log of Softmax.
class EBB_API LogSoftmaxImpl : public Cloneable<LogSoftmaxImpl> {
 public:
  explicit LogSoftmaxImpl(std::int64_t dim) : LogSoftmaxImpl(LogSoftmaxOptions(dim)) {}
  explicit LogSoftmaxImpl(LogSoftmaxOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  LogSoftmaxOptions options;
};
EBB_MODULE(LogSoftmax);

/// max(0, x) + weight min(0, x), the weight learnt.
class EBB_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(std::int64_t num_parameters) : PReLUImpl(PReLUOptions(num_parameters)) {}
  explicit PReLUImpl(PReLUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  PReLUOptions options;
  Variable weight;
};
EBB_MODULE(PReLU);

/// max(0, x).
class EBB_API ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(ReLUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ReLUOptions options;
};
EBB_MODULE(ReLU);

/// min(max(0, x), 6).
class EBB_API ReLU6Impl : public Cloneable<ReLU6Impl> {
 public:
  explicit ReLU6Impl(ReLU6Options options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ReLU6Options options;
};
EBB_MODULE(ReLU6);

/// LeakyReLU with a slope drawn from U(lower, upper) for each element in training.
class EBB_API RReLUImpl : public Cloneable<RReLUImpl> {
 public:
  explicit RReLUImpl(RReLUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  RReLUOptions options;
};
EBB_MODULE(RReLU);

/// max(0, x) + min(0, alpha (exp(x / alpha) - 1)).
class EBB_API CELUImpl : public Cloneable<CELUImpl> {
 public:
  explicit CELUImpl(double alpha) : CELUImpl(CELUOptions(alpha)) {}
  explicit CELUImpl(CELUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  CELUOptions options;
};
EBB_MODULE(CELU);

/// First half times sigmoid of the second half along dim.
class EBB_API GLUImpl : public Cloneable<GLUImpl> {
 public:
  explicit GLUImpl(std::int64_t dim) : GLUImpl(GLUOptions(dim)) {}
  explicit GLUImpl(GLUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  GLUOptions options;
};
EBB_MODULE(GLU);

/// x Phi(x).
class EBB_API GELUImpl : public Cloneable<GELUImpl> {
 public:
  explicit GELUImpl(GELUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  GELUOptions options;
};
EBB_MODULE(GELU);

/// log(1 + exp(beta x)) / beta.
class EBB_API SoftplusImpl : public Cloneable<SoftplusImpl> {
 public:
  explicit SoftplusImpl(SoftplusOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  SoftplusOptions options;
};
EBB_MODULE(Softplus);

/// x moved towards 0 by lambda.
class EBB_API SoftshrinkImpl : public Cloneable<SoftshrinkImpl> {
 public:
  explicit SoftshrinkImpl(double lambda) : SoftshrinkImpl(SoftshrinkOptions(lambda)) {}
  explicit SoftshrinkImpl(SoftshrinkOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  SoftshrinkOptions options;
};
EBB_MODULE(Softshrink);

/// x where x > threshold, else value.
class EBB_API ThresholdImpl : public Cloneable<ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value)) {}
  explicit ThresholdImpl(ThresholdOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ThresholdOptions options;
};
EBB_MODULE(Threshold);

/// log sigmoid(x).
class EBB_API LogSigmoidImpl : public Cloneable<LogSigmoidImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
};
EBB_MODULE(LogSigmoid);

/// Softmax over the channels of (N, C, H, W) or (C, H, W).
class EBB_API Softmax2dImpl : public Cloneable<Softmax2dImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
};
EBB_MODULE(Softmax2d);

/// x sigmoid(x).
class EBB_API SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
};
EBB_MODULE(SiLU);

/// x tanh(softplus(x)).
class EBB_API MishImpl : public Cloneable<MishImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
};
EBB_MODULE(Mish);

/// 1 / (1 + exp(-x)).
class EBB_API SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
};
EBB_MODULE(Sigmoid);

/// x / (1 + |x|).
class EBB_API SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
};
EBB_MODULE(Softsign);

/// tanh(x).
class EBB_API TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
};
EBB_MODULE(Tanh);

/// x - tanh(x).
class EBB_API TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
};
EBB_MODULE(Tanhshrink);

}  // namespace ebb::nn
