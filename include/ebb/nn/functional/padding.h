// pad, fold, unfold, pixel_shuffle and interpolate with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/enums.h>
#include <ebb/nn/expanding_array.h>

namespace ebb::nn {

/// Options of ReflectionPad: left and right size for each dimension, last dimension first.
template <std::size_t D>
class EBB_API ReflectionPadOptions {
 public:
  ReflectionPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}

  EBB_ARG(ExpandingArray<D * 2>, padding);
};

/// Options of ReplicationPad: left and right size for each dimension, last dimension first.
template <std::size_t D>
class EBB_API ReplicationPadOptions {
 public:
  ReplicationPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}

  EBB_ARG(ExpandingArray<D * 2>, padding);
};

/// Options of ZeroPad: left and right size for each dimension, last dimension first.
template <std::size_t D>
class EBB_API ZeroPadOptions {
 public:
  ZeroPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}

  EBB_ARG(ExpandingArray<D * 2>, padding);
};

/// Options of ConstantPad: left and right size for each dimension, last dimension first.
template <std::size_t D>
class EBB_API ConstantPadOptions {
 public:
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value) {}

  EBB_ARG(ExpandingArray<D * 2>, padding);
  EBB_ARG(double, value);  ///< padding value
};

using ReflectionPad1dOptions = ReflectionPadOptions<1>;
using ReflectionPad2dOptions = ReflectionPadOptions<2>;
using ReflectionPad3dOptions = ReflectionPadOptions<3>;
using ReplicationPad1dOptions = ReplicationPadOptions<1>;
using ReplicationPad2dOptions = ReplicationPadOptions<2>;
using ReplicationPad3dOptions = ReplicationPadOptions<3>;
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;
using ZeroPad2dOptions = ZeroPadOptions<2>;

/// Options of Fold.
class EBB_API FoldOptions {
 public:
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}

  EBB_ARG(ExpandingArray<2>, output_size);   ///< size of the images
  EBB_ARG(ExpandingArray<2>, kernel_size);   ///< size of the window
  EBB_ARG(ExpandingArray<2>, dilation) = 1;  ///< distance between a window's elements
  EBB_ARG(ExpandingArray<2>, padding) = 0;   ///< zeros at both ends
  EBB_ARG(ExpandingArray<2>, stride) = 1;    ///< step of the window
};

/// Options of Unfold.
class EBB_API UnfoldOptions {
 public:
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}

  EBB_ARG(ExpandingArray<2>, kernel_size);   ///< size of the window
  EBB_ARG(ExpandingArray<2>, dilation) = 1;  ///< distance between a window's elements
  EBB_ARG(ExpandingArray<2>, padding) = 0;   ///< zeros at both ends
  EBB_ARG(ExpandingArray<2>, stride) = 1;    ///< step of the window
};

/// Options of PixelShuffle.
class EBB_API PixelShuffleOptions {
 public:
  PixelShuffleOptions(std::int64_t upscale_factor) : upscale_factor_(upscale_factor) {}

  EBB_ARG(std::int64_t, upscale_factor);  ///< r
};

/// Options of PixelUnshuffle.
class EBB_API PixelUnshuffleOptions {
 public:
  PixelUnshuffleOptions(std::int64_t downscale_factor) : downscale_factor_(downscale_factor) {}

  EBB_ARG(std::int64_t, downscale_factor);  ///< r
};

/// Options of Upsample.
class EBB_API UpsampleOptions {
 public:
  using mode_t = OneOf<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                       enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;

  EBB_ARG(optional<std::vector<std::int64_t>>, size);    ///< spatial sizes of the result
  EBB_ARG(optional<std::vector<double>>, scale_factor);  ///< ratio of the output size to the input size
  EBB_ARG(mode_t, mode);
  EBB_ARG(optional<bool>, align_corners);           ///< aligns the corner elements
  EBB_ARG(optional<bool>, recompute_scale_factor);  ///< computes the scale again from the rounded sizes
};

/// Options of UpsamplingNearest2d and UpsamplingBilinear2d: size or scale_factor.
class EBB_API Upsampling2dOptions {
 public:
  using Factor = ExpandingArray<2, double>;

  EBB_ARG(optional<ExpandingArray<2>>, size);  ///< height and width of the result
  EBB_ARG(optional<Factor>, scale_factor);     ///< ratio of the output size to the input size
};
using UpsamplingNearest2dOptions = Upsampling2dOptions;
using UpsamplingBilinear2dOptions = Upsampling2dOptions;

namespace functional {

/// Options of pad: left and right size for each dimension, last dimension first.
class EBB_API PadFuncOptions {
 public:
  using mode_t = OneOf<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;

  PadFuncOptions(std::vector<std::int64_t> pad) : pad_(std::move(pad)) {}

  EBB_ARG(std::vector<std::int64_t>, pad);
  EBB_ARG(mode_t, mode);
  EBB_ARG(double, value) = 0;  ///< padding value of kConstant
};

/// Options of interpolate.
class EBB_API InterpolateFuncOptions {
 public:
  using mode_t = OneOf<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                       enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;

  EBB_ARG(optional<std::vector<std::int64_t>>, size);    ///< spatial sizes of the result
  EBB_ARG(optional<std::vector<double>>, scale_factor);  ///< ratio of the output size to the input size
  EBB_ARG(mode_t, mode);
  EBB_ARG(optional<bool>, align_corners);           ///< aligns the corner elements
  EBB_ARG(optional<bool>, recompute_scale_factor);  ///< computes the scale again from the rounded sizes
  EBB_ARG(bool, antialias) = false;                 ///< smooths with a wider filter when the size shrinks
};

using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;

EBB_API Variable pad(const Variable& input, const PadFuncOptions& options);
/// Sums columns of patches into images (the adjoint of unfold).
EBB_API Variable fold(const Variable& input, const FoldFuncOptions& options);
/// Extracts patches of images as columns.
EBB_API Variable unfold(const Variable& input, const UnfoldFuncOptions& options);
/// Rearranges (*, C r^2, H, W) to (*, C, H r, W r).
EBB_API Variable pixel_shuffle(const Variable& input, const PixelShuffleFuncOptions& options);
/// Computes the inverse of pixel_shuffle.
EBB_API Variable pixel_unshuffle(const Variable& input, const PixelUnshuffleFuncOptions& options);
/// Resizes the spatial dimensions by nearest neighbour, by linear interpolation (1 to 3 dimensions), by
/// bicubic interpolation, or by area averages.
EBB_API Variable interpolate(const Variable& input, const InterpolateFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
