// conv_tbc and conv_depthwise3d: ATen's names for conv1d and conv3d in other layouts.
#include <ebb/ops/conv.h>
#include <ebb/ops/shape.h>

namespace ebb {

Variable conv_tbc(const Variable& self, const Variable& weight, const Variable& bias, std::int64_t pad) {
  EBB_CHECK(self.defined() && weight.defined() && bias.defined() && self.dim() == 3 && weight.dim() == 3 &&
                bias.dim() == 1,
            "conv_tbc: Input must have 3 dims: time, batch, in_channel; weight 3: kernel_width, in_channels, "
            "out_channels; bias 1.");
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
            kernel_size, " needs a weight [C m, 1, kernel...], got ", weight.sizes(), ".");
  EBB_CHECK(self.size(1) > 0 && weight.size(0) > 0 && weight.size(0) % self.size(1) == 0,
            "conv_depthwise3d: the weight needs a multiple of the input's channels, got input ", self.sizes(),
            " and weight ", weight.sizes(), ".");
  return conv3d(self, weight, bias, stride, padding, dilation, self.size(1));
}

}  // namespace ebb
