#include <ebb/nn/functional/padding.h>
#include <ebb/ops/shape.h>

namespace ebb::nn::functional {

Variable pad(const Variable& input, const PadFuncOptions& o) {
  const char* mode = o.mode() == kConstant    ? "constant"
                     : o.mode() == kReflect   ? "reflect"
                     : o.mode() == kReplicate ? "replicate"
                                              : "circular";
  return o.mode() == kConstant ? ebb::pad(input, o.pad(), mode, o.value()) : ebb::pad(input, o.pad(), mode);
}

Variable fold(const Variable& input, const FoldFuncOptions& o) {
  EBB_CHECK(input.dim() == 2 || input.dim() == 3,
            "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ", input.dim(),
            "D)");
  return col2im(input, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

Variable unfold(const Variable& input, const UnfoldFuncOptions& o) {
  EBB_CHECK(input.dim() == 3 || input.dim() == 4,
            "Input Error: Only unbatched (3D) or batched (4D) input Tensors are supported (got ", input.dim(),
            "D)");
  return im2col(input, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

Variable pixel_shuffle(const Variable& input, const PixelShuffleFuncOptions& o) {
  return ebb::pixel_shuffle(input, o.upscale_factor());
}

Variable pixel_unshuffle(const Variable& input, const PixelUnshuffleFuncOptions& o) {
  return ebb::pixel_unshuffle(input, o.downscale_factor());
}

}  // namespace ebb::nn::functional
