// layer_norm, rms_norm and group_norm.
#include <ebb/ops/creation.h>
#include <ebb/ops/norm.h>

#include "core/epsilon.h"
#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/norm/common.h"

namespace ebb {

namespace {

using kernels::NormGrads;
using kernels::NormSaved;
using kernels::NormShape;

Variable wrap(NdArray& array) { return array.defined() ? Variable(std::move(array)) : Variable(); }

/// The state that the backward passes share.
struct RowNormBackward : autograd::Node {
  autograd::SavedVariable input{this}, weight{this};
  NdArray mean, rstd;
  NormShape shape;
  DimVector weight_sizes;
  double eps = 0;

  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = input.unpack(), w = weight.unpack();
    if (!grads[0].defined()) return {Variable(), Variable(), Variable()};
    if (GradMode::is_enabled()) return by_ops(x, w, grads[0]);
    NormGrads out;
    if (needs(0)) out.dx = NdArray::empty(x.sizes(), x.dtype(), x.device());
    if (needs(1)) out.dweight = NdArray::empty(weight_sizes, x.dtype(), x.device());
    if (needs(2)) out.dbias = NdArray::empty(weight_sizes, x.dtype(), x.device());
    const NormSaved in{ops::contiguous_array(x), mean, rstd, ops::contiguous_array(w)};
    by_kernel(out, ops::contiguous_array(grads[0]), in);
    return {wrap(out.dx), wrap(out.dweight), wrap(out.dbias)};
  }
  virtual void by_kernel(NormGrads& out, const NdArray& grad, const NormSaved& in) const = 0;
  virtual autograd::GradList by_ops(const Variable& x, const Variable& w, const Variable& grad) const = 0;
};

struct NativeLayerNormBackward final : RowNormBackward {
  std::string name() const override {
    return shape.centred ? "NativeLayerNormBackward0" : "FusedRmsNormBackward0";
  }
  void by_kernel(NormGrads& out, const NdArray& grad, const NormSaved& in) const override {
    kernels::layer_norm_backward(in.x.device(), out, grad, in, shape);
  }
  autograd::GradList by_ops(const Variable& x, const Variable& w, const Variable& grad) const override {
    auto [dx, dweight, dbias] = ops::trailing_norm_backward(x, w, grad, weight_sizes.size(), eps,
                                                            shape.centred, {needs(0), needs(1), needs(2)});
    return {std::move(dx), std::move(dweight), std::move(dbias)};
  }
};

struct NativeGroupNormBackward final : RowNormBackward {
  std::string name() const override { return "NativeGroupNormBackward0"; }
  void by_kernel(NormGrads& out, const NdArray& grad, const NormSaved& in) const override {
    kernels::group_norm_backward(in.x.device(), out, grad, in, shape);
  }
  autograd::GradList by_ops(const Variable& x, const Variable& w, const Variable& grad) const override {
    const std::int64_t each = shape.channels / shape.groups;
    const auto grouped = [&](const Variable& v) {
      return v.reshape({shape.batch, shape.groups, each, shape.places});
    };
    const DimVector row{2, 3};
    const ops::Normalised normalised(grouped(x), row, eps);
    const Variable g = grouped(grad);
    autograd::GradList out{Variable(), Variable(), Variable()};
    if (needs(0)) {
      const Variable scaled = w.defined() ? g * w.reshape({1, shape.groups, each, 1}) : g;
      out[0] = normalised.backward(scaled, row).reshape(x.sizes());
    }
    const DimVector samples{0, 3};
    if (needs(1)) out[1] = (g * normalised.values).sum(IntArrayRef(samples)).reshape({shape.channels});
    if (needs(2)) out[2] = g.sum(IntArrayRef(samples)).reshape({shape.channels});
    return out;
  }
};

template <class N>
void record(const Variable& out, const Variable& x, const Variable& w, const Variable& b, const NdArray& mean,
            const NdArray& rstd, const NormShape& shape, IntArrayRef weight_sizes, double eps) {
  const auto node = ops::record_results<N>({&out}, x, w, b);
  if (!node) return;
  node->input.save(x);
  node->weight.save(w);
  node->mean = mean;
  node->rstd = rstd;
  node->shape = shape;
  node->weight_sizes = DimVector(weight_sizes);
  node->eps = eps;
}

using Normalisation = std::tuple<Variable, Variable, Variable>;  // the result, the mean and rstd

Normalisation trailing_norm(const char* op, const Variable& input, IntArrayRef normalized_shape,
                            const Variable& w, const Variable& b, double eps, bool centred) {
  const Device device = ops::common_device(op, input, w, b);
  if (ops::is_mixed(input, w, b)) {
    auto [out, mean, rstd] = trailing_norm(op, input.to(kFloat), normalized_shape, w, b, eps, centred);
    return {out.to(input.dtype()), std::move(mean), std::move(rstd)};
  }
  const ops::TrailingShape sizes(op, input, normalized_shape, w, b, centred);
  const DType dtype = ops::statistics_dtype(input.dtype());
  NdArray out = NdArray::empty(input.sizes(), input.dtype(), device);
  NdArray mean = NdArray::empty(sizes.statistics, dtype, device),
          rstd = NdArray::empty(sizes.statistics, dtype, device);
  kernels::layer_norm(device, out, mean, rstd, {ops::contiguous_array(input), {}, {}},
                      ops::contiguous_array(w), ops::contiguous_array(b), sizes.shape, eps);
  Variable result(std::move(out));
  record<NativeLayerNormBackward>(result, input, w, b, mean, rstd, sizes.shape, normalized_shape, eps);
  return {result, Variable(mean), Variable(rstd)};
}

}  // namespace

namespace ops {

TrailingShape::TrailingShape(const char* op, const Variable& input, IntArrayRef normalized_shape,
                             const Variable& weight, const Variable& bias, bool centred)
    : statistics(input.sizes()) {
  const auto trailing = static_cast<std::int64_t>(normalized_shape.size());
  EBB_CHECK(trailing >= 1, op, ": expected normalized_shape to have at least one dimension, got [].");
  EBB_CHECK(!weight.defined() || weight.sizes() == normalized_shape, op,
            ": expected weight to be of the same shape as normalized_shape, ", normalized_shape, ", got ",
            weight, ".");
  EBB_CHECK(!bias.defined() || bias.sizes() == normalized_shape, op,
            ": expected bias to be of the same shape as normalized_shape, ", normalized_shape, ", got ", bias,
            ".");
  EBB_CHECK(input.dim() >= trailing &&
                input.sizes().slice(static_cast<std::size_t>(input.dim() - trailing)) == normalized_shape,
            op, ": Given normalized_shape=", normalized_shape,
            ", expected input with shape [*, ...] that ends in these sizes, but got input of size ",
            input.sizes(), ".");
  if (weight.defined()) check_same_dtype(op, input, weight);
  if (bias.defined()) check_same_dtype(op, input, bias);
  for (std::size_t d = static_cast<std::size_t>(input.dim() - trailing); d < statistics.size(); ++d)
    statistics[d] = 1;
  shape.centred = centred;
  shape.channels = checked_numel(normalized_shape);
  shape.places = 1;
  shape.batch = checked_numel(statistics);
}

std::array<Variable, 3> trailing_norm_backward(const Variable& input, const Variable& weight,
                                               const Variable& grad, std::size_t dims, double eps,
                                               bool centred, std::array<bool, 3> wanted) {
  DimVector last;
  for (std::int64_t d = input.dim() - static_cast<std::int64_t>(dims); d < input.dim(); ++d)
    last.push_back(d);
  const Normalised normalised(input, last, eps, centred);
  std::array<Variable, 3> out;
  if (wanted[0]) out[0] = normalised.backward(weight.defined() ? grad * weight : grad, last);
  if (wanted[1]) out[1] = grad * normalised.values;
  if (wanted[2]) out[2] = grad;
  return out;
}

double rms_epsilon(const char* op, const Variable& input, optional<double> eps) {
  const DType dtype = input.dtype();
  EBB_CHECK(is_floating(dtype), op, ": expected an input of a floating-point dtype, got ", dtype,
            ". Convert it with .to(dtype).");
  return eps.value_or(epsilon_of(ops::wide_dtype(dtype)));
}

}  // namespace ops

std::tuple<Variable, Variable, Variable> native_layer_norm(const Variable& input,
                                                           IntArrayRef normalized_shape,
                                                           const optional<Variable>& weight,
                                                           const optional<Variable>& bias, double eps) {
  EBB_AUTOCAST_AS("layer_norm", native_layer_norm, input, normalized_shape, weight, bias, eps);
  return trailing_norm("layer_norm", input, normalized_shape, weight.value_or(Variable()),
                       bias.value_or(Variable()), eps, true);
}

Variable layer_norm(const Variable& input, IntArrayRef normalized_shape, const optional<Variable>& weight,
                    const optional<Variable>& bias, double eps, bool) {
  return std::get<0>(native_layer_norm(input, normalized_shape, weight, bias, eps));
}

Variable rms_norm(const Variable& input, IntArrayRef normalized_shape, const optional<Variable>& weight,
                  optional<double> eps) {
  EBB_AUTOCAST(rms_norm, input, normalized_shape, weight, eps);
  const char* op = "rms_norm";
  ops::common_device(op, input);
  return std::get<0>(trailing_norm(op, input, normalized_shape, weight.value_or(Variable()), Variable(),
                                   ops::rms_epsilon(op, input, eps), false));
}

Variable group_norm(const Variable& input, std::int64_t num_groups, const optional<Variable>& weight,
                    const optional<Variable>& bias, double eps, bool) {
  EBB_AUTOCAST(group_norm, input, num_groups, weight, bias, eps, true);
  const char* op = "group_norm";
  const Variable w = weight.value_or(Variable()), b = bias.value_or(Variable());
  const Device device = ops::common_device(op, input, w, b);
  EBB_CHECK(input.dim() >= 2, op, ": expected an input (N, C, ...) of 2 or more dimensions, got ",
            input.sizes(), ".");
  NormShape shape;
  shape.batch = input.size(0);
  shape.channels = input.size(1);
  shape.groups = num_groups;
  EBB_CHECK(num_groups > 0 && shape.channels % num_groups == 0, op,
            ": Expected number of channels in input to be divisible by num_groups, but got input of shape ",
            input.sizes(), " and num_groups=", num_groups, ".");
  ops::check_channel_values(op, "weight", w, shape.channels);
  ops::check_channel_values(op, "bias", b, shape.channels);
  EBB_CHECK(shape.channels > 0, op,
            ": Expected number of channels to be greater than 0, got an input of shape ", input.sizes(), ".");
  EBB_CHECK(checked_numel(input.sizes().slice(2)) > 0, op,
            ": Expected HxW to be greater than 0, got an input of shape ", input.sizes(), ".");
  if (ops::is_mixed(input, w, b))
    return group_norm(input.to(kFloat), num_groups, weight, bias, eps).to(input.dtype());
  if (w.defined()) ops::check_same_dtype(op, input, w);
  if (b.defined()) ops::check_same_dtype(op, input, b);
  shape.places = 1;
  for (std::int64_t d = 2; d < input.dim(); ++d) shape.places *= input.size(d);

  const DType dtype = ops::statistics_dtype(input.dtype());
  NdArray out = NdArray::empty(input.sizes(), input.dtype(), device);
  NdArray mean = NdArray::empty({shape.batch, num_groups}, dtype, device);
  NdArray rstd = NdArray::empty({shape.batch, num_groups}, dtype, device);
  kernels::group_norm(device, out, mean, rstd, ops::contiguous_array(input), ops::contiguous_array(w),
                      ops::contiguous_array(b), shape, eps);
  Variable result(std::move(out));
  record<NativeGroupNormBackward>(result, input, w, b, mean, rstd, shape, {shape.channels}, eps);
  return result;
}

}  // namespace ebb
