// Padding, folding, pixel shuffling and resizing as modules.
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

/// Pads by repeating the border.
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

/// Patches of images as columns.
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

}  // namespace ebb::nn
