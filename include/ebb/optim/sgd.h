// Stochastic gradient descent.
#pragma once

#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// lr has no default. Nesterov momentum needs momentum > 0 and dampening 0.
class EBB_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
 public:
  SGDOptions(double lr) : lr_(lr) {}
  SGDOptions& lr(double value) { return lr_ = value, *this; }
  double& lr() { return lr_; }
  const double& lr() const { return lr_; }
  SGDOptions& momentum(double value) { return momentum_ = value, *this; }
  double& momentum() { return momentum_; }
  const double& momentum() const { return momentum_; }
  SGDOptions& dampening(double value) { return dampening_ = value, *this; }
  double& dampening() { return dampening_; }
  const double& dampening() const { return dampening_; }
  SGDOptions& weight_decay(double value) { return weight_decay_ = value, *this; }
  double& weight_decay() { return weight_decay_; }
  const double& weight_decay() const { return weight_decay_; }
  SGDOptions& nesterov(bool value) { return nesterov_ = value, *this; }
  bool& nesterov() { return nesterov_; }
  const bool& nesterov() const { return nesterov_; }

 private:
  double lr_;
  double momentum_ = 0;
  double dampening_ = 0;
  double weight_decay_ = 0;
  bool nesterov_ = false;
};

/// The velocity.
class EBB_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
 public:
  Variable& momentum_buffer() { return momentum_buffer_; }
  const Variable& momentum_buffer() const { return momentum_buffer_; }
  void momentum_buffer(Variable value) { momentum_buffer_ = std::move(value); }
  std::vector<std::pair<std::string, Variable>> tensors() const override;
  void load(const std::string& name, const Variable& value) override;

 private:
  Variable momentum_buffer_;
};

/// g += weight_decay p; v = momentum v + (1 - dampening) g (v = g at first); p -= lr v, or lr (g + momentum
/// v) with nesterov.
class EBB_API SGD : public Optimizer {
 public:
  explicit SGD(std::vector<OptimizerParamGroup> param_groups, SGDOptions defaults);
  explicit SGD(std::vector<Variable> params, SGDOptions defaults);
  Variable step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace ebb::optim
