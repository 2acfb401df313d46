#include "ops/conv/node.h"

#include <ebb/ops/copy.h>
#include <ebb/ops/reduce.h>

#include "ops/common.h"
#include "ops/conv/kernels.h"

namespace ebb::ops {
namespace {

using autograd::GradList;

struct ConvolutionBackward : autograd::Node {
  autograd::SavedVariable first{this};
  autograd::SavedVariable second{this};
  ConvGeometry geometry;
  ConvKind kind = ConvKind::forward;
  int dims = 2;
  bool is_layer = true;

  std::string name() const override {
    return is_layer ? "ConvolutionBackward0" : "ConvolutionBackwardBackward0";
  }

  GradList apply(GradList&& grads) override {
    const Variable& g = grads[0];
    GradList out(num_outputs());
    const auto run = [&](ConvKind what, const Variable& a, const Variable& b) {
      return convolve(what, a, b, {}, geometry, dims, false);
    };
    switch (kind) {
      case ConvKind::forward:
        if (needs(0)) out[0] = run(ConvKind::input, g, second.unpack());
        if (needs(1)) out[1] = run(ConvKind::weight, g, first.unpack());
        break;
      case ConvKind::input:
        if (needs(0)) out[0] = run(ConvKind::forward, g, second.unpack());
        if (needs(1)) out[1] = run(ConvKind::weight, first.unpack(), g);
        break;
      case ConvKind::weight:
        if (needs(0)) out[0] = run(ConvKind::forward, second.unpack(), g);
        if (needs(1)) out[1] = run(ConvKind::input, first.unpack(), g);
        break;
    }
    if (needs(2)) {
      const std::int64_t all[] = {0, 2, 3, 4};
      out[2] = g.sum(IntArrayRef(all, static_cast<std::size_t>(dims) + 1));
    }
    return out;
  }
};

DimVector result_shape(ConvKind kind, const ConvGeometry& g, int dims) {
  DimVector sizes;
  if (kind == ConvKind::weight)
    sizes = {g.out_channels, g.group_in()};
  else
    sizes = {g.batch, kind == ConvKind::forward ? g.out_channels : g.in_channels};
  const auto& spatial = kind == ConvKind::forward ? g.out : kind == ConvKind::input ? g.in : g.kernel;
  sizes.append(spatial + 3 - dims, spatial + 3);
  return sizes;
}

// What the kernel takes: contiguous, and in float where it computes in float.
NdArray operand(const Variable& x, DType dtype) {
  if (!x.defined()) return {};
  if (x.dtype() == dtype && x.array().is_contiguous()) return x.array();
  return x.detach().to(dtype).contiguous().array();
}

}  // namespace

Variable convolve(ConvKind kind, const Variable& first, const Variable& second, const Variable& bias,
                  const ConvGeometry& geometry, int dims, bool is_layer) {
  const DType dtype = first.dtype(), compute = dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype;
  const Device device = first.device();
  NdArray array = NdArray::empty(result_shape(kind, geometry, dims), compute, device);
  const NdArray a = operand(first, compute), b = operand(second, compute);
  if (kind == ConvKind::forward)
    kernels::conv_forward(device, array, a, b, operand(bias, compute), geometry);
  else if (kind == ConvKind::input)
    kernels::conv_input(device, array, a, b, operand(bias, compute), geometry);
  else
    kernels::conv_weight(device, array, a, b, geometry);
  Variable out(std::move(array));
  if (dtype != compute) out = out.to(dtype);
  if (autograd::records(first, second, bias)) {
    const auto node = kind == ConvKind::weight
                          ? autograd::make_node<ConvolutionBackward>(first, second)
                          : autograd::make_node<ConvolutionBackward>(first, second, bias);
    if (node->needs(1)) node->first.save(first);
    if (node->needs(0)) node->second.save(second);
    node->geometry = geometry;
    node->kind = kind;
    node->dims = dims;
    node->is_layer = is_layer;
    autograd::set_history(out, node);
  }
  return out;
}

}  // namespace ebb::ops
