// linear, bilinear, linear_relu and linear_gelu. The last two apply an activation to a linear layer, in one
// kernel if the device has such a kernel.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/fused_activation.h"
#include "ops/linalg/kernels.h"
#include "ops/linalg/product.h"

#include <algorithm>

namespace ebb {

Variable linear(const Variable& input, const Variable& weight, const optional<Variable>& bias) {
  EBB_AUTOCAST(linear, input, weight, bias);
  ops::check_defined("linear", input, weight);
  const bool with_bias = bias && bias->defined();
  if (weight.dim() == 1) {  // the result has no dimension for its single output feature
    ops::common_device("linear", input, weight);
    EBB_CHECK(!with_bias || (input.dim() == 1 && bias->dim() == 0),
              "linear: with a weight of one dimension, a bias must have no dimension and the input one "
              "dimension; got a bias of shape ",
              bias ? bias->sizes() : IntArrayRef(), " and an input of shape ", input.sizes(), ".");
    const Variable out = matmul(input, weight);
    return with_bias ? add(out, *bias, 1) : out;
  }
  EBB_CHECK(weight.dim() == 2 && input.dim() >= 1 && input.sizes().back() == weight.sizes()[1],
            "linear: input of shape ", input.sizes(), " does not fit a weight of shape ", weight.sizes(),
            " ([out, in]): the last dimension of the input must be `in`.");
  EBB_CHECK(!with_bias || bias->dim() <= 1, "linear: expected a bias of shape [", weight.sizes()[0],
            "], got ", bias ? bias->sizes() : IntArrayRef(), ".");
  if (input.dim() == 2)
    return with_bias ? ops::add_product("linear", *bias, input, false, weight, true, 1, 1)
                     : ops::product("linear", input, false, weight, true);
  if (input.dim() == 1) {
    ops::common_device("linear", input, weight);
    const Variable out = ops::matrix_vector("linear", weight, false, input);
    return with_bias ? add(out, *bias, 1) : out;
  }
  DimVector sizes(input.sizes());
  sizes.back() = weight.sizes()[0];
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  return linear(input.reshape({rows, input.sizes().back()}), weight, bias).view(sizes);
}

Variable bilinear(const Variable& input1, const Variable& input2, const Variable& weight,
                  const optional<Variable>& bias) {
  EBB_AUTOCAST(bilinear, input1, input2, weight, bias);
  ops::operand_device("bilinear", input1, input2, weight);
  EBB_CHECK(input1.dim() >= 1 && input1.dim() == input2.dim() &&
                input1.sizes().slice(0, input1.sizes().size() - 1) ==
                    input2.sizes().slice(0, input2.sizes().size() - 1),
            "bilinear: the inputs must agree in all but the last dimension, got shapes ", input1.sizes(),
            " and ", input2.sizes(), ".");
  EBB_CHECK(weight.dim() == 3 && input1.sizes().back() == weight.sizes()[1] &&
                input2.sizes().back() == weight.sizes()[2],
            "bilinear: inputs of shapes ", input1.sizes(), " and ", input2.sizes(),
            " do not fit a weight of shape ", weight.sizes(), " ([out, in1, in2]).");
  if (bias && bias->defined()) {
    EBB_CHECK(bias->dim() == 1 && bias->numel() == weight.sizes()[0], "bilinear: expected a bias of shape [",
              weight.sizes()[0], "], got ", bias->sizes(), ".");
    ops::check_same_dtype("bilinear", weight, *bias);
  }
  const std::int64_t out = weight.sizes()[0], in1 = weight.sizes()[1], in2 = weight.sizes()[2];
  DimVector sizes(input1.sizes());
  sizes.back() = out;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) rows *= sizes[i];
  // First computes [rows, in1] x [in1, out * in2], and then for each row [out, in2] x [in2].
  const Variable left = ops::product("bilinear", input1.reshape({rows, in1}), false,
                                     weight.transpose(0, 1).reshape({in1, out * in2}), false);
  const Variable result =
      ops::product("bilinear", left.view({rows, out, in2}), false, input2.reshape({rows, in2, 1}), false)
          .view(sizes);
  return bias && bias->defined() ? add(result, *bias, 1) : result;
}

namespace {

using ops::LinearActivation;

// Returns a matrix whose row stride is a multiple of 8 elements.
NdArray padded(std::int64_t rows, std::int64_t columns, DType dtype, Device device) {
  const std::int64_t pitch = (columns + 7) / 8 * 8;
  return NdArray::empty({rows, pitch}, dtype, device).as_strided({rows, columns}, {pitch, 1}, 0);
}

// Runs the fused kernel for an input matrix. Returns an undefined tensor if the device does not have this
// kernel.
Variable fused(const Variable& input, const Variable& weight, const Variable& bias,
               LinearActivation activation) {
  const std::int64_t rows = input.size(0), columns = weight.size(0);
  const DType dtype = input.dtype();
  const Device device = input.device();
  const bool records = autograd::records(input, weight, bias),
             is_gelu = activation == LinearActivation::gelu_tanh;
  NdArray out = NdArray::empty({rows, columns}, dtype, device),
          before = records && is_gelu ? padded(rows, columns, dtype, device) : NdArray();
  if (!kernels::linear_activation(device, out, before, input.array(), weight.array(), bias.array(),
                                  activation))
    return {};
  if (!records) return Variable(std::move(out));
  const Variable sum =
      ops::recorded_add_product(is_gelu ? std::move(before) : out, bias, input, false, weight, true);
  return is_gelu ? ops::recorded_gelu_tanh(sum, std::move(out)) : ops::recorded_relu(sum, std::move(out));
}

Variable activated(const char* op, const Variable& input, const Variable& weight,
                   const optional<Variable>& bias, LinearActivation activation) {
  ops::operand_device(op, input, weight);
  EBB_CHECK(weight.dim() == 2 && input.dim() >= 1 && input.sizes().back() == weight.sizes()[1], op,
            ": input of shape ", input.sizes(), " does not fit a weight of shape ", weight.sizes(),
            " ([out, in]): the last dimension of the input must be `in`.");
  const bool is_row = bias && bias->defined() && bias->dim() == 1 && bias->size(0) == weight.size(0) &&
                      bias->dtype() == input.dtype() && weight.dtype() == input.dtype();
  if (is_row && is_floating(input.dtype()) && !input.device().is_cpu()) {
    ops::common_device(op, input, *bias);
    DimVector sizes(input.sizes());
    sizes.back() = weight.size(0);
    const std::int64_t inner = std::max<std::int64_t>(weight.size(1), 1);
    const Variable matrix = input.dim() == 2 ? input : input.reshape({input.numel() / inner, weight.size(1)});
    const Variable out = fused(matrix, weight, *bias, activation);
    if (out.defined()) return input.dim() == 2 ? out : out.view(sizes);
  }
  const Variable sum = linear(input, weight, bias);
  return activation == LinearActivation::relu ? relu(sum) : gelu(sum, "tanh");
}

}  // namespace

Variable linear_relu(const Variable& input, const Variable& weight, const optional<Variable>& bias) {
  EBB_AUTOCAST(linear_relu, input, weight, bias);
  return activated("linear_relu", input, weight, bias, LinearActivation::relu);
}

Variable linear_gelu(const Variable& input, const Variable& weight, const optional<Variable>& bias) {
  EBB_AUTOCAST(linear_gelu, input, weight, bias);
  return activated("linear_gelu", input, weight, bias, LinearActivation::gelu_tanh);
}

}  // namespace ebb
