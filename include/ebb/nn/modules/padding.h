// Padding, Fold, Unfold, PixelShuffle and Upsample as modules.
#pragma once

#include <ebb/nn/functional/padding.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// Pads by reflection at the borders.
template <std::size_t D>
struct EBB_API ReflectionPadImpl
    : detail::Stateless<ReflectionPadImpl<D>, ReflectionPadOptions<D>, Variable> {
  using ReflectionPadImpl::Stateless::Stateless;
  explicit ReflectionPadImpl(ExpandingArray<D * 2> padding)
      : ReflectionPadImpl(ReflectionPadOptions<D>(padding)) {}
};

/// Pads by repeating the border element.
template <std::size_t D>
struct EBB_API ReplicationPadImpl
    : detail::Stateless<ReplicationPadImpl<D>, ReplicationPadOptions<D>, Variable> {
  using ReplicationPadImpl::Stateless::Stateless;
  explicit ReplicationPadImpl(ExpandingArray<D * 2> padding)
      : ReplicationPadImpl(ReplicationPadOptions<D>(padding)) {}
};

/// Pads with zeros.
template <std::size_t D>
struct EBB_API ZeroPadImpl : detail::Stateless<ZeroPadImpl<D>, ZeroPadOptions<D>, Variable> {
  using ZeroPadImpl::Stateless::Stateless;
  explicit ZeroPadImpl(ExpandingArray<D * 2> padding) : ZeroPadImpl(ZeroPadOptions<D>(padding)) {}
};

/// Pads with a constant.
template <std::size_t D>
struct EBB_API ConstantPadImpl : detail::Stateless<ConstantPadImpl<D>, ConstantPadOptions<D>, Variable> {
  using ConstantPadImpl::Stateless::Stateless;
  ConstantPadImpl(ExpandingArray<D * 2> padding, double value)
      : ConstantPadImpl(ConstantPadOptions<D>(padding, value)) {}
};

using ReflectionPad1dImpl = ReflectionPadImpl<1>;
using ReflectionPad2dImpl = ReflectionPadImpl<2>;
using ReflectionPad3dImpl = ReflectionPadImpl<3>;
using ReplicationPad1dImpl = ReplicationPadImpl<1>;
using ReplicationPad2dImpl = ReplicationPadImpl<2>;
using ReplicationPad3dImpl = ReplicationPadImpl<3>;
using ZeroPad2dImpl = ZeroPadImpl<2>;
using ConstantPad1dImpl = ConstantPadImpl<1>;
using ConstantPad2dImpl = ConstantPadImpl<2>;
using ConstantPad3dImpl = ConstantPadImpl<3>;
EBB_LIBRARY_MODULE(ReflectionPad1d);
EBB_LIBRARY_MODULE(ReflectionPad2d);
EBB_LIBRARY_MODULE(ReflectionPad3d);
EBB_LIBRARY_MODULE(ReplicationPad1d);
EBB_LIBRARY_MODULE(ReplicationPad2d);
EBB_LIBRARY_MODULE(ReplicationPad3d);
EBB_LIBRARY_MODULE(ZeroPad2d);
EBB_LIBRARY_MODULE(ConstantPad1d);
EBB_LIBRARY_MODULE(ConstantPad2d);
EBB_LIBRARY_MODULE(ConstantPad3d);

/// Sums columns of patches into images.
struct EBB_API FoldImpl : detail::Stateless<FoldImpl, FoldOptions, Variable> {
  using Stateless::Stateless;
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : FoldImpl(FoldOptions(output_size, kernel_size)) {}
};
EBB_LIBRARY_MODULE(Fold);

/// Extracts patches of images as columns.
struct EBB_API UnfoldImpl : detail::Stateless<UnfoldImpl, UnfoldOptions, Variable> {
  using Stateless::Stateless;
  explicit UnfoldImpl(ExpandingArray<2> kernel_size) : UnfoldImpl(UnfoldOptions(kernel_size)) {}
};
EBB_LIBRARY_MODULE(Unfold);

/// (*, C r^2, H, W) to (*, C, H r, W r).
struct EBB_API PixelShuffleImpl : detail::Stateless<PixelShuffleImpl, PixelShuffleOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(PixelShuffle);

/// (*, C, H r, W r) to (*, C r^2, H, W).
struct EBB_API PixelUnshuffleImpl : detail::Stateless<PixelUnshuffleImpl, PixelUnshuffleOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(PixelUnshuffle);

/// Resizes the spatial dimensions.
struct EBB_API UpsampleImpl : detail::Stateless<UpsampleImpl, UpsampleOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Upsample);

/// Upsamples images by nearest neighbours (torch.nn.UpsamplingNearest2d).
struct EBB_API UpsamplingNearest2dImpl
    : detail::Stateless<UpsamplingNearest2dImpl, Upsampling2dOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(UpsamplingNearest2d);

/// Upsamples images bilinearly with aligned corners (torch.nn.UpsamplingBilinear2d).
struct EBB_API UpsamplingBilinear2dImpl
    : detail::Stateless<UpsamplingBilinear2dImpl, Upsampling2dOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(UpsamplingBilinear2d);

/// Options of CircularPad: left and right size for each dimension, last dimension first.
template <std::size_t D>
class EBB_API CircularPadOptions {
 public:
  CircularPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}

  EBB_ARG(ExpandingArray<D * 2>, padding);
};

/// Pads with the elements of the opposite end (torch.nn.CircularPad2d).
template <std::size_t D>
struct EBB_API CircularPadImpl : detail::Stateless<CircularPadImpl<D>, CircularPadOptions<D>, Variable> {
  using CircularPadImpl::Stateless::Stateless;
  explicit CircularPadImpl(ExpandingArray<D * 2> padding) : CircularPadImpl(CircularPadOptions<D>(padding)) {}
};

using CircularPad1dOptions = CircularPadOptions<1>;
using CircularPad2dOptions = CircularPadOptions<2>;
using CircularPad3dOptions = CircularPadOptions<3>;
using ZeroPad1dOptions = ZeroPadOptions<1>;
using ZeroPad3dOptions = ZeroPadOptions<3>;
using CircularPad1dImpl = CircularPadImpl<1>;
using CircularPad2dImpl = CircularPadImpl<2>;
using CircularPad3dImpl = CircularPadImpl<3>;
using ZeroPad1dImpl = ZeroPadImpl<1>;
using ZeroPad3dImpl = ZeroPadImpl<3>;
EBB_LIBRARY_MODULE(CircularPad1d);
EBB_LIBRARY_MODULE(CircularPad2d);
EBB_LIBRARY_MODULE(CircularPad3d);
EBB_LIBRARY_MODULE(ZeroPad1d);
EBB_LIBRARY_MODULE(ZeroPad3d);

/// Options of ChannelShuffle.
class EBB_API ChannelShuffleOptions {
 public:
  ChannelShuffleOptions(std::int64_t groups) : groups_(groups) {}

  EBB_ARG(std::int64_t, groups);  ///< divides the number of channels
};

/// Interleaves the channels of the groups (torch.nn.ChannelShuffle).
struct EBB_API ChannelShuffleImpl : detail::Stateless<ChannelShuffleImpl, ChannelShuffleOptions, Variable> {
  using Stateless::Stateless;
  explicit ChannelShuffleImpl(std::int64_t groups) : ChannelShuffleImpl(ChannelShuffleOptions(groups)) {}
};
EBB_LIBRARY_MODULE(ChannelShuffle);

}  // namespace ebb::nn
