// conv1d, conv2d, conv3d and conv_transpose*: arguments, checks and padding. Also conv_tbc (conv1d in another
// layout) and conv_depthwise3d (conv3d with one group for each channel).
#include <ebb/ops/conv.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/layout.h"
#include "ops/conv/convolve.h"

#include <algorithm>

namespace ebb {
namespace {

constexpr IntArrayRef kSame;  // the padding "same": the result has the input's size

// The arguments that conv* and conv_transpose* share. `listed` is the function that the user called.
struct Call {
  ops::ListedOp listed;
  int dims;
  const Variable& input;
  const Variable& weight;
  const optional<Variable>& bias;
  bool relu = false;
  const char* op = listed.name.data();
};

// Copies `values`, one for each of the c.dims axes, to the last elements of `out`. A single value is repeated
// for all axes.
void spread(const Call& c, const char* what, IntArrayRef values, std::int64_t least, std::int64_t (&out)[3]) {
  EBB_CHECK(values.size() == 1 || values.size() == static_cast<std::size_t>(c.dims), c.op, ": expected ",
            what, " of 1 or ", c.dims, " values, got ", values, ".");
  for (int a = 0; a < c.dims; ++a) {
    const std::int64_t v = values[values.size() == 1 ? 0 : static_cast<std::size_t>(a)];
    ops::check_window(c.op, what, v, least, values);
    out[3 - c.dims + a] = v;
  }
}

// Checks the arguments that all convolutions share, and sets channels and kernel size. Returns whether the
// input has a batch dimension.
bool check(const Call& c, std::int64_t groups, bool transposed) {
  ops::check_defined(c.op, c.weight);
  ops::common_device(c.op, c.input, c.weight, c.bias);
  const IntArrayRef in = c.input.sizes(), w = c.weight.sizes();
  EBB_CHECK(c.weight.dim() == c.dims + 2, c.op, ": expected a weight of ", c.dims + 2,
            " dimensions, got shape ", w, ".");
  EBB_CHECK(c.input.dim() == c.dims + 2 || c.input.dim() == c.dims + 1, c.op, ": expected an input of ",
            c.dims + 2, " dimensions, or ", c.dims + 1, " without a batch, got shape ", in,
            " for a weight of shape ", w, ".");
  const bool batched = c.input.dim() == c.dims + 2;
  const std::int64_t channels = in[batched ? 1 : 0];
  EBB_CHECK(groups > 0, c.op, ": groups must be positive, got ", groups, ".");
  EBB_CHECK(w[0] % groups == 0, c.op, ": a weight of shape ", w, " cannot be divided into ", groups,
            " groups.");
  const std::int64_t expected = transposed ? w[0] : w[1] * groups;
  EBB_CHECK(channels == expected, c.op, ": a weight of shape ", w, " in ", groups, " groups expects ",
            expected, " channels, but the input of shape ", in, " has ", channels, ".");
  for (int a = 0; a < c.dims; ++a)
    EBB_CHECK(w[a + 2] > 0, c.op, ": the kernel of a weight of shape ", w, " is empty.");
  ops::check_same_dtype(c.op, c.input, c.weight);
  EBB_CHECK(c.input.dtype() != kBool, c.op, ": expected numbers, got Bool. Convert with .to(ebb::kFloat).");
  if (c.bias && c.bias->defined()) {
    ops::check_same_dtype(c.op, c.input, *c.bias);
    const std::int64_t outputs = transposed ? w[1] * groups : w[0];
    EBB_CHECK(c.bias->dim() == 1 && c.bias->numel() == outputs, c.op, ": expected a bias of shape [", outputs,
              "], got ", c.bias->sizes(), ".");
  }
  return batched;
}

ConvGeometry start(const Call& c, std::int64_t groups, IntArrayRef stride, IntArrayRef dilation) {
  ConvGeometry g;
  g.groups = groups;
  for (int a = 0; a < c.dims; ++a) g.kernel[3 - c.dims + a] = c.weight.sizes()[a + 2];
  spread(c, "a stride", stride, 1, g.stride);
  spread(c, "a dilation", dilation, 1, g.dilation);
  return g;
}

Variable run_integers(const Call& c, ops::ConvKind kind, const ConvGeometry& g, const Variable& input) {
  Variable out = ops::convolve_integers(kind, input, c.weight, g, c.dims);
  if (c.bias && c.bias->defined()) {
    DimVector channels(static_cast<std::size_t>(c.dims) + 1, 1);
    channels[0] = -1;
    out.add_(c.bias->view(channels));
  }
  return c.relu ? relu(out) : out;
}

Variable run(const Call& c, ops::ConvKind kind, ConvGeometry& g, const Variable& input, bool batched) {
  if (!is_floating(input.dtype())) {
    const Variable out = run_integers(c, kind, g, input);
    return batched ? out : out.squeeze(0);
  }
  ops::Convolution convolution{.geometry = g, .dims = c.dims};
  // The results are channels-last if the input or the weight is channels-last, as in torch. This format does
  // not exist for one spatial axis.
  if (c.dims > 1) {
    const MemoryFormat of_input = ops::suggested_format(input.array());
    convolution.weight_format = ops::suggested_format(c.weight.array());
    convolution.format = of_input == MemoryFormat::Contiguous ? convolution.weight_format : of_input;
  }
  const Variable out =
      ops::convolve(kind, input, c.weight, c.bias.value_or(Variable()), convolution, true, c.relu);
  return batched ? out : out.squeeze(0);
}

Variable forward(const Call& c, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                 std::int64_t groups) {
  if (const auto cast = ops::autocast(c.listed, c.input, c.weight)) [[unlikely]]
    return forward({c.listed, c.dims, cast(c.input), cast(c.weight), cast(c.bias), c.relu}, stride, padding,
                   dilation, groups);
  const bool batched = check(c, groups, false);
  ConvGeometry g = start(c, groups, stride, dilation);
  const bool same = padding.data() == nullptr;
  if (!same) spread(c, "a padding", padding, 0, g.padding);
  const Variable input = batched ? c.input : c.input.unsqueeze(0);
  const IntArrayRef sizes = input.sizes();
  g.batch = sizes[0];
  g.in_channels = sizes[1];
  g.out_channels = c.weight.sizes()[0];
  for (int a = 3 - c.dims; a < 3; ++a) {
    g.in[a] = sizes[a - 3 + c.dims + 2];
    const std::int64_t reach = g.dilation[a] * (g.kernel[a] - 1);
    if (same) {
      EBB_CHECK(g.stride[a] == 1, c.op, ": padding \"same\" needs a stride of 1, got ", stride, ".");
      g.padding[a] = reach / 2;
      g.out[a] = g.in[a];
      continue;
    }
    const std::int64_t room = g.in[a] + 2 * g.padding[a] - reach - 1;
    EBB_CHECK(room >= 0, c.op, ": a kernel of ", c.weight.sizes().slice(2), " with dilation ", dilation,
              " is larger than the input of shape ", c.input.sizes(), " with padding ", padding, ".");
    g.out[a] = room / g.stride[a] + 1;
  }
  return run(c, ops::ConvKind::forward, g, input, batched);
}

Variable forward(const Call& c, IntArrayRef stride, ConvPadding padding, IntArrayRef dilation,
                 std::int64_t groups) {
  EBB_CHECK(padding.name == "same" || padding.name == "valid", c.op,
            ": padding must be \"same\", \"valid\" or numbers, got \"", padding.name, "\".");
  const std::int64_t zero[] = {0};
  return forward(c, stride, padding.name == "same" ? kSame : IntArrayRef(zero), dilation, groups);
}

Variable transposed(const Call& c, IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                    std::int64_t groups, IntArrayRef dilation) {
  if (const auto cast = ops::autocast(c.listed, c.input, c.weight)) [[unlikely]]
    return transposed({c.listed, c.dims, cast(c.input), cast(c.weight), cast(c.bias)}, stride, padding,
                      output_padding, groups, dilation);
  const bool batched = check(c, groups, true);
  ConvGeometry g = start(c, groups, stride, dilation);
  std::int64_t extra[3] = {0, 0, 0};
  spread(c, "a padding", padding, 0, g.padding);
  spread(c, "an output_padding", output_padding, 0, extra);
  const Variable input = batched ? c.input : c.input.unsqueeze(0);
  const IntArrayRef sizes = input.sizes();
  g.batch = sizes[0];
  g.out_channels = sizes[1];
  g.in_channels = c.weight.sizes()[1] * groups;
  for (int a = 3 - c.dims; a < 3; ++a) {
    EBB_CHECK(extra[a] < std::max(g.stride[a], g.dilation[a]), c.op, ": output_padding ", output_padding,
              " must be smaller than stride ", stride, " or dilation ", dilation, ".");
    g.out[a] = sizes[a - 3 + c.dims + 2];
    g.in[a] =
        (g.out[a] - 1) * g.stride[a] - 2 * g.padding[a] + g.dilation[a] * (g.kernel[a] - 1) + extra[a] + 1;
    EBB_CHECK(g.in[a] > 0, c.op, ": an input of shape ", c.input.sizes(), " with padding ", padding,
              " gives an empty output.");
  }
  return run(c, ops::ConvKind::input, g, input, batched);
}

int spatial_axes(const char* op, const Variable& weight) {
  EBB_CHECK(weight.defined(), op, ": expected a weight, got an undefined tensor. Assign it before use.");
  EBB_CHECK(weight.dim() >= 3 && weight.dim() <= 5, op,
            ": expected a weight of 3 to 5 dimensions, got shape ", weight.sizes(), ".");
  return static_cast<int>(weight.dim()) - 2;
}

}  // namespace

Variable conv1d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  return forward({"conv1d", 1, input, weight, bias}, stride, padding, dilation, groups);
}
Variable conv2d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  return forward({"conv2d", 2, input, weight, bias}, stride, padding, dilation, groups);
}
Variable conv3d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  return forward({"conv3d", 3, input, weight, bias}, stride, padding, dilation, groups);
}

Variable conv1d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                IntArrayRef stride, ConvPadding padding, IntArrayRef dilation, std::int64_t groups) {
  return forward({"conv1d", 1, input, weight, bias}, stride, padding, dilation, groups);
}
Variable conv2d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                IntArrayRef stride, ConvPadding padding, IntArrayRef dilation, std::int64_t groups) {
  return forward({"conv2d", 2, input, weight, bias}, stride, padding, dilation, groups);
}
Variable conv3d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                IntArrayRef stride, ConvPadding padding, IntArrayRef dilation, std::int64_t groups) {
  return forward({"conv3d", 3, input, weight, bias}, stride, padding, dilation, groups);
}

Variable conv_transpose1d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                          std::int64_t groups, IntArrayRef dilation) {
  return transposed({"conv_transpose1d", 1, input, weight, bias}, stride, padding, output_padding, groups,
                    dilation);
}
Variable conv_transpose2d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                          std::int64_t groups, IntArrayRef dilation) {
  return transposed({"conv_transpose2d", 2, input, weight, bias}, stride, padding, output_padding, groups,
                    dilation);
}
Variable conv_transpose3d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                          std::int64_t groups, IntArrayRef dilation) {
  return transposed({"conv_transpose3d", 3, input, weight, bias}, stride, padding, output_padding, groups,
                    dilation);
}

Variable convolution(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                     IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool is_transposed,
                     IntArrayRef output_padding, std::int64_t groups) {
  const int dims = spatial_axes("convolution", weight);
  const Call call{"convolution", dims, input, weight, bias};
  return is_transposed ? transposed(call, stride, padding, output_padding, groups, dilation)
                       : forward(call, stride, padding, dilation, groups);
}

Variable convolution_relu(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          std::int64_t groups) {
  const int dims = spatial_axes("convolution_relu", weight);
  return forward({"convolution_relu", dims, input, weight, bias, true}, stride, padding, dilation, groups);
}

Variable conv_tbc(const Variable& self, const Variable& weight, const Variable& bias, std::int64_t pad) {
  EBB_CHECK(self.defined() && weight.defined() && bias.defined() && self.dim() == 3 && weight.dim() == 3 &&
                bias.dim() == 1,
            "conv_tbc: Input must have 3 dims: time, batch, in_channel; weight must have 3 dims: "
            "kernel_width, in_channels, out_channels; bias must have 1 dim.");
  EBB_CHECK(self.size(2) == weight.size(1) && weight.size(2) == bias.size(0), "conv_tbc: input ",
            self.sizes(), ", weight ", weight.sizes(), " and bias ", bias.sizes(),
            " do not agree in their channels.");
  return conv1d(self.permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, 1, pad).permute({2, 0, 1});
}

Variable conv_depthwise3d(const Variable& self, const Variable& weight, IntArrayRef kernel_size,
                          const optional<Variable>& bias, IntArrayRef stride, IntArrayRef padding,
                          IntArrayRef dilation) {
  EBB_CHECK(self.defined() && weight.defined() && self.dim() == 5 && weight.dim() == 5,
            "conv_depthwise3d: expected an input (N, C, D, H, W) and a weight of 5 dimensions.");
  EBB_CHECK(weight.size(1) == 1 && weight.sizes().slice(2) == kernel_size, "conv_depthwise3d: kernel_size ",
            kernel_size, " needs a weight of shape (C * m, 1, kernel...), got ", weight.sizes(), ".");
  EBB_CHECK(self.size(1) > 0 && weight.size(0) > 0 && weight.size(0) % self.size(1) == 0,
            "conv_depthwise3d: weight.size(0) must be a multiple of the input's channels, got input ",
            self.sizes(), " and weight ", weight.sizes(), ".");
  return conv3d(self, weight, bias, stride, padding, dilation, self.size(1));
}

}  // namespace ebb
