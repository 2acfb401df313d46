// add_layer_norm and add_rms_norm: layer norm and RMS norm of a sum in one pass, for transformer blocks.
#include <ebb/ops/creation.h>
#include <ebb/ops/norm.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/norm/common.h"

namespace ebb {

namespace {

struct AddNormBackward final : autograd::Node {
  autograd::SavedVariable sum{this}, weight{this};
  NdArray mean, rstd;
  kernels::NormShape shape;
  DimVector weight_sizes;
  double eps = 0;

  std::string name() const override {
    return shape.centred ? "AddLayerNormBackward0" : "AddRmsNormBackward0";
  }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable &dy = grads[0], &dsum = grads[1];
    if (!dy.defined()) return {dsum, dsum, Variable(), Variable()};
    const Variable x = sum.unpack(), w = weight.unpack();
    const bool to_sum = needs(0) || needs(1);
    if (GradMode::is_enabled()) {
      auto [dx, dweight, dbias] = ops::trailing_norm_backward(x, w, dy, weight_sizes.size(), eps,
                                                              shape.centred, {to_sum, needs(2), needs(3)});
      if (to_sum && dsum.defined()) dx = dx + dsum;
      return {dx, dx, std::move(dweight), std::move(dbias)};
    }
    kernels::NormGrads out;
    if (to_sum) out.dx = NdArray::empty(x.sizes(), x.dtype(), x.device());
    if (needs(2)) out.dweight = NdArray::empty(weight_sizes, x.dtype(), x.device());
    if (needs(3)) out.dbias = NdArray::empty(weight_sizes, x.dtype(), x.device());
    kernels::layer_norm_backward(x.device(), out, ops::contiguous_array(dy),
                                 {ops::contiguous_array(x), mean, rstd, ops::contiguous_array(w),
                                  dsum.defined() ? ops::contiguous_array(dsum) : NdArray()},
                                 shape);
    const auto wrap = [](NdArray& array) {
      return array.defined() ? Variable(std::move(array)) : Variable();
    };
    const Variable dx = wrap(out.dx);
    return {dx, dx, wrap(out.dweight), wrap(out.dbias)};
  }
};

std::tuple<Variable, Variable> add_norm(const char* op, const Variable& input, const Variable& residual,
                                        IntArrayRef normalized_shape, const Variable& w, const Variable& b,
                                        double eps, bool centred) {
  const Device device = ops::common_device(op, input, residual, w, b);
  EBB_CHECK(input.sizes() == residual.sizes(), op, ": expected input and residual of the same size, got ",
            input, " and ", residual, ".");
  ops::check_same_dtype(op, input, residual);
  const ops::TrailingShape sizes(op, input, normalized_shape, w, b, centred);
  const DType dtype = ops::statistics_dtype(input.dtype());
  NdArray out = NdArray::empty(input.sizes(), input.dtype(), device);
  NdArray mean = NdArray::empty(sizes.statistics, dtype, device),
          rstd = NdArray::empty(sizes.statistics, dtype, device);
  const kernels::NormInput in{ops::contiguous_array(input), ops::contiguous_array(residual),
                              NdArray::empty(input.sizes(), input.dtype(), device)};
  kernels::layer_norm(device, out, mean, rstd, in, ops::contiguous_array(w), ops::contiguous_array(b),
                      sizes.shape, eps);
  Variable result(std::move(out)), sum(in.sum);
  if (const auto node = ops::record_results<AddNormBackward>({&result, &sum}, input, residual, w, b)) {
    node->sum.save_output(sum);
    node->weight.save(w);
    node->mean = mean;
    node->rstd = rstd;
    node->shape = sizes.shape;
    node->weight_sizes = DimVector(normalized_shape);
    node->eps = eps;
  }
  return {result, sum};
}

}  // namespace

std::tuple<Variable, Variable> add_layer_norm(const Variable& input, const Variable& residual,
                                              IntArrayRef normalized_shape, const optional<Variable>& weight,
                                              const optional<Variable>& bias, double eps) {
  EBB_AUTOCAST(add_layer_norm, input, residual, normalized_shape, weight, bias, eps);
  return add_norm("add_layer_norm", input, residual, normalized_shape, weight.value_or(Variable()),
                  bias.value_or(Variable()), eps, true);
}

std::tuple<Variable, Variable> add_rms_norm(const Variable& input, const Variable& residual,
                                            IntArrayRef normalized_shape, const optional<Variable>& weight,
                                            optional<double> eps) {
  EBB_AUTOCAST(add_rms_norm, input, residual, normalized_shape, weight, eps);
  const char* op = "add_rms_norm";
  ops::common_device(op, input);
  return add_norm(op, input, residual, normalized_shape, weight.value_or(Variable()), Variable(),
                  ops::rms_epsilon(op, input, eps), false);
}

}  // namespace ebb
