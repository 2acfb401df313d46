// Options of padding, folding, pixel shuffling and resizing.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/enums.h>
#include <ebb/nn/expanding_array.h>

namespace ebb::nn {

/// Options of ReflectionPad: sizes from the last dimension on, left and right.
template <std::size_t D>
class ReflectionPadOptions {
 public:
  ReflectionPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  ReflectionPadOptions& padding(ExpandingArray<D * 2> value) { return padding_ = value, *this; }
  const ExpandingArray<D * 2>& padding() const { return padding_; }

 private:
  ExpandingArray<D * 2> padding_;
};

/// Options of ReplicationPad: sizes from the last dimension on, left and right.
template <std::size_t D>
class ReplicationPadOptions {
 public:
  ReplicationPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  ReplicationPadOptions& padding(ExpandingArray<D * 2> value) { return padding_ = value, *this; }
  const ExpandingArray<D * 2>& padding() const { return padding_; }

 private:
  ExpandingArray<D * 2> padding_;
};

/// Options of ZeroPad: sizes from the last dimension on, left and right.
template <std::size_t D>
class ZeroPadOptions {
 public:
  ZeroPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  ZeroPadOptions& padding(ExpandingArray<D * 2> value) { return padding_ = value, *this; }
  const ExpandingArray<D * 2>& padding() const { return padding_; }

 private:
  ExpandingArray<D * 2> padding_;
};

/// Options of ConstantPad: sizes from the last dimension on, left and right.
template <std::size_t D>
class ConstantPadOptions {
 public:
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value) {}
  ConstantPadOptions& padding(ExpandingArray<D * 2> value) { return padding_ = value, *this; }
  const ExpandingArray<D * 2>& padding() const { return padding_; }
  ConstantPadOptions& value(double value) { return value_ = value, *this; }
  double value() const { return value_; }

 private:
  ExpandingArray<D * 2> padding_;
  double value_;
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
class FoldOptions {
 public:
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  FoldOptions& output_size(ExpandingArray<2> value) { return output_size_ = value, *this; }
  const ExpandingArray<2>& output_size() const { return output_size_; }
  FoldOptions& kernel_size(ExpandingArray<2> value) { return kernel_size_ = value, *this; }
  const ExpandingArray<2>& kernel_size() const { return kernel_size_; }
  FoldOptions& dilation(ExpandingArray<2> value) { return dilation_ = value, *this; }
  const ExpandingArray<2>& dilation() const { return dilation_; }
  FoldOptions& padding(ExpandingArray<2> value) { return padding_ = value, *this; }
  const ExpandingArray<2>& padding() const { return padding_; }
  FoldOptions& stride(ExpandingArray<2> value) { return stride_ = value, *this; }
  const ExpandingArray<2>& stride() const { return stride_; }

 private:
  ExpandingArray<2> output_size_;
  ExpandingArray<2> kernel_size_;
  ExpandingArray<2> dilation_ = 1;
  ExpandingArray<2> padding_ = 0;
  ExpandingArray<2> stride_ = 1;
};

/// Options of Unfold.
class UnfoldOptions {
 public:
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}
  UnfoldOptions& kernel_size(ExpandingArray<2> value) { return kernel_size_ = value, *this; }
  const ExpandingArray<2>& kernel_size() const { return kernel_size_; }
  UnfoldOptions& dilation(ExpandingArray<2> value) { return dilation_ = value, *this; }
  const ExpandingArray<2>& dilation() const { return dilation_; }
  UnfoldOptions& padding(ExpandingArray<2> value) { return padding_ = value, *this; }
  const ExpandingArray<2>& padding() const { return padding_; }
  UnfoldOptions& stride(ExpandingArray<2> value) { return stride_ = value, *this; }
  const ExpandingArray<2>& stride() const { return stride_; }

 private:
  ExpandingArray<2> kernel_size_;
  ExpandingArray<2> dilation_ = 1;
  ExpandingArray<2> padding_ = 0;
  ExpandingArray<2> stride_ = 1;
};

/// Options of PixelShuffle.
class PixelShuffleOptions {
 public:
  PixelShuffleOptions(std::int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
  PixelShuffleOptions& upscale_factor(std::int64_t value) { return upscale_factor_ = value, *this; }
  std::int64_t upscale_factor() const { return upscale_factor_; }

 private:
  std::int64_t upscale_factor_;
};

/// Options of PixelUnshuffle.
class PixelUnshuffleOptions {
 public:
  PixelUnshuffleOptions(std::int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
  PixelUnshuffleOptions& downscale_factor(std::int64_t value) { return downscale_factor_ = value, *this; }
  std::int64_t downscale_factor() const { return downscale_factor_; }

 private:
  std::int64_t downscale_factor_;
};

/// Options of Upsample.
class UpsampleOptions {
 public:
  using mode_t = OneOf<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                       enumtype::kTrilinear>;

  UpsampleOptions& size(optional<std::vector<std::int64_t>> value) { return size_ = std::move(value), *this; }
  const optional<std::vector<std::int64_t>>& size() const { return size_; }
  UpsampleOptions& scale_factor(optional<std::vector<double>> value) {
    return scale_factor_ = std::move(value), *this;
  }
  const optional<std::vector<double>>& scale_factor() const { return scale_factor_; }
  UpsampleOptions& mode(mode_t value) { return mode_ = value, *this; }
  const mode_t& mode() const { return mode_; }
  UpsampleOptions& align_corners(optional<bool> value) { return align_corners_ = value, *this; }
  const optional<bool>& align_corners() const { return align_corners_; }

 private:
  optional<std::vector<std::int64_t>> size_;
  optional<std::vector<double>> scale_factor_;
  mode_t mode_;
  optional<bool> align_corners_;
};

namespace functional {

/// Options of pad: sizes from the last dimension on, left and right.
class PadFuncOptions {
 public:
  using mode_t = OneOf<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;

  PadFuncOptions(std::vector<std::int64_t> pad) : pad_(std::move(pad)) {}
  PadFuncOptions& pad(std::vector<std::int64_t> value) { return pad_ = std::move(value), *this; }
  const std::vector<std::int64_t>& pad() const { return pad_; }
  PadFuncOptions& mode(mode_t value) { return mode_ = value, *this; }
  const mode_t& mode() const { return mode_; }
  PadFuncOptions& value(double value) { return value_ = value, *this; }
  double value() const { return value_; }

 private:
  std::vector<std::int64_t> pad_;
  mode_t mode_;
  double value_ = 0;
};

/// Options of interpolate.
class InterpolateFuncOptions {
 public:
  using mode_t = OneOf<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                       enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;

  InterpolateFuncOptions& size(optional<std::vector<std::int64_t>> value) {
    return size_ = std::move(value), *this;
  }
  const optional<std::vector<std::int64_t>>& size() const { return size_; }
  InterpolateFuncOptions& scale_factor(optional<std::vector<double>> value) {
    return scale_factor_ = std::move(value), *this;
  }
  const optional<std::vector<double>>& scale_factor() const { return scale_factor_; }
  InterpolateFuncOptions& mode(mode_t value) { return mode_ = value, *this; }
  const mode_t& mode() const { return mode_; }
  InterpolateFuncOptions& align_corners(optional<bool> value) { return align_corners_ = value, *this; }
  const optional<bool>& align_corners() const { return align_corners_; }
  InterpolateFuncOptions& recompute_scale_factor(optional<bool> value) {
    return recompute_scale_factor_ = value, *this;
  }
  const optional<bool>& recompute_scale_factor() const { return recompute_scale_factor_; }
  InterpolateFuncOptions& antialias(bool value) { return antialias_ = value, *this; }
  bool antialias() const { return antialias_; }

 private:
  optional<std::vector<std::int64_t>> size_;
  optional<std::vector<double>> scale_factor_;
  mode_t mode_;
  optional<bool> align_corners_;
  optional<bool> recompute_scale_factor_;
  bool antialias_ = false;
};

using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;

}  // namespace functional

}  // namespace ebb::nn
