// Padding, folding, pixel shuffling and resizing as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/options/padding.h>

namespace ebb::nn {

/// Pads by reflection at the borders.
template <std::size_t D>
class EBB_API ReflectionPadImpl : public Cloneable<ReflectionPadImpl<D>> {
 public:
  explicit ReflectionPadImpl(ExpandingArray<D * 2> padding)
      : ReflectionPadImpl(ReflectionPadOptions<D>(padding)) {}
  explicit ReflectionPadImpl(ReflectionPadOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ReflectionPadOptions<D> options;
};

/// Pads by repeating the border.
template <std::size_t D>
class EBB_API ReplicationPadImpl : public Cloneable<ReplicationPadImpl<D>> {
 public:
  explicit ReplicationPadImpl(ExpandingArray<D * 2> padding)
      : ReplicationPadImpl(ReplicationPadOptions<D>(padding)) {}
  explicit ReplicationPadImpl(ReplicationPadOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ReplicationPadOptions<D> options;
};

/// Pads with zeros.
template <std::size_t D>
class EBB_API ZeroPadImpl : public Cloneable<ZeroPadImpl<D>> {
 public:
  explicit ZeroPadImpl(ExpandingArray<D * 2> padding) : ZeroPadImpl(ZeroPadOptions<D>(padding)) {}
  explicit ZeroPadImpl(ZeroPadOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ZeroPadOptions<D> options;
};

/// Pads with a constant.
template <std::size_t D>
class EBB_API ConstantPadImpl : public Cloneable<ConstantPadImpl<D>> {
 public:
  ConstantPadImpl(ExpandingArray<D * 2> padding, double value)
      : ConstantPadImpl(ConstantPadOptions<D>(padding, value)) {}
  explicit ConstantPadImpl(ConstantPadOptions<D> options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  ConstantPadOptions<D> options;
};

/// Sums columns of patches into images.
class EBB_API FoldImpl : public Cloneable<FoldImpl> {
 public:
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : FoldImpl(FoldOptions(output_size, kernel_size)) {}
  explicit FoldImpl(FoldOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  FoldOptions options;
};
EBB_MODULE(Fold);

/// Patches of images as columns.
class EBB_API UnfoldImpl : public Cloneable<UnfoldImpl> {
 public:
  explicit UnfoldImpl(ExpandingArray<2> kernel_size) : UnfoldImpl(UnfoldOptions(kernel_size)) {}
  explicit UnfoldImpl(UnfoldOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  UnfoldOptions options;
};
EBB_MODULE(Unfold);

/// (*, C r^2, H, W) to (*, C, H r, W r).
class EBB_API PixelShuffleImpl : public Cloneable<PixelShuffleImpl> {
 public:
  explicit PixelShuffleImpl(PixelShuffleOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  PixelShuffleOptions options;
};
EBB_MODULE(PixelShuffle);

/// (*, C, H r, W r) to (*, C r^2, H, W).
class EBB_API PixelUnshuffleImpl : public Cloneable<PixelUnshuffleImpl> {
 public:
  explicit PixelUnshuffleImpl(PixelUnshuffleOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  PixelUnshuffleOptions options;
};
EBB_MODULE(PixelUnshuffle);

/// Resizes the spatial dimensions.
class EBB_API UpsampleImpl : public Cloneable<UpsampleImpl> {
 public:
  explicit UpsampleImpl(UpsampleOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  UpsampleOptions options;
};
EBB_MODULE(Upsample);

extern template class ReflectionPadImpl<1>;
extern template class ReflectionPadImpl<2>;
extern template class ReflectionPadImpl<3>;
extern template class ReplicationPadImpl<1>;
extern template class ReplicationPadImpl<2>;
extern template class ReplicationPadImpl<3>;
extern template class ZeroPadImpl<2>;
extern template class ConstantPadImpl<1>;
extern template class ConstantPadImpl<2>;
extern template class ConstantPadImpl<3>;

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
EBB_MODULE(ReflectionPad1d);
EBB_MODULE(ReflectionPad2d);
EBB_MODULE(ReflectionPad3d);
EBB_MODULE(ReplicationPad1d);
EBB_MODULE(ReplicationPad2d);
EBB_MODULE(ReplicationPad3d);
EBB_MODULE(ZeroPad2d);
EBB_MODULE(ConstantPad1d);
EBB_MODULE(ConstantPad2d);
EBB_MODULE(ConstantPad3d);

}  // namespace ebb::nn
