// init: initial values of parameters (Xavier, Kaiming, trunc_normal_ and the others).
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/init.h>
#include <ebb/nn/skip_init.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/orthonormal.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ebb::nn {

namespace {
constinit thread_local bool skipping = false;
}  // namespace

utils::SkipInitGuard::SkipInitGuard() : previous_(std::exchange(skipping, true)) {}
utils::SkipInitGuard::~SkipInitGuard() { skipping = previous_; }

namespace init {

namespace {

double fan_of(const Variable& tensor, FanModeType mode) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  return static_cast<double>(mode == kFanIn ? in : out);
}

}  // namespace

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (nonlinearity == kTanh) return 5.0 / 3.0;
  if (nonlinearity == kReLU) return std::sqrt(2.0);
  if (nonlinearity == kLeakyReLU) return std::sqrt(2.0 / (1 + param * param));
  return 1.0;
}

std::tuple<std::int64_t, std::int64_t> _calculate_fan_in_and_fan_out(const Variable& tensor) {
  EBB_CHECK(tensor.dim() >= 2,
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got ",
            tensor.sizes(), ".");
  std::int64_t field = 1;
  for (std::int64_t d = 2; d < tensor.dim(); ++d) field *= tensor.size(d);
  return {tensor.size(1) * field, tensor.size(0) * field};
}

Variable constant_(Variable tensor, const Scalar& value) {
  if (skipping) return tensor;
  NoGradGuard no_grad;
  return tensor.fill_(value);
}

Variable zeros_(Variable tensor) { return constant_(std::move(tensor), 0); }
Variable ones_(Variable tensor) { return constant_(std::move(tensor), 1); }

Variable eye_(Variable matrix) {
  NoGradGuard no_grad;
  EBB_CHECK(matrix.dim() == 2, "eye_: Only tensors with 2 dimensions are supported, got ", matrix.sizes(),
            ".");
  if (skipping) return matrix;
  return matrix.copy_(eye(matrix.size(0), matrix.size(1), matrix.options()));
}

Variable dirac_(Variable tensor) {
  NoGradGuard no_grad;
  EBB_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5,
            "dirac_: Only tensors with 3, 4, or 5 dimensions are supported, got ", tensor.sizes(), ".");
  if (skipping) return tensor;
  tensor.zero_();
  const std::int64_t channels = std::min(tensor.size(0), tensor.size(1));
  Variable centre = tensor;
  for (std::int64_t d = 2; d < tensor.dim(); ++d) centre = centre.select(2, tensor.size(d) / 2);
  for (std::int64_t c = 0; c < channels; ++c) centre.select(0, c).select(0, c).fill_(1);
  return tensor;
}

Variable uniform_(Variable tensor, double low, double high) {
  if (skipping) return tensor;
  NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

Variable normal_(Variable tensor, double mean, double std) {
  if (skipping) return tensor;
  NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

namespace {

// Draws `tensor`. While `refused` is true for some elements, draws a new tensor of the same size, as torch
// does, and replaces the refused elements with elements of the new tensor.
template <class Draw, class Refused>
void draw_until(const Variable& tensor, Draw&& draw, Refused&& refused) {
  draw(tensor);
  Variable pending = refused(tensor);
  while (pending.any().item<bool>()) {
    const Variable other = empty_like(tensor);
    draw(other);
    tensor.copy_(where(pending, other, tensor));
    pending = pending.logical_and(refused(other));
  }
}

double share_below(double x) { return (1 + std::erf(x / std::sqrt(2.0))) / 2; }

// Rejection sampling, for bounds between which the normal distribution has little probability. Draws uniform
// values, and accepts each with a probability proportional to the normal density.
void draw_by_density(const Variable& tensor, double mean, double std, double a, double b) {
  const double mode = std::clamp(mean, a, b), peak = (mode - mean) / std;
  // Computes 16-bit tensors in float, because small densities would be equal in 16 bits. Computes in double
  // if |peak| > 100, because densities so far from the mean would be equal in float.
  const DType dtype = tensor.dtype() == kDouble || std::abs(peak) > 100 ? kDouble : kFloat;
  // At the distance `reach` from the mean, the density is e^-40 times its value at the mode. A much wider
  // bound is set to this distance, because nearly all uniform values would otherwise be refused.
  const double reach = std * std::sqrt(peak * peak + 80);
  if (b - a > 4 * (mean + reach - mode)) b = std::min(b, mean + reach);
  if (b - a > 4 * (mode - mean + reach)) a = std::max(a, mean - reach);
  const double least = dtype == kDouble ? 0x1p-54 : 0x1p-25;  // replaces uniform values of 0
  const auto refused = [&](const Variable& x) {
    const Variable log_density = x.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(-0.5 * peak * peak);
    return empty_like(x).uniform_().clamp_min_(least).log_().gt(log_density);
  };
  const Variable wide = dtype == tensor.dtype() ? tensor : empty_like(tensor, TensorOptions(dtype));
  draw_until(wide, [&](const Variable& x) { x.uniform_(a, b); }, refused);
  if (wide.impl() != tensor.impl()) tensor.copy_(wide);
}

}  // namespace

Variable trunc_normal_(Variable tensor, double mean, double std, double a, double b) {
  EBB_CHECK(a <= b, "trunc_normal_: the bounds a = ", a, " and b = ", b,
            " have no value between them. Give the lower bound first.");
  EBB_CHECK(std > 0 && std::isfinite(std) && std::isfinite(mean),
            "trunc_normal_: expects a finite mean and std > 0, but found mean=", mean, " and std=", std, ".");
  EBB_CHECK(a - mean <= 1e6 * std && mean - b <= 1e6 * std, "trunc_normal_: the bounds a = ", a,
            " and b = ", b, " are more than a million std from the mean ", mean, ". Move the mean.");
  if (skipping) return tensor;
  NoGradGuard no_grad;
  if (share_below((b - mean) / std) - share_below((a - mean) / std) <= 0.3) {
    draw_by_density(tensor, mean, std, a, b);
    return tensor;
  }
  const auto held = [&](double x) { return full({}, x, kDouble).to(tensor.dtype()).item<double>(); };
  const double low = held(a), high = held(b);
  draw_until(
      tensor, [&](const Variable& x) { x.normal_(mean, std); },
      [&](const Variable& x) { return x.lt(low).logical_or(x.gt(high)); });
  return tensor;
}

Variable orthogonal_(Variable tensor, double gain) {
  NoGradGuard no_grad;
  EBB_CHECK(tensor.dim() >= 2, "orthogonal_: Only tensors with 2 or more dimensions are supported, got ",
            tensor.sizes(), ".");
  if (skipping) return tensor;
  const std::int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Variable normal = randn({rows, columns});
  if (rows < columns) normal = normal.t();
  Variable q = orthonormal_columns(normal.to(kDouble));
  if (rows < columns) q = q.t();
  tensor.copy_(q.reshape(tensor.sizes()));
  return tensor.mul_(gain);
}

Variable sparse_(Variable tensor, double sparsity, double std) {
  NoGradGuard no_grad;
  EBB_CHECK(tensor.dim() == 2, "sparse_: Only tensors with 2 dimensions are supported, got ", tensor.sizes(),
            ".");
  EBB_CHECK(sparsity >= 0 && sparsity <= 1, "sparse_: sparsity must be between 0 and 1, got ", sparsity, ".");
  if (skipping) return tensor;
  const std::int64_t rows = tensor.size(0);
  const auto zeros = static_cast<std::int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (std::int64_t column = 0; column < tensor.size(1); ++column) {
    const Variable chosen = randperm(rows, TensorOptions(kLong)).slice(0, 0, zeros);
    tensor.select(1, column).index_fill_(0, chosen.to(tensor.device()), 0);
  }
  return tensor;
}

Variable xavier_uniform_(Variable tensor, double gain) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  const double std = gain * std::sqrt(2.0 / static_cast<double>(in + out));
  const double bound = std::sqrt(3.0) * std;
  return init::uniform_(std::move(tensor), -bound, bound);
}

Variable xavier_normal_(Variable tensor, double gain) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  return init::normal_(std::move(tensor), 0, gain * std::sqrt(2.0 / static_cast<double>(in + out)));
}

Variable kaiming_uniform_(Variable tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (tensor.numel() == 0) return tensor;  // its fan may be 0
  const double std = calculate_gain(nonlinearity, a) / std::sqrt(fan_of(tensor, mode));
  const double bound = std::sqrt(3.0) * std;
  return init::uniform_(std::move(tensor), -bound, bound);
}

Variable kaiming_normal_(Variable tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  const double std = calculate_gain(nonlinearity, a) / std::sqrt(fan_of(tensor, mode));
  return init::normal_(std::move(tensor), 0, std);
}

}  // namespace init
}  // namespace ebb::nn
