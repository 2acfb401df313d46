// batch_norm and instance_norm: checks, running statistics and backward nodes.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/norm.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/layout.h"
#include "ops/common/record.h"
#include "ops/norm/common.h"

#include <cmath>
#include <limits>

namespace ebb {

namespace {

using kernels::BatchStatistics;
using kernels::NormGrads;
using kernels::NormSaved;
using kernels::NormShape;

// Returns the shape of x for the kernels. A channels-last array has places = 1 and batch = samples *
// positions, because its channels are contiguous.
NormShape shape_of(const Variable& x, MemoryFormat format) {
  NormShape s;
  s.batch = x.size(0);
  s.channels = x.size(1);
  s.places = 1;
  for (std::int64_t d = 2; d < x.dim(); ++d) s.places *= x.size(d);
  if (format != MemoryFormat::Contiguous) {
    s.batch *= s.places;
    s.places = 1;
  }
  return s;
}

/// Returns all dimensions except the dimension of the channels.
DimVector other_dims(std::int64_t dims) {
  DimVector out{0};
  for (std::int64_t d = 2; d < dims; ++d) out.push_back(d);
  return out;
}

/// Reshapes one value for each channel to (1, C, 1, ...).
Variable per_channel(const Variable& values, std::int64_t dims) {
  DimVector shape;
  shape.assign(static_cast<std::size_t>(dims), 1);
  shape[1] = values.numel();
  return values.reshape(shape);
}

struct NativeBatchNormBackward : autograd::Node {
  autograd::SavedVariable input{this}, weight{this};
  NdArray mean, rstd;
  double eps = 0;
  bool training = false;
  MemoryFormat format = MemoryFormat::Contiguous;  // the format of the input, the result and the gradient

  std::string name() const override { return "NativeBatchNormBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = input.unpack(), w = weight.unpack();
    const Variable& grad = grads[0];
    if (!grad.defined()) return {Variable(), Variable(), Variable()};
    return GradMode::is_enabled() ? by_ops(x, w, grad) : by_kernel(x, w, grad);
  }

  autograd::GradList by_kernel(const Variable& x, const Variable& w, const Variable& grad) const {
    NormGrads out;
    if (needs(0)) out.dx = ops::empty_in(x.sizes(), x.dtype(), x.device(), format);
    if (needs(1)) out.dweight = NdArray::empty({x.size(1)}, x.dtype(), x.device());
    if (needs(2)) out.dbias = NdArray::empty({x.size(1)}, x.dtype(), x.device());
    const NormSaved in{ops::contiguous_array(x, {.format = format}), mean, rstd, ops::contiguous_array(w)};
    kernels::batch_norm_backward(x.device(), out, ops::contiguous_array(grad, {.format = format}), in,
                                 shape_of(x, format), training);
    const auto wrap = [](NdArray& a) { return a.defined() ? Variable(std::move(a)) : Variable(); };
    return {wrap(out.dx), wrap(out.dweight), wrap(out.dbias)};
  }

  autograd::GradList by_ops(const Variable& x, const Variable& w, const Variable& grad) const {
    const DimVector dims = other_dims(x.dim());
    const Variable scaled = w.defined() ? grad * per_channel(w, x.dim()) : grad;
    autograd::GradList out{Variable(), Variable(), needs(2) ? grad.sum(IntArrayRef(dims)) : Variable()};
    if (training) {
      const ops::Normalised normalised(x, dims, eps);
      if (needs(0)) out[0] = normalised.backward(scaled, dims);
      if (needs(1)) out[1] = (grad * normalised.values).sum(IntArrayRef(dims));
    } else {
      const Variable m = per_channel(Variable(mean).to(x.dtype()), x.dim());
      const Variable r = per_channel(Variable(rstd).to(x.dtype()), x.dim());
      if (needs(0)) out[0] = scaled * r;
      if (needs(1)) out[1] = (grad * ((x - m) * r)).sum(IntArrayRef(dims));
    }
    return out;
  }
};

/// Returns the results for an empty input: a differentiable copy, and statistics that leave the running
/// statistics unchanged.
std::tuple<Variable, Variable, Variable> empty_batch_result(const Variable& input, const Variable& weight,
                                                            const Variable& bias, bool training) {
  Variable out = input.clone();
  if (weight.defined()) out = out * per_channel(weight, input.dim());
  if (bias.defined()) out = out + per_channel(bias, input.dim());
  const TensorOptions options = TensorOptions(ops::statistics_dtype(input.dtype())).device(input.device());
  const auto none = [&] {
    return training ? full({input.size(1)}, std::numeric_limits<double>::quiet_NaN(), options)
                    : empty({0}, options);
  };
  return {out, none(), none()};
}

/// Updates running = (1 - momentum) running + momentum value.
void update_running(const Variable& running, const Variable& value, double momentum) {
  if (!running.defined()) return;
  NoGradGuard no_grad;
  Variable target = running.detach();
  target.copy_(target * (1 - momentum) + value.to(running.dtype()) * momentum);
}

/// Checks the running statistics: they have the dtype of the input, or Float for a 16-bit input.
void check_statistics(const char* op, const Variable& input, const Variable& mean, const Variable& var) {
  const auto fits = [&](const Variable& x) {
    return !x.defined() || x.dtype() == input.dtype() || x.dtype() == ops::statistics_dtype(input.dtype());
  };
  const auto name = [](const Variable& x) { return x.defined() ? to_string(x.dtype()) : "none"; };
  const bool alike = !mean.defined() || !var.defined() || mean.dtype() == var.dtype();
  EBB_CHECK(fits(mean) && fits(var) && alike, op, ": expected running_mean and running_var of dtype ",
            ops::statistics_dtype(input.dtype()), " for an input of ", input.dtype(), ", got ", name(mean),
            " and ", name(var), ". Convert them with .to(dtype).");
  EBB_CHECK(
      !autograd::records(mean, var), op,
      ": The function is not differentiable with respect to running_mean and running_var. detach() them.");
}

}  // namespace

std::tuple<Variable, Variable, Variable> native_batch_norm(const Variable& input,
                                                           const optional<Variable>& weight,
                                                           const optional<Variable>& bias,
                                                           const optional<Variable>& running_mean,
                                                           const optional<Variable>& running_var,
                                                           bool training, double momentum, double eps) {
  const char* op = "batch_norm";
  const Variable w = weight.value_or(Variable()), b = bias.value_or(Variable());
  const Variable run_mean = running_mean.value_or(Variable()), run_var = running_var.value_or(Variable());
  const Device device = ops::common_device(op, input, w, b, run_mean, run_var);
  if (input.dim() == 1 && input.numel() == 0) {  // without channels, as in torch
    auto [out, mean, rstd] = native_batch_norm(input.unsqueeze(0), weight, bias, running_mean, running_var,
                                               training, momentum, eps);
    return {out.squeeze(0), std::move(mean), std::move(rstd)};
  }
  EBB_CHECK(input.dim() >= 2, op, ": expected an input (N, C, ...) of 2 or more dimensions, got ",
            input.sizes(), ".");
  const std::int64_t channels = input.size(1);
  ops::check_channel_values(op, "running_mean", run_mean, channels);
  ops::check_channel_values(op, "running_var", run_var, channels);
  ops::check_channel_values(op, "weight", w, channels, /*vector=*/false);
  ops::check_channel_values(op, "bias", b, channels, /*vector=*/false);
  EBB_CHECK(
      training || (run_mean.defined() && run_var.defined()), op,
      ": running_mean and running_var must be defined in evaluation mode. Pass them, or training=true.");
  if (ops::is_mixed(input, w, b)) {
    auto [out, mean, rstd] =
        native_batch_norm(input.to(kFloat), weight, bias, running_mean, running_var, training, momentum, eps);
    return {out.to(input.dtype()), std::move(mean), std::move(rstd)};
  }
  if (w.defined()) ops::check_same_dtype(op, input, w);
  if (b.defined()) ops::check_same_dtype(op, input, b);
  if (input.numel() == 0) return empty_batch_result(input, w, b, training);
  check_statistics(op, input, run_mean, run_var);

  const MemoryFormat format = ops::suggested_format(input.array());
  const NormShape shape = shape_of(input, format);
  const DType dtype = ops::statistics_dtype(input.dtype());
  const NdArray x = ops::contiguous_array(input, {.format = format});
  const NdArray weights = ops::contiguous_array(w), biases = ops::contiguous_array(b);
  NdArray array = ops::empty_in(input.sizes(), input.dtype(), device, format);
  BatchStatistics stats;
  if (training) {
    const auto a_channel = [&] { return NdArray::empty({channels}, dtype, device); };
    stats = {a_channel(), run_var.defined() ? a_channel() : NdArray(), a_channel()};
    kernels::batch_norm_train(device, array, stats, x, weights, biases, shape, eps);
    update_running(run_mean, Variable(stats.mean), momentum);
    if (run_var.defined()) {
      NoGradGuard no_grad;
      const double count = static_cast<double>(shape.batch * shape.places);
      update_running(run_var, Variable(stats.var) * (count / (count - 1)), momentum);
    }
  } else {
    NoGradGuard no_grad;
    stats.mean = ops::contiguous_array(run_mean, {dtype});
    stats.rstd = (run_var.detach().to(dtype) + eps).rsqrt().contiguous().array();
    kernels::batch_norm_apply(device, array, {x, stats.mean, stats.rstd, weights}, biases, shape);
  }
  Variable out(std::move(array));
  if (const auto node = ops::record_results<NativeBatchNormBackward>({&out}, input, w, b)) {
    node->input.save(input);
    node->weight.save(w);
    node->mean = stats.mean;
    node->rstd = stats.rstd;
    node->eps = eps;
    node->training = training;
    node->format = format;
  }
  const TensorOptions options = TensorOptions(dtype).device(device);
  if (!training) return {out, empty({0}, options), empty({0}, options)};
  return {out, Variable(stats.mean), Variable(stats.rstd)};
}

Variable batch_norm(const Variable& input, const optional<Variable>& weight, const optional<Variable>& bias,
                    const optional<Variable>& running_mean, const optional<Variable>& running_var,
                    bool training, double momentum, double eps, bool) {
  return std::get<0>(
      native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

Variable instance_norm(const Variable& input, const optional<Variable>& weight,
                       const optional<Variable>& bias, const optional<Variable>& running_mean,
                       const optional<Variable>& running_var, bool use_input_stats, double momentum,
                       double eps, bool) {
  const char* op = "instance_norm";
  const Variable run_mean = running_mean.value_or(Variable()), run_var = running_var.value_or(Variable());
  ops::common_device(op, input, weight, bias, run_mean, run_var);
  EBB_CHECK(input.dim() >= 2, op, ": expected an input (N, C, ...) of 2 or more dimensions, got ",
            input.sizes(), ".");
  EBB_CHECK(use_input_stats || (run_mean.defined() && run_var.defined()), op,
            ": expected running_mean and running_var to be defined when use_input_stats is false.");
  const std::int64_t batch = input.size(0), channels = input.size(1);
  // Treats the samples as channels of one sample.
  DimVector shape(input.sizes());
  shape[0] = 1;
  shape[1] = batch * channels;
  const auto repeated = [&](const Variable& values) {
    return values.defined() ? values.repeat({batch}) : values;
  };
  const auto statistic = [&](const Variable& values) {
    return values.defined() && values.dtype() != input.dtype()
               ? repeated(values).to(ops::statistics_dtype(input.dtype()))
               : repeated(values);
  };
  const Variable mean = statistic(run_mean);
  const Variable var = statistic(run_var);
  const Variable out =
      batch_norm(input.contiguous().view(shape), repeated(weight.value_or(Variable())),
                 repeated(bias.value_or(Variable())), mean, var, use_input_stats, momentum, eps);
  if (use_input_stats && input.numel() > 0) {
    NoGradGuard no_grad;
    if (run_mean.defined()) run_mean.detach().copy_(mean.view({batch, channels}).mean(0));
    if (run_var.defined()) run_var.detach().copy_(var.view({batch, channels}).mean(0));
  }
  return out.view(input.sizes());
}

}  // namespace ebb
