// Adam and AdamW.
#pragma once

#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// weight_decay is added to the gradient.
class EBB_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
 public:
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  AdamOptions& lr(double value) { return lr_ = value, *this; }
  double& lr() { return lr_; }
  const double& lr() const { return lr_; }
  AdamOptions& betas(std::tuple<double, double> value) { return betas_ = value, *this; }
  std::tuple<double, double>& betas() { return betas_; }
  const std::tuple<double, double>& betas() const { return betas_; }
  AdamOptions& eps(double value) { return eps_ = value, *this; }
  double& eps() { return eps_; }
  const double& eps() const { return eps_; }
  AdamOptions& weight_decay(double value) { return weight_decay_ = value, *this; }
  double& weight_decay() { return weight_decay_; }
  const double& weight_decay() const { return weight_decay_; }
  AdamOptions& amsgrad(bool value) { return amsgrad_ = value, *this; }
  bool& amsgrad() { return amsgrad_; }
  const bool& amsgrad() const { return amsgrad_; }

 private:
  double lr_ = 1e-3;
  std::tuple<double, double> betas_ = {0.9, 0.999};
  double eps_ = 1e-8;
  double weight_decay_ = 0;
  bool amsgrad_ = false;
};

/// weight_decay shrinks the parameter itself.
class EBB_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
 public:
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  AdamWOptions& lr(double value) { return lr_ = value, *this; }
  double& lr() { return lr_; }
  const double& lr() const { return lr_; }
  AdamWOptions& betas(std::tuple<double, double> value) { return betas_ = value, *this; }
  std::tuple<double, double>& betas() { return betas_; }
  const std::tuple<double, double>& betas() const { return betas_; }
  AdamWOptions& eps(double value) { return eps_ = value, *this; }
  double& eps() { return eps_; }
  const double& eps() const { return eps_; }
  AdamWOptions& weight_decay(double value) { return weight_decay_ = value, *this; }
  double& weight_decay() { return weight_decay_; }
  const double& weight_decay() const { return weight_decay_; }
  AdamWOptions& amsgrad(bool value) { return amsgrad_ = value, *this; }
  bool& amsgrad() { return amsgrad_; }
  const bool& amsgrad() const { return amsgrad_; }

 private:
  double lr_ = 1e-3;
  std::tuple<double, double> betas_ = {0.9, 0.999};
  double eps_ = 1e-8;
  double weight_decay_ = 1e-2;
  bool amsgrad_ = false;
};

/// The moments.
class EBB_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
 public:
  std::int64_t& step() { return step_; }
  std::int64_t step() const { return step_; }
  void step(std::int64_t value) { step_ = value; }
  Variable& exp_avg() { return exp_avg_; }
  const Variable& exp_avg() const { return exp_avg_; }
  void exp_avg(Variable value) { exp_avg_ = std::move(value); }
  Variable& exp_avg_sq() { return exp_avg_sq_; }
  const Variable& exp_avg_sq() const { return exp_avg_sq_; }
  void exp_avg_sq(Variable value) { exp_avg_sq_ = std::move(value); }
  Variable& max_exp_avg_sq() { return max_exp_avg_sq_; }
  const Variable& max_exp_avg_sq() const { return max_exp_avg_sq_; }
  void max_exp_avg_sq(Variable value) { max_exp_avg_sq_ = std::move(value); }
  std::vector<std::pair<std::string, Variable>> tensors() const override;
  void load(const std::string& name, const Variable& value) override;

 private:
  std::int64_t step_ = 0;
  Variable exp_avg_;
  Variable exp_avg_sq_;
  Variable max_exp_avg_sq_;
};

/// The moments.
class EBB_API AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
 public:
  std::int64_t& step() { return step_; }
  std::int64_t step() const { return step_; }
  void step(std::int64_t value) { step_ = value; }
  Variable& exp_avg() { return exp_avg_; }
  const Variable& exp_avg() const { return exp_avg_; }
  void exp_avg(Variable value) { exp_avg_ = std::move(value); }
  Variable& exp_avg_sq() { return exp_avg_sq_; }
  const Variable& exp_avg_sq() const { return exp_avg_sq_; }
  void exp_avg_sq(Variable value) { exp_avg_sq_ = std::move(value); }
  Variable& max_exp_avg_sq() { return max_exp_avg_sq_; }
  const Variable& max_exp_avg_sq() const { return max_exp_avg_sq_; }
  void max_exp_avg_sq(Variable value) { max_exp_avg_sq_ = std::move(value); }
  std::vector<std::pair<std::string, Variable>> tensors() const override;
  void load(const std::string& name, const Variable& value) override;

 private:
  std::int64_t step_ = 0;
  Variable exp_avg_;
  Variable exp_avg_sq_;
  Variable max_exp_avg_sq_;
};

/// Kingma & Ba 2015: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
/// p -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps). amsgrad uses the largest v so far (Reddi et al.
/// 2018).
class EBB_API Adam : public Optimizer {
 public:
  explicit Adam(std::vector<OptimizerParamGroup> param_groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Variable> params, AdamOptions defaults = {});
  Variable step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

/// Loshchilov & Hutter 2019: p *= 1 - lr weight_decay, then Adam.
class EBB_API AdamW : public Optimizer {
 public:
  explicit AdamW(std::vector<OptimizerParamGroup> param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Variable> params, AdamWOptions defaults = {});
  Variable step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace ebb::optim
