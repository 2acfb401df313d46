// Options of the convolutions.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/enums.h>
#include <ebb/nn/expanding_array.h>

namespace ebb::nn {

/// Padding of a convolution: sizes, kSame or kValid.
template <std::size_t D>
class ConvPadding {
 public:
  ConvPadding(ExpandingArray<D> sizes) : sizes_(sizes) {}
  ConvPadding(std::int64_t size) : sizes_(size) {}
  ConvPadding(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  ConvPadding(const std::vector<std::int64_t>& sizes) : sizes_(sizes) {}
  ConvPadding(enumtype::kSame) : mode_("same") {}
  ConvPadding(enumtype::kValid) : mode_("valid") {}
  /// "same", "valid", or null when given as sizes.
  const char* mode() const { return mode_; }
  const ExpandingArray<D>& sizes() const { return sizes_; }

 private:
  ExpandingArray<D> sizes_ = 0;
  const char* mode_ = nullptr;
};

using ConvPaddingMode =
    OneOf<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;

/// Options of Conv.
template <std::size_t D>
class ConvOptions {
 public:
  using padding_t = ConvPadding<D>;
  using padding_mode_t = ConvPaddingMode;

  ConvOptions(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  ConvOptions& in_channels(std::int64_t value) { return in_channels_ = value, *this; }
  std::int64_t in_channels() const { return in_channels_; }
  ConvOptions& out_channels(std::int64_t value) { return out_channels_ = value, *this; }
  std::int64_t out_channels() const { return out_channels_; }
  ConvOptions& kernel_size(ExpandingArray<D> value) { return kernel_size_ = value, *this; }
  const ExpandingArray<D>& kernel_size() const { return kernel_size_; }
  ConvOptions& stride(ExpandingArray<D> value) { return stride_ = value, *this; }
  const ExpandingArray<D>& stride() const { return stride_; }
  ConvOptions& padding(padding_t value) { return padding_ = value, *this; }
  const padding_t& padding() const { return padding_; }
  ConvOptions& dilation(ExpandingArray<D> value) { return dilation_ = value, *this; }
  const ExpandingArray<D>& dilation() const { return dilation_; }
  ConvOptions& groups(std::int64_t value) { return groups_ = value, *this; }
  std::int64_t groups() const { return groups_; }
  ConvOptions& bias(bool value) { return bias_ = value, *this; }
  bool bias() const { return bias_; }
  ConvOptions& padding_mode(padding_mode_t value) { return padding_mode_ = value, *this; }
  const padding_mode_t& padding_mode() const { return padding_mode_; }

 private:
  std::int64_t in_channels_;
  std::int64_t out_channels_;
  ExpandingArray<D> kernel_size_;
  ExpandingArray<D> stride_ = 1;
  padding_t padding_ = 0;
  ExpandingArray<D> dilation_ = 1;
  std::int64_t groups_ = 1;
  bool bias_ = true;
  padding_mode_t padding_mode_;
};

using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

/// Options of ConvTranspose.
template <std::size_t D>
class ConvTransposeOptions {
 public:
  using padding_mode_t = ConvPaddingMode;

  ConvTransposeOptions(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  ConvTransposeOptions& in_channels(std::int64_t value) { return in_channels_ = value, *this; }
  std::int64_t in_channels() const { return in_channels_; }
  ConvTransposeOptions& out_channels(std::int64_t value) { return out_channels_ = value, *this; }
  std::int64_t out_channels() const { return out_channels_; }
  ConvTransposeOptions& kernel_size(ExpandingArray<D> value) { return kernel_size_ = value, *this; }
  const ExpandingArray<D>& kernel_size() const { return kernel_size_; }
  ConvTransposeOptions& stride(ExpandingArray<D> value) { return stride_ = value, *this; }
  const ExpandingArray<D>& stride() const { return stride_; }
  ConvTransposeOptions& padding(ExpandingArray<D> value) { return padding_ = value, *this; }
  const ExpandingArray<D>& padding() const { return padding_; }
  ConvTransposeOptions& output_padding(ExpandingArray<D> value) { return output_padding_ = value, *this; }
  const ExpandingArray<D>& output_padding() const { return output_padding_; }
  ConvTransposeOptions& groups(std::int64_t value) { return groups_ = value, *this; }
  std::int64_t groups() const { return groups_; }
  ConvTransposeOptions& bias(bool value) { return bias_ = value, *this; }
  bool bias() const { return bias_; }
  ConvTransposeOptions& dilation(ExpandingArray<D> value) { return dilation_ = value, *this; }
  const ExpandingArray<D>& dilation() const { return dilation_; }
  ConvTransposeOptions& padding_mode(padding_mode_t value) { return padding_mode_ = value, *this; }
  const padding_mode_t& padding_mode() const { return padding_mode_; }

 private:
  std::int64_t in_channels_;
  std::int64_t out_channels_;
  ExpandingArray<D> kernel_size_;
  ExpandingArray<D> stride_ = 1;
  ExpandingArray<D> padding_ = 0;
  ExpandingArray<D> output_padding_ = 0;
  std::int64_t groups_ = 1;
  bool bias_ = true;
  ExpandingArray<D> dilation_ = 1;
  padding_mode_t padding_mode_;
};

using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

/// Options of conv1d, conv2d, conv3d.
template <std::size_t D>
class ConvFuncOptions {
 public:
  using padding_t = ConvPadding<D>;

  ConvFuncOptions& bias(Variable value) { return bias_ = std::move(value), *this; }
  const Variable& bias() const { return bias_; }
  ConvFuncOptions& stride(ExpandingArray<D> value) { return stride_ = value, *this; }
  const ExpandingArray<D>& stride() const { return stride_; }
  ConvFuncOptions& padding(padding_t value) { return padding_ = value, *this; }
  const padding_t& padding() const { return padding_; }
  ConvFuncOptions& dilation(ExpandingArray<D> value) { return dilation_ = value, *this; }
  const ExpandingArray<D>& dilation() const { return dilation_; }
  ConvFuncOptions& groups(std::int64_t value) { return groups_ = value, *this; }
  std::int64_t groups() const { return groups_; }

 private:
  Variable bias_;
  ExpandingArray<D> stride_ = 1;
  padding_t padding_ = 0;
  ExpandingArray<D> dilation_ = 1;
  std::int64_t groups_ = 1;
};

using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

/// Options of conv_transpose1d, conv_transpose2d, conv_transpose3d.
template <std::size_t D>
class ConvTransposeFuncOptions {
 public:
  ConvTransposeFuncOptions& bias(Variable value) { return bias_ = std::move(value), *this; }
  const Variable& bias() const { return bias_; }
  ConvTransposeFuncOptions& stride(ExpandingArray<D> value) { return stride_ = value, *this; }
  const ExpandingArray<D>& stride() const { return stride_; }
  ConvTransposeFuncOptions& padding(ExpandingArray<D> value) { return padding_ = value, *this; }
  const ExpandingArray<D>& padding() const { return padding_; }
  ConvTransposeFuncOptions& output_padding(ExpandingArray<D> value) { return output_padding_ = value, *this; }
  const ExpandingArray<D>& output_padding() const { return output_padding_; }
  ConvTransposeFuncOptions& groups(std::int64_t value) { return groups_ = value, *this; }
  std::int64_t groups() const { return groups_; }
  ConvTransposeFuncOptions& dilation(ExpandingArray<D> value) { return dilation_ = value, *this; }
  const ExpandingArray<D>& dilation() const { return dilation_; }

 private:
  Variable bias_;
  ExpandingArray<D> stride_ = 1;
  ExpandingArray<D> padding_ = 0;
  ExpandingArray<D> output_padding_ = 0;
  std::int64_t groups_ = 1;
  ExpandingArray<D> dilation_ = 1;
};

using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

}  // namespace functional

}  // namespace ebb::nn
