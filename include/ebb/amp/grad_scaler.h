// Scaling of losses, so that small gradients in 16 bits do not become zero.
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
  EBB_ARG(double, init_scale) = 65536;  ///< the first scale
  EBB_ARG(double, growth_factor) = 2;   ///< what the scale is multiplied by after growth_interval good steps
  EBB_ARG(double, backoff_factor) = 0.5;  ///< and by after a step with gradients that are infinite or NaN
  EBB_ARG(std::int64_t, growth_interval) = 2000;
  EBB_ARG(bool, enabled) = true;  ///< off, all of it does nothing but step
};

/// Scales the loss, and skips steps whose gradients overflowed (torch.amp.GradScaler). Gradients in Half need
/// it; BFloat16 has the range of Float and does not.
///
///     amp::GradScaler scaler;
///     for (auto& batch : *loader) {
///       optimizer.zero_grad();
///       Tensor loss = [&] { amp::autocast casting(kCUDA); return loss_of(model, batch); }();
///       scaler.scale(loss).backward();
///       scaler.unscale_(optimizer);                       // only to look at gradients before the step, as
///       nn::utils::clip_grad_norm_(model->parameters(), 1.0);  // clipping does
///       scaler.step(optimizer);
///       scaler.update();
///     }
///
/// Works with any Optimizer, and with several: unscale_ and step each, update once. What is decided on the
/// device stays there; only step() waits for it, to learn whether to skip.
class EBB_API GradScaler {
 public:
  using StateDict = std::vector<std::pair<std::string, Variable>>;

  /// Where the device is CUDA and there is none, it warns and is disabled, as PyTorch does.
  explicit GradScaler(DeviceType device, GradScalerOptions options = {});
  explicit GradScaler(GradScalerOptions options = {}) : GradScaler(kCUDA, options) {}

  /// outputs * scale, in the scale's device memory.
  Variable scale(const Variable& outputs);
  std::vector<Variable> scale(const std::vector<Variable>& outputs);
  /// Divides the gradients of the optimizer's parameters by the scale, once between two updates; step() does
  /// it unless it has been done. Gradients in Half are an error: parameters are to be in Float.
  void unscale_(optim::Optimizer& optimizer);
  /// optimizer.step(), and what that returns; an undefined tensor, and no step, if the gradients hold an
  /// infinity or NaN. A closure is an error while enabled.
  Variable step(optim::Optimizer& optimizer, optim::Optimizer::LossClosure closure = nullptr);
  /// Adapts the scale to what was found since the last update; once, after all steps. With an argument the
  /// scale becomes that.
  void update();
  void update(double new_scale);
  void update(const Variable& new_scale);

  bool is_enabled() const { return options_.enabled(); }
  /// The scale; waits for the device. 1 when disabled.
  double get_scale() const;
  double get_growth_factor() const { return options_.growth_factor(); }
  void set_growth_factor(double factor);
  double get_backoff_factor() const { return options_.backoff_factor(); }
  void set_backoff_factor(double factor);
  std::int64_t get_growth_interval() const { return options_.growth_interval(); }
  void set_growth_interval(std::int64_t steps);
  /// Good steps in a row so far. (torch: _get_growth_tracker)
  std::int64_t get_growth_tracker() const;

  /// "scale", "growth_factor", "backoff_factor", "growth_interval" and "_growth_tracker", as in PyTorch, each
  /// a tensor of one number on the CPU; nothing when disabled.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  enum class Stage { ready, unscaled, stepped };
  struct OptimizerState {
    Stage stage = Stage::ready;
    std::vector<Variable> found_inf;  // one number on each device that has gradients
  };

  void start(Device device);
  void check_started(const char* caller) const;
  Variable combined_found_inf() const;

  GradScalerOptions options_;
  double next_init_scale_;
  std::int64_t next_init_tracker_ = 0;
  Variable scale_, tracker_;  // Float and Int, made with the first outputs, on their device
  std::unordered_map<const void*, OptimizerState> optimizers_;
};

}  // namespace ebb::amp
