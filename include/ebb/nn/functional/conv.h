// Convolutions with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/enums.h>
#include <ebb/nn/expanding_array.h>

namespace ebb::nn {

/// The padding of a convolution: sizes, kSame or kValid.
template <std::size_t D>
class ConvPadding {
 public:
  ConvPadding(ExpandingArray<D> sizes) : sizes_(sizes) {}
  ConvPadding(std::int64_t size) : sizes_(size) {}
  ConvPadding(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  ConvPadding(const std::vector<std::int64_t>& sizes) : sizes_(sizes) {}
  ConvPadding(const std::array<std::int64_t, D>& sizes) : sizes_(sizes) {}
  ConvPadding(enumtype::kSame) : mode_("same") {}
  ConvPadding(enumtype::kValid) : mode_("valid") {}
  /// Returns "same", "valid", or null if the padding is given as sizes.
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
class EBB_API ConvOptions {
 public:
  using padding_t = ConvPadding<D>;
  using padding_mode_t = ConvPaddingMode;

  ConvOptions(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  EBB_ARG(std::int64_t, in_channels);        ///< channels of the input
  EBB_ARG(std::int64_t, out_channels);       ///< channels of the result
  EBB_ARG(ExpandingArray<D>, kernel_size);   ///< size of the window
  EBB_ARG(ExpandingArray<D>, stride) = 1;    ///< step of the window
  EBB_ARG(padding_t, padding) = 0;           ///< zeros at both ends, kSame or kValid
  EBB_ARG(ExpandingArray<D>, dilation) = 1;  ///< distance between a window's elements
  EBB_ARG(std::int64_t, groups) = 1;         ///< number of channel groups, convolved separately
  EBB_ARG(bool, bias) = true;                ///< adds a learned bias
  EBB_ARG(padding_mode_t, padding_mode);     ///< the kind of values in the border
};

using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

/// Options of ConvTranspose.
template <std::size_t D>
class EBB_API ConvTransposeOptions {
 public:
  using padding_mode_t = ConvPaddingMode;

  ConvTransposeOptions(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  EBB_ARG(std::int64_t, in_channels);              ///< channels of the input
  EBB_ARG(std::int64_t, out_channels);             ///< channels of the result
  EBB_ARG(ExpandingArray<D>, kernel_size);         ///< size of the window
  EBB_ARG(ExpandingArray<D>, stride) = 1;          ///< step of the window
  EBB_ARG(ExpandingArray<D>, padding) = 0;         ///< zeros at both ends
  EBB_ARG(ExpandingArray<D>, output_padding) = 0;  ///< extra size at one end of the result
  EBB_ARG(std::int64_t, groups) = 1;               ///< number of channel groups, convolved separately
  EBB_ARG(bool, bias) = true;                      ///< adds a learned bias
  EBB_ARG(ExpandingArray<D>, dilation) = 1;        ///< distance between a window's elements
  EBB_ARG(padding_mode_t, padding_mode);           ///< the kind of values in the border
};

using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

/// Options of conv1d, conv2d, conv3d.
template <std::size_t D>
class EBB_API ConvFuncOptions {
 public:
  using padding_t = ConvPadding<D>;

  EBB_ARG(Variable, bias);                   ///< a vector, or undefined
  EBB_ARG(ExpandingArray<D>, stride) = 1;    ///< step of the window
  EBB_ARG(padding_t, padding) = 0;           ///< zeros at both ends, kSame or kValid
  EBB_ARG(ExpandingArray<D>, dilation) = 1;  ///< distance between a window's elements
  EBB_ARG(std::int64_t, groups) = 1;         ///< number of channel groups, convolved separately
};

using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

/// Options of conv_transpose1d, conv_transpose2d, conv_transpose3d.
template <std::size_t D>
class EBB_API ConvTransposeFuncOptions {
  EBB_ARG(Variable, bias);                         ///< a vector, or undefined
  EBB_ARG(ExpandingArray<D>, stride) = 1;          ///< step of the window
  EBB_ARG(ExpandingArray<D>, padding) = 0;         ///< zeros at both ends
  EBB_ARG(ExpandingArray<D>, output_padding) = 0;  ///< extra size at one end of the result
  EBB_ARG(std::int64_t, groups) = 1;               ///< number of channel groups, convolved separately
  EBB_ARG(ExpandingArray<D>, dilation) = 1;        ///< distance between a window's elements
};

using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

EBB_API Variable conv1d(const Variable& input, const Variable& weight, const Conv1dFuncOptions& options = {});
EBB_API Variable conv2d(const Variable& input, const Variable& weight, const Conv2dFuncOptions& options = {});
EBB_API Variable conv3d(const Variable& input, const Variable& weight, const Conv3dFuncOptions& options = {});
EBB_API Variable conv_transpose1d(const Variable& input, const Variable& weight,
                                  const ConvTranspose1dFuncOptions& options = {});
EBB_API Variable conv_transpose2d(const Variable& input, const Variable& weight,
                                  const ConvTranspose2dFuncOptions& options = {});
EBB_API Variable conv_transpose3d(const Variable& input, const Variable& weight,
                                  const ConvTranspose3dFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
