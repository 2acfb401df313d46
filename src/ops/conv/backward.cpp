// The gradients of convolution: each of its three kernels is differentiated with the other two.
#include "ops/conv/backward.h"

#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

#include "ops/common/arrays.h"
#include "ops/common/kernels.h"
#include "ops/common/layout.h"
#include "ops/common/record.h"
#include "ops/conv/kernels.h"

namespace ebb::ops {
namespace {

using autograd::GradList;

struct ConvolutionBackward : autograd::Node {
  autograd::SavedVariable first{this};
  autograd::SavedVariable second{this};
  autograd::SavedVariable result{this};  // only if a relu follows
  Convolution convolution;
  ConvKind kind = ConvKind::forward;
  bool is_layer = true;
  bool relu = false;

  std::string name() const override {
    if (relu) return "ConvolutionReluBackward0";
    return is_layer ? "ConvolutionBackward0" : "ConvolutionBackwardBackward0";
  }

  GradList apply(GradList&& grads) override {
    const Variable g = relu ? where(result.unpack() <= 0, 0, grads[0]) : grads[0];
    GradList out(num_outputs());
    const auto run = [&](ConvKind what, const Variable& a, const Variable& b) {
      return convolve(what, a, b, {}, convolution, false);
    };
    // The gradient of the first operand comes last, so that a compiled function can reuse the operand's
    // memory for it.
    switch (kind) {
      case ConvKind::forward:
        if (needs(1)) out[1] = run(ConvKind::weight, g, first.unpack());
        break;
      case ConvKind::input:
        if (needs(1)) out[1] = run(ConvKind::weight, first.unpack(), g);
        break;
      case ConvKind::weight:
        if (needs(1)) out[1] = run(ConvKind::input, first.unpack(), g);
        break;
    }
    if (needs(2)) {
      const std::int64_t all[] = {0, 2, 3, 4};
      out[2] = g.sum(IntArrayRef(all, static_cast<std::size_t>(convolution.dims) + 1));
    }
    if (needs(0)) {
      const Variable other = second.unpack();
      out[0] = kind == ConvKind::forward ? run(ConvKind::input, g, other)
               : kind == ConvKind::input ? run(ConvKind::forward, g, other)
                                         : run(ConvKind::forward, other, g);
    }
    return out;
  }
};

DimVector result_shape(ConvKind kind, const Convolution& c) {
  const ConvGeometry& g = c.geometry;
  DimVector sizes;
  if (kind == ConvKind::weight)
    sizes = {g.out_channels, g.group_in()};
  else
    sizes = {g.batch, kind == ConvKind::forward ? g.out_channels : g.in_channels};
  const auto& spatial = kind == ConvKind::forward ? g.out : kind == ConvKind::input ? g.in : g.kernel;
  sizes.append(spatial + 3 - c.dims, spatial + 3);
  return sizes;
}

// Fills a result without products: with the bias of each channel, or with zeros.
void fill_without_products(NdArray& out, const NdArray& bias, bool relu) {
  if (out.numel() == 0) return;
  kernels::fill(out.device(), out, 0);
  if (bias.defined()) {
    DimVector strides(static_cast<std::size_t>(out.dim()), 0);
    strides[1] = 1;
    kernels::copy(out.device(), out, bias.as_strided(out.sizes(), strides, bias.offset()));
  }
  if (relu) ebb::relu_(Variable(out));
}

}  // namespace

Variable convolve(ConvKind kind, const Variable& first, const Variable& second, const Variable& bias,
                  const Convolution& c, bool is_layer, bool relu) {
  const DType dtype = first.dtype();
  const Device device = first.device();
  // The CPU kernels take contiguous arrays of Float and Double, and BFloat16 operands for a Float result. The
  // CUDA kernels take one memory format for all arrays.
  const bool widens = device.is_cpu() && dtype != kDouble;
  const DType compute = widens ? kFloat : dtype, taken = widens && dtype != kBFloat16 ? kFloat : dtype;
  const MemoryFormat format = device.is_cpu() ? MemoryFormat::Contiguous : c.format;
  NdArray array = empty_in(result_shape(kind, c), compute, device, format);
  const NdArray a = contiguous_array(first, {taken, format}), b = contiguous_array(second, {taken, format}),
                shift = contiguous_array(bias, {compute});
  if (array.numel() == 0 || a.numel() == 0 || b.numel() == 0)
    fill_without_products(array, shift, relu);
  else if (kind == ConvKind::forward)
    kernels::conv_forward(device, array, a, b, shift, c.geometry, relu);
  else if (kind == ConvKind::input)
    kernels::conv_input(device, array, a, b, shift, c.geometry);
  else
    kernels::conv_weight(device, array, a, b, c.geometry);
  Variable out = Variable(std::move(array))
                     .to(dtype, false, false, kind == ConvKind::weight ? c.weight_format : c.format);
  if (const auto node = kind == ConvKind::weight
                            ? record_results<ConvolutionBackward>({&out}, first, second)
                            : record_results<ConvolutionBackward>({&out}, first, second, bias)) {
    if (node->needs(1)) node->first.save(first);
    if (node->needs(0)) node->second.save(second);
    node->convolution = c;
    node->kind = kind;
    node->is_layer = is_layer;
    node->relu = relu;
    if (relu) node->result.save_output(out);
  }
  return out;
}

}  // namespace ebb::ops
