// Adagrad.
#pragma once

#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// The step size of step t is lr / (1 + (t - 1) lr_decay).
class EBB_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
 public:
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  AdagradOptions& lr(double value) { return lr_ = value, *this; }
  double& lr() { return lr_; }
  const double& lr() const { return lr_; }
  AdagradOptions& lr_decay(double value) { return lr_decay_ = value, *this; }
  double& lr_decay() { return lr_decay_; }
  const double& lr_decay() const { return lr_decay_; }
  AdagradOptions& weight_decay(double value) { return weight_decay_ = value, *this; }
  double& weight_decay() { return weight_decay_; }
  const double& weight_decay() const { return weight_decay_; }
  AdagradOptions& initial_accumulator_value(double value) {
    return initial_accumulator_value_ = value, *this;
  }
  double& initial_accumulator_value() { return initial_accumulator_value_; }
  const double& initial_accumulator_value() const { return initial_accumulator_value_; }
  AdagradOptions& eps(double value) { return eps_ = value, *this; }
  double& eps() { return eps_; }
  const double& eps() const { return eps_; }

 private:
  double lr_ = 1e-2;
  double lr_decay_ = 0;
  double weight_decay_ = 0;
  double initial_accumulator_value_ = 0;
  double eps_ = 1e-10;
};

/// The sum of squares.
class EBB_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
 public:
  std::int64_t& step() { return step_; }
  std::int64_t step() const { return step_; }
  void step(std::int64_t value) { step_ = value; }
  Variable& sum() { return sum_; }
  const Variable& sum() const { return sum_; }
  void sum(Variable value) { sum_ = std::move(value); }
  std::vector<std::pair<std::string, Variable>> tensors() const override;
  void load(const std::string& name, const Variable& value) override;

 private:
  std::int64_t step_ = 0;
  Variable sum_;
};

/// s += g^2; p -= lr g / (sqrt(s) + eps) (Duchi, Hazan & Singer 2011).
class EBB_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(std::vector<OptimizerParamGroup> param_groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Variable> params, AdagradOptions defaults = {});
  Variable step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace ebb::optim
