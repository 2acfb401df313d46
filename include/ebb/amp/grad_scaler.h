// GradScaler: loss scaling, which keeps small 16-bit gradients from underflowing to zero.
#pragma once

#include <ebb/archive.h>
#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb::amp {

struct GradScalerOptions {
  EBB_ARG(double, init_scale) = 65536;    ///< the first scale
  EBB_ARG(double, growth_factor) = 2;     ///< the factor of the scale after growth_interval successful steps
  EBB_ARG(double, backoff_factor) = 0.5;  ///< the factor after a step whose gradients overflowed
  EBB_ARG(std::int64_t, growth_interval) = 2000;
  EBB_ARG(bool, enabled) = true;  ///< if false, step() is optimizer.step() and scale() the identity
};

/// Scales the loss, and skips each step whose gradients overflowed (torch.amp.GradScaler). Training with
/// gradients in Half needs it. BFloat16 does not need it, because it has the range of Float.
///
///     amp::GradScaler scaler;
///     for (auto& batch : *loader) {
///       optimizer.zero_grad();
///       Tensor loss = [&] { amp::autocast casting(kCUDA); return loss_of(model, batch); }();
///       scaler.scale(loss).backward();
///       scaler.unscale_(optimizer);                       // only needed to read gradients before the
///       nn::utils::clip_grad_norm_(model->parameters(), 1.0);  // step, for example to clip them
///       scaler.step(optimizer);
///       scaler.update();
///     }
///
/// Works with any Optimizer. With several optimizers, call unscale_ and step for each, and update once. The
/// checks for overflow run on the device. Only step() waits for the device, because the host decides whether
/// to skip the step.
class EBB_API GradScaler {
 public:
  using StateDict = std::vector<std::pair<std::string, Variable>>;

  /// If the device type is CUDA and there is no CUDA device, the scaler warns and is disabled, as in PyTorch.
  explicit GradScaler(DeviceType device, GradScalerOptions options = {});
  explicit GradScaler(GradScalerOptions options = {}) : GradScaler(kCUDA, options) {}

  /// Returns outputs * scale. The scale is read from device memory.
  Variable scale(const Variable& outputs);
  std::vector<Variable> scale(const std::vector<Variable>& outputs);
  /// Divides the gradients of the optimizer's parameters by the scale, at most once between two updates.
  /// step() calls it if the caller has not called it since the last update. Gradients in Half are an error:
  /// keep the parameters in Float.
  void unscale_(optim::Optimizer& optimizer);
  /// Calls optimizer.step() and returns its result. If a gradient is infinite or NaN, skips the step and
  /// returns an undefined tensor. A closure is an error while the scaler is enabled.
  Variable step(optim::Optimizer& optimizer, optim::Optimizer::LossClosure closure = nullptr);
  /// Adapts the scale to the overflows found since the last update. Call it once, after all steps. With an
  /// argument, sets the scale to `new_scale`.
  void update();
  void update(double new_scale);
  void update(const Variable& new_scale);

  bool is_enabled() const { return options_.enabled(); }
  /// Returns the scale, or 1 if disabled. Waits for the device.
  double get_scale() const;
  double get_growth_factor() const { return options_.growth_factor(); }
  void set_growth_factor(double factor);
  double get_backoff_factor() const { return options_.backoff_factor(); }
  void set_backoff_factor(double factor);
  std::int64_t get_growth_interval() const { return options_.growth_interval(); }
  void set_growth_interval(std::int64_t steps);
  /// Returns the number of successful steps since the scale last changed. (torch: _get_growth_tracker)
  std::int64_t get_growth_tracker() const;

  /// Returns "scale", "growth_factor", "backoff_factor", "growth_interval" and "_growth_tracker", as in
  /// PyTorch. Each is a CPU tensor with one element. Returns an empty dict if the scaler is disabled.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  enum class Stage { ready, unscaled, stepped };
  struct OptimizerState {
    Stage stage = Stage::ready;
    std::vector<Variable> found_inf;  // one element on each device that has gradients
  };

  void start(Device device);
  void check_started(const char* caller) const;
  Variable combined_found_inf() const;

  GradScalerOptions options_;
  double next_init_scale_;
  std::int64_t next_init_tracker_ = 0;
  Variable scale_, tracker_;  // Float and Int, allocated by the first scale(), on the device of its argument
  std::unordered_map<const void*, OptimizerState> optimizers_;
};

}  // namespace ebb::amp
