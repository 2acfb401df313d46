// Mixed precision (torch.amp): autocast and GradScaler. Autocast has settings, and scopes that change them.
// GradScaler scales the loss and skips steps with infinite or NaN gradients.
#include <ebb/amp/autocast.h>
#include <ebb/amp/grad_scaler.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/error.h>
#include <ebb/core/warning.h>
#include <ebb/cuda/cuda.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include "autograd/thread_state.h"
#include "ops/common/autocast.h"
#include "ops/elementwise/foreach.h"
#include "ops/elementwise/foreach_kernels.h"

#include <cmath>

namespace ebb {

using autograd::thread_state;

namespace {

std::uint8_t bit_of(DeviceType device) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(device));
}

bool is_lower(DType dtype) { return dtype == kHalf || dtype == kBFloat16; }

}  // namespace

namespace autocast {

bool is_autocast_enabled(DeviceType device) { return (thread_state.autocast.devices & bit_of(device)) != 0; }

void set_autocast_enabled(DeviceType device, bool enabled) {
  std::uint8_t& devices = thread_state.autocast.devices;
  devices = static_cast<std::uint8_t>(enabled ? devices | bit_of(device) : devices & ~bit_of(device));
}

DType get_autocast_dtype(DeviceType device) { return thread_state.autocast.dtypes[static_cast<int>(device)]; }

void set_autocast_dtype(DeviceType device, DType dtype) {
  EBB_CHECK(is_lower(dtype), "set_autocast_dtype: autocast computes in BFloat16 or Half, got ", dtype, ".");
  thread_state.autocast.dtypes[static_cast<int>(device)] = dtype;
}

bool is_autocast_cache_enabled() { return thread_state.autocast.cache_enabled; }
void set_autocast_cache_enabled(bool enabled) { thread_state.autocast.cache_enabled = enabled; }
int increment_nesting() { return ++thread_state.autocast.nesting; }

int decrement_nesting() {
  EBB_CHECK(thread_state.autocast.nesting > 0, "decrement_nesting: no scope of autocast is open.");
  if (--thread_state.autocast.nesting == 0) clear_cache();
  return thread_state.autocast.nesting;
}

void clear_cache() { ops::clear_cast_cache(); }

}  // namespace autocast

namespace amp {

namespace on = ebb::autocast;

autocast::autocast(DeviceType device, optional<DType> dtype, bool enabled, optional<bool> cache_enabled)
    : device_(device),
      previous_cache_enabled_(on::is_autocast_cache_enabled()),
      previous_devices_(thread_state.autocast.devices),
      previous_dtype_(on::get_autocast_dtype(device)) {
  if (dtype && !is_lower(*dtype)) {
    if (enabled)
      warn("autocast: computes in BFloat16 or Half, not in ", *dtype, "; it stays off in this scope.");
    enabled = false;
  } else if (dtype) {
    on::set_autocast_dtype(device, *dtype);
  }
  on::set_autocast_enabled(device, enabled);
  if (cache_enabled) on::set_autocast_cache_enabled(*cache_enabled);
  on::increment_nesting();
}

autocast::~autocast() {
  on::decrement_nesting();
  on::set_autocast_cache_enabled(previous_cache_enabled_);
  on::set_autocast_dtype(device_, previous_dtype_);
  thread_state.autocast.devices = previous_devices_;
}

}  // namespace amp

}  // namespace ebb

namespace ebb::amp {

namespace {

constexpr const char* kState[] = {"scale", "growth_factor", "backoff_factor", "growth_interval",
                                  "_growth_tracker"};

Variable number(double value) { return scalar_tensor(value, TensorOptions(kDouble)); }
Variable number(std::int64_t value) { return scalar_tensor(value, TensorOptions(kLong)); }

void check_options(const GradScalerOptions& options) {
  EBB_CHECK(options.growth_factor() > 1, "GradScaler: the growth factor must be > 1.0, got ",
            options.growth_factor(), ".");
  EBB_CHECK(options.backoff_factor() < 1, "GradScaler: the backoff factor must be < 1.0, got ",
            options.backoff_factor(), ".");
  EBB_CHECK(options.growth_interval() > 0 && options.growth_interval() <= INT32_MAX,
            "GradScaler: the growth interval must be a positive number of steps, got ",
            options.growth_interval(), ".");
}

/// Returns the gradients, grouped by device. The devices are in the order of their first occurrence.
std::vector<std::pair<Device, std::vector<Variable>>> gradients_of(const optim::Optimizer& optimizer) {
  std::vector<std::pair<Device, std::vector<Variable>>> out;
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
    for (const Variable& parameter : group.params()) {
      const Variable& grad = parameter.grad();
      if (!grad.defined()) continue;
      EBB_CHECK(
          grad.dtype() != kHalf,
          "GradScaler::unscale_: Attempting to unscale FP16 gradients. Keep the parameters in Float, and "
          "let amp::autocast cast them.");
      auto* place = static_cast<std::vector<Variable>*>(nullptr);
      for (auto& [device, grads] : out)
        if (device == grad.device()) place = &grads;
      if (!place) place = &out.emplace_back(grad.device(), std::vector<Variable>()).second;
      place->push_back(grad);
    }
  return out;
}

}  // namespace

GradScaler::GradScaler(DeviceType device, GradScalerOptions options)
    : options_(options), next_init_scale_(options.init_scale()) {
  if (is_enabled() && device == kCUDA && !cuda::is_available()) {
    warn("GradScaler is enabled, but CUDA is not available. Disabling. On the CPU, use GradScaler(kCPU).");
    options_.enabled(false);
  }
  if (is_enabled()) check_options(options_);
}

void GradScaler::start(Device device) {
  scale_ = full({}, next_init_scale_, TensorOptions(kFloat).device(device));
  tracker_ = full({}, next_init_tracker_, TensorOptions(kInt).device(device));
}

void GradScaler::check_started(const char* caller) const {
  EBB_CHECK(scale_.defined(), "GradScaler::", caller,
            ": there is no scale yet. Call scaler.scale(loss).backward() earlier in the step.");
}

Variable GradScaler::scale(const Variable& outputs) {
  if (!is_enabled()) return outputs;
  EBB_CHECK(outputs.defined(), "GradScaler::scale: expected a tensor, got an undefined one.");
  if (!scale_.defined()) start(outputs.device());
  return outputs * scale_.to(outputs.device());
}

std::vector<Variable> GradScaler::scale(const std::vector<Variable>& outputs) {
  std::vector<Variable> scaled;
  for (const Variable& each : outputs) scaled.push_back(scale(each));
  return scaled;
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!is_enabled()) return;
  check_started("unscale_");
  OptimizerState& state = optimizers_[&optimizer];
  EBB_CHECK(state.stage != Stage::unscaled,
            "GradScaler::unscale_: unscale_() has already been called on this optimizer since the last "
            "update().");
  EBB_CHECK(state.stage != Stage::stepped, "GradScaler::unscale_: unscale_() is being called after step().");
  NoGradGuard no_grad;
  const auto gradients = gradients_of(optimizer);
  // The reciprocal is computed in double, because the reciprocal of a large scale is inexact in float.
  const Variable inverse = scale_.to(kDouble).reciprocal().to(kFloat);
  state.found_inf.clear();
  for (const auto& [device, grads] : gradients) {
    Variable& found = state.found_inf.emplace_back(zeros({}, TensorOptions(kFloat).device(device)));
    foreach
      ::unscale_(grads, found, inverse.to(device));
  }
  state.stage = Stage::unscaled;
}

Variable GradScaler::step(optim::Optimizer& optimizer, optim::Optimizer::LossClosure closure) {
  if (!is_enabled()) return optimizer.step(std::move(closure));
  EBB_CHECK(!closure,
            "GradScaler::step: Closure use is not currently supported if GradScaler is enabled. Compute the "
            "loss and its gradients before the step.");
  check_started("step");
  const Stage before = optimizers_[&optimizer].stage;
  EBB_CHECK(before != Stage::stepped,
            "GradScaler::step: step() has already been called since the last update().");
  if (before == Stage::ready) unscale_(optimizer);
  OptimizerState& state = optimizers_[&optimizer];
  EBB_CHECK(!state.found_inf.empty(),
            "GradScaler::step: No inf checks were recorded for this optimizer: none of its parameters has a "
            "gradient. Call backward() on the scaled loss first.");
  double found = 0;
  for (const Variable& each : state.found_inf) found += each.item<double>();
  state.stage = Stage::stepped;
  return found != 0 ? Variable() : optimizer.step();
}

Variable GradScaler::combined_found_inf() const {
  Variable found;
  for (const auto& [optimizer, state] : optimizers_)
    for (const Variable& each : state.found_inf) {
      const Variable here = each.to(scale_.device());
      found = found.defined() ? found + here : here;
    }
  EBB_CHECK(found.defined(),
            "GradScaler::update: No inf checks were recorded prior to update. Call step(), or unscale_(), of "
            "an optimizer first.");
  return found;
}

void GradScaler::update() {
  if (!is_enabled()) return;
  check_started("update");
  NoGradGuard no_grad;
  const Variable found = combined_found_inf();
  NdArray scale = scale_.array(), tracker = tracker_.array();
  kernels::update_scale(scale_.device(), scale, tracker, found.array(), options_.growth_factor(),
                        options_.backoff_factor(), static_cast<std::int32_t>(options_.growth_interval()));
  optimizers_.clear();
}

void GradScaler::update(double new_scale) {
  if (!is_enabled()) return;
  check_started("update");
  scale_.fill_(new_scale);
  optimizers_.clear();
}

void GradScaler::update(const Variable& new_scale) {
  if (!is_enabled()) return;
  check_started("update");
  EBB_CHECK(new_scale.defined() && new_scale.numel() == 1 && is_floating(new_scale.dtype()),
            "GradScaler::update: new_scale should be one number of a floating dtype, got ", new_scale, ".");
  scale_.copy_(new_scale.detach().reshape({}));
  optimizers_.clear();
}

double GradScaler::get_scale() const {
  if (!is_enabled()) return 1;
  return scale_.defined() ? scale_.item<double>() : next_init_scale_;
}

std::int64_t GradScaler::get_growth_tracker() const {
  if (!is_enabled()) return 0;
  return tracker_.defined() ? tracker_.item<std::int64_t>() : next_init_tracker_;
}

void GradScaler::set_growth_factor(double factor) {
  check_options(GradScalerOptions(options_).growth_factor(factor));
  options_.growth_factor(factor);
}
void GradScaler::set_backoff_factor(double factor) {
  check_options(GradScalerOptions(options_).backoff_factor(factor));
  options_.backoff_factor(factor);
}
void GradScaler::set_growth_interval(std::int64_t steps) {
  check_options(GradScalerOptions(options_).growth_interval(steps));
  options_.growth_interval(steps);
}

GradScaler::StateDict GradScaler::state_dict() const {
  if (!is_enabled()) return {};
  return {{kState[0], number(get_scale())},
          {kState[1], number(get_growth_factor())},
          {kState[2], number(get_backoff_factor())},
          {kState[3], number(get_growth_interval())},
          {kState[4], number(get_growth_tracker())}};
}

void GradScaler::load_state_dict(const StateDict& state) {
  if (!is_enabled()) return;
  EBB_CHECK(!state.empty(),
            "GradScaler::load_state_dict: the state is empty, maybe because it was saved from a disabled "
            "GradScaler.");
  const auto read = [&](const char* name) -> const Variable& {
    for (const auto& [key, value] : state)
      if (key == name) {
        EBB_CHECK(value.defined() && value.numel() == 1, "GradScaler::load_state_dict: '", name,
                  "' must be one number, got ", value, ".");
        return value;
      }
    detail::fail("GradScaler::load_state_dict: there is no '", name, "' in the state.");
  };
  const double scale = read(kState[0]).item<double>();
  const GradScalerOptions loaded = GradScalerOptions(options_)
                                       .growth_factor(read(kState[1]).item<double>())
                                       .backoff_factor(read(kState[2]).item<double>())
                                       .growth_interval(read(kState[3]).item<std::int64_t>());
  const std::int64_t tracker = read(kState[4]).item<std::int64_t>();
  check_options(loaded);
  options_ = loaded;
  next_init_scale_ = scale;
  next_init_tracker_ = tracker;
  if (scale_.defined()) start(scale_.device());
}

void GradScaler::save(serialize::OutputArchive& archive) const {
  for (const auto& [name, value] : state_dict()) archive.write(name, value, true);
}

void GradScaler::load(serialize::InputArchive& archive) { load_state_dict(archive.tensors()); }

}  // namespace ebb::amp
