// linear_relu and linear_gelu: linear layers followed by an activation, in one kernel if the device has one.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/fused_activation.h"
#include "ops/linalg/kernels.h"
#include "ops/linalg/product.h"

#include <algorithm>

namespace ebb {
namespace {

using ops::LinearActivation;

// Returns a matrix whose row stride is a multiple of 8 elements.
NdArray padded(std::int64_t rows, std::int64_t columns, DType dtype, Device device) {
  const std::int64_t pitch = (columns + 7) / 8 * 8;
  return NdArray::empty({rows, pitch}, dtype, device).as_strided({rows, columns}, {pitch, 1}, 0);
}

// Runs the fused kernel for a matrix and a row of biases. Returns an undefined tensor if the device has none.
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
