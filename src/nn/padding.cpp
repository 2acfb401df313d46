// Functions and modules of padding, fold and unfold, pixel shuffle and upsampling.
#include <ebb/nn/modules/padding.h>
#include <ebb/ops/shape.h>

#include "nn/stateless.h"

namespace ebb::nn {

namespace functional {

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

}  // namespace functional

namespace F = functional;

/// Pads x by the sizes of the options.
template <class Options>
static Variable pad(const Variable& x, const Options& o, F::PadFuncOptions::mode_t mode, double value = 0) {
  const auto& sizes = *o.padding();
  return F::pad(x, F::PadFuncOptions({sizes.begin(), sizes.end()}).mode(mode).value(value));
}

template <std::size_t D>
static Variable call(const ReflectionPadImpl<D>& m, const Variable& x) {
  return pad(x, m.options, kReflect);
}
template <std::size_t D>
static void print(Fields& out, const ReflectionPadOptions<D>& o) {
  out("padding", o.padding());
}
EBB_STATELESS(ReflectionPad1dImpl, ReflectionPadOptions<1>, Variable);
EBB_STATELESS(ReflectionPad2dImpl, ReflectionPadOptions<2>, Variable);
EBB_STATELESS(ReflectionPad3dImpl, ReflectionPadOptions<3>, Variable);

template <std::size_t D>
static Variable call(const ReplicationPadImpl<D>& m, const Variable& x) {
  return pad(x, m.options, kReplicate);
}
template <std::size_t D>
static void print(Fields& out, const ReplicationPadOptions<D>& o) {
  out("padding", o.padding());
}
EBB_STATELESS(ReplicationPad1dImpl, ReplicationPadOptions<1>, Variable);
EBB_STATELESS(ReplicationPad2dImpl, ReplicationPadOptions<2>, Variable);
EBB_STATELESS(ReplicationPad3dImpl, ReplicationPadOptions<3>, Variable);

template <std::size_t D>
static Variable call(const ZeroPadImpl<D>& m, const Variable& x) {
  return pad(x, m.options, kConstant);
}
template <std::size_t D>
static void print(Fields& out, const ZeroPadOptions<D>& o) {
  out("padding", o.padding());
}
EBB_STATELESS(ZeroPad1dImpl, ZeroPadOptions<1>, Variable);
EBB_STATELESS(ZeroPad2dImpl, ZeroPadOptions<2>, Variable);
EBB_STATELESS(ZeroPad3dImpl, ZeroPadOptions<3>, Variable);

template <std::size_t D>
static Variable call(const CircularPadImpl<D>& m, const Variable& x) {
  return pad(x, m.options, kCircular);
}
template <std::size_t D>
static void print(Fields& out, const CircularPadOptions<D>& o) {
  out("padding", o.padding());
}
EBB_STATELESS(CircularPad1dImpl, CircularPadOptions<1>, Variable);
EBB_STATELESS(CircularPad2dImpl, CircularPadOptions<2>, Variable);
EBB_STATELESS(CircularPad3dImpl, CircularPadOptions<3>, Variable);

template <std::size_t D>
static Variable call(const ConstantPadImpl<D>& m, const Variable& x) {
  return pad(x, m.options, kConstant, m.options.value());
}
template <std::size_t D>
static void print(Fields& out, const ConstantPadOptions<D>& o) {
  out("padding", o.padding())("value", o.value());
}
EBB_STATELESS(ConstantPad1dImpl, ConstantPadOptions<1>, Variable);
EBB_STATELESS(ConstantPad2dImpl, ConstantPadOptions<2>, Variable);
EBB_STATELESS(ConstantPad3dImpl, ConstantPadOptions<3>, Variable);

static void print(Fields& out, const FoldOptions& o) {
  out("output_size", o.output_size())("kernel_size", o.kernel_size())("dilation", o.dilation());
  out("padding", o.padding())("stride", o.stride());
}
EBB_STATELESS_AS(F::fold, FoldImpl, FoldOptions, Variable);

static void print(Fields& out, const UnfoldOptions& o) {
  out("kernel_size", o.kernel_size())("dilation", o.dilation())("padding", o.padding())("stride", o.stride());
}
EBB_STATELESS_AS(F::unfold, UnfoldImpl, UnfoldOptions, Variable);

static void print(Fields& out, const PixelShuffleOptions& o) { out("upscale_factor", o.upscale_factor()); }
EBB_STATELESS_AS(F::pixel_shuffle, PixelShuffleImpl, PixelShuffleOptions, Variable);

static void print(Fields& out, const PixelUnshuffleOptions& o) {
  out("downscale_factor", o.downscale_factor());
}
EBB_STATELESS_AS(F::pixel_unshuffle, PixelUnshuffleImpl, PixelUnshuffleOptions, Variable);

static Variable call(const UpsampleImpl& m, const Variable& x) {
  return F::interpolate(x, F::InterpolateFuncOptions()
                               .size(m.options.size())
                               .scale_factor(m.options.scale_factor())
                               .mode(m.options.mode())
                               .align_corners(m.options.align_corners())
                               .recompute_scale_factor(m.options.recompute_scale_factor()));
}
static void print(Fields& out, const UpsampleOptions& o) {
  if (o.scale_factor())
    out("scale_factor", *o.scale_factor());
  else if (o.size())
    out("size", *o.size());
  else
    out("");
  out("mode", o.mode().name());
}
EBB_STATELESS(UpsampleImpl, UpsampleOptions, Variable);

/// Converts the options of UpsamplingNearest2d or UpsamplingBilinear2d to those of Upsample.
static UpsampleOptions as_upsample(const Upsampling2dOptions& o) {
  UpsampleOptions out;
  if (o.size()) out.size(std::vector<std::int64_t>((*o.size())->begin(), (*o.size())->end()));
  if (o.scale_factor())
    out.scale_factor(std::vector<double>((*o.scale_factor())->begin(), (*o.scale_factor())->end()));
  return out;
}
static void print(Fields& out, const Upsampling2dOptions& o) {
  const UpsampleOptions same = as_upsample(o);
  if (same.scale_factor()) out("scale_factor", *same.scale_factor());
  if (same.size()) out("size", *same.size());
}
static Variable call(const UpsamplingNearest2dImpl& m, const Variable& x) {
  return call(UpsampleImpl(as_upsample(m.options)), x);
}
static Variable call(const UpsamplingBilinear2dImpl& m, const Variable& x) {
  return call(UpsampleImpl(as_upsample(m.options).mode(kBilinear).align_corners(true)), x);
}
EBB_STATELESS(UpsamplingNearest2dImpl, Upsampling2dOptions, Variable);
EBB_STATELESS(UpsamplingBilinear2dImpl, Upsampling2dOptions, Variable);

static void print(Fields& out, const ChannelShuffleOptions& o) { out("groups", o.groups()); }
static void check(const ChannelShuffleOptions& o) {
  EBB_CHECK(o.groups() > 0, "ChannelShuffle: groups must be positive, got ", o.groups(), ".");
}
static Variable call(const ChannelShuffleImpl& m, const Variable& x) {
  return channel_shuffle(x, m.options.groups());
}
EBB_STATELESS(ChannelShuffleImpl, ChannelShuffleOptions, Variable);

}  // namespace ebb::nn
