// Convolution as three kernels; the derivatives of each are the other two. The convolution of integers is a
// matrix product of the weight with a view of the padded input that contains all windows.
#include "ops/conv/convolve.h"

#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

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
  autograd::SavedVariable result{this};  // only saved with relu
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
    // The gradient of the first operand is computed last, so that a compiled function can reuse the first
    // operand's memory for it.
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

// Fills a result whose sums have no terms. If there is a bias, each element is the bias of its channel;
// otherwise it is zero.
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
  // The CPU kernels take arrays of Float and Double, each of which is contiguous or channels-last. They also
  // take contiguous BFloat16 operands for a Float result. The CUDA kernels take one memory format for all
  // arrays.
  const bool on_cpu = device.is_cpu(), widens = on_cpu && dtype != kDouble;
  const DType compute = widens ? kFloat : dtype, taken = widens && dtype != kBFloat16 ? kFloat : dtype;
  const MemoryFormat format = on_cpu && dtype == kBFloat16 ? MemoryFormat::Contiguous : c.format;
  const MemoryFormat result_format = kind == ConvKind::weight ? c.weight_format : c.format;
  const auto operand = [&](const Variable& x) {
    const bool planes = on_cpu && x.array().is_contiguous();
    return contiguous_array(x, {taken, planes ? MemoryFormat::Contiguous : format});
  };
  NdArray array =
      empty_in(result_shape(kind, c), compute, device, on_cpu && format == c.format ? result_format : format);
  const NdArray a = operand(first), b = operand(second), shift = contiguous_array(bias, {compute});
  if (array.numel() == 0 || a.numel() == 0 || b.numel() == 0)
    fill_without_products(array, shift, relu);
  else if (kind == ConvKind::forward)
    kernels::conv_forward(device, array, a, b, shift, c.geometry, relu);
  else if (kind == ConvKind::input)
    kernels::conv_input(device, array, a, b, shift, c.geometry);
  else
    kernels::conv_weight(device, array, a, b, c.geometry);
  Variable out = Variable(std::move(array)).to(dtype, false, false, result_format);
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

namespace {

// Pads x at both ends of each spatial axis. `ends` contains two sizes for each axis, the last axis first; a
// negative size crops.
Variable padded(const Variable& x, const DimVector& ends) { return constant_pad_nd(x, ends, 0).contiguous(); }

// Convolves x, which is already padded, with `strides` between windows. `counts` is the number of windows
// along each axis; the last window ends at the end of x.
Variable convolve_padded(const Variable& x, const Variable& weight, const ConvGeometry& g, int dims,
                         const std::int64_t* strides, const std::int64_t* counts) {
  const std::int64_t batch = x.size(0), groups = g.groups, depth = x.size(1) / groups,
                     outs = weight.size(0) / groups;
  DimVector sizes{batch, groups, depth}, steps{x.stride(0), x.stride(1) * depth, x.stride(1)},
      result{batch, weight.size(0)};
  std::int64_t places = 1, taps = depth;
  for (int a = 3 - dims; a < 3; ++a) {
    sizes.push_back(g.kernel[a]);
    steps.push_back(x.stride(a - 3 + dims + 2) * g.dilation[a]);
    taps *= g.kernel[a];
  }
  for (int a = 3 - dims; a < 3; ++a) {
    sizes.push_back(counts[a]);
    steps.push_back(x.stride(a - 3 + dims + 2) * strides[a]);
    result.push_back(counts[a]);
    places *= counts[a];
  }
  const Variable windows = x.as_strided(sizes, steps).reshape({batch, groups, taps, places});
  return matmul(weight.reshape({groups, outs, taps}), windows).reshape(result);
}

}  // namespace

Variable convolve_integers(ConvKind kind, const Variable& x, const Variable& weight, const ConvGeometry& g,
                           int dims) {
  DimVector ends;
  if (kind == ConvKind::forward) {
    for (int a = 2; a >= 3 - dims; --a) {
      const std::int64_t reach = (g.out[a] - 1) * g.stride[a] + g.dilation[a] * (g.kernel[a] - 1) + 1;
      ends.push_back(g.padding[a]);
      ends.push_back(reach - g.in[a] - g.padding[a]);
    }
    return convolve_padded(padded(x, ends), weight, g, dims, g.stride, g.out);
  }
  // The transpose of the convolution is a convolution with stride 1. Its input is `wide`: the elements of x,
  // `stride` apart, with zeros between them. Its kernel is reversed, with in and out channels exchanged.
  DimVector spread(x.sizes()), spatial;
  for (int a = 3 - dims; a < 3; ++a) spread[a - 3 + dims + 2] = (g.out[a] - 1) * g.stride[a] + 1;
  Variable wide = zeros(spread, x.options());
  Variable places = wide;
  for (int a = 3 - dims; a < 3; ++a) {
    places = slice(places, a - 3 + dims + 2, 0, nullopt, g.stride[a]);
    spatial.push_back(a - 3 + dims + 2);
  }
  places.copy_(x);
  for (int a = 2; a >= 3 - dims; --a) {
    const std::int64_t before = g.dilation[a] * (g.kernel[a] - 1) - g.padding[a];
    const std::int64_t reach = g.in[a] + g.dilation[a] * (g.kernel[a] - 1);
    ends.push_back(before);
    ends.push_back(reach - before - spread[a - 3 + dims + 2]);
  }
  DimVector split(weight.sizes()), joined(weight.sizes());
  split[0] /= g.groups;
  split.insert(split.begin(), g.groups);
  joined[0] = weight.size(1) * g.groups;
  joined[1] = weight.size(0) / g.groups;
  const Variable reversed = flip(weight.reshape(split).transpose(1, 2).reshape(joined), spatial);
  constexpr std::int64_t kOne[3] = {1, 1, 1};
  return convolve_padded(padded(wide, ends), reversed, g, dims, kOne, g.in);
}

}  // namespace ebb::ops
