// RMSprop.
#pragma once

#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// centered divides by the variance instead of the second moment.
class EBB_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
 public:
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  RMSpropOptions& lr(double value) { return lr_ = value, *this; }
  double& lr() { return lr_; }
  const double& lr() const { return lr_; }
  RMSpropOptions& alpha(double value) { return alpha_ = value, *this; }
  double& alpha() { return alpha_; }
  const double& alpha() const { return alpha_; }
  RMSpropOptions& eps(double value) { return eps_ = value, *this; }
  double& eps() { return eps_; }
  const double& eps() const { return eps_; }
  RMSpropOptions& weight_decay(double value) { return weight_decay_ = value, *this; }
  double& weight_decay() { return weight_decay_; }
  const double& weight_decay() const { return weight_decay_; }
  RMSpropOptions& momentum(double value) { return momentum_ = value, *this; }
  double& momentum() { return momentum_; }
  const double& momentum() const { return momentum_; }
  RMSpropOptions& centered(bool value) { return centered_ = value, *this; }
  bool& centered() { return centered_; }
  const bool& centered() const { return centered_; }

 private:
  double lr_ = 1e-2;
  double alpha_ = 0.99;
  double eps_ = 1e-8;
  double weight_decay_ = 0;
  double momentum_ = 0;
  bool centered_ = false;
};

/// The moments.
class EBB_API RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
 public:
  std::int64_t& step() { return step_; }
  std::int64_t step() const { return step_; }
  void step(std::int64_t value) { step_ = value; }
  Variable& square_avg() { return square_avg_; }
  const Variable& square_avg() const { return square_avg_; }
  void square_avg(Variable value) { square_avg_ = std::move(value); }
  Variable& momentum_buffer() { return momentum_buffer_; }
  const Variable& momentum_buffer() const { return momentum_buffer_; }
  void momentum_buffer(Variable value) { momentum_buffer_ = std::move(value); }
  Variable& grad_avg() { return grad_avg_; }
  const Variable& grad_avg() const { return grad_avg_; }
  void grad_avg(Variable value) { grad_avg_ = std::move(value); }
  std::vector<std::pair<std::string, Variable>> tensors() const override;
  void load(const std::string& name, const Variable& value) override;

 private:
  std::int64_t step_ = 0;
  Variable square_avg_;
  Variable momentum_buffer_;
  Variable grad_avg_;
};

/// v = alpha v + (1 - alpha) g^2; p -= lr g / (sqrt(v) + eps), by way of momentum if there is any (Hinton
/// 2012).
class EBB_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(std::vector<OptimizerParamGroup> param_groups, RMSpropOptions defaults = {});
  explicit RMSprop(std::vector<Variable> params, RMSpropOptions defaults = {});
  Variable step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace ebb::optim
