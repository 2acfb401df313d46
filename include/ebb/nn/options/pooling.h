// Options of the poolings.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/expanding_array.h>

namespace ebb::nn {

/// Options of AvgPool; the stride is the kernel size unless set.
template <std::size_t D>
class AvgPoolOptions {
 public:
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  AvgPoolOptions& kernel_size(ExpandingArray<D> value) { return kernel_size_ = value, *this; }
  const ExpandingArray<D>& kernel_size() const { return kernel_size_; }
  AvgPoolOptions& stride(ExpandingArray<D> value) { return stride_ = value, *this; }
  const ExpandingArray<D>& stride() const { return stride_; }
  AvgPoolOptions& padding(ExpandingArray<D> value) { return padding_ = value, *this; }
  const ExpandingArray<D>& padding() const { return padding_; }
  AvgPoolOptions& ceil_mode(bool value) { return ceil_mode_ = value, *this; }
  bool ceil_mode() const { return ceil_mode_; }
  AvgPoolOptions& count_include_pad(bool value) { return count_include_pad_ = value, *this; }
  bool count_include_pad() const { return count_include_pad_; }
  AvgPoolOptions& divisor_override(optional<std::int64_t> value) { return divisor_override_ = value, *this; }
  const optional<std::int64_t>& divisor_override() const { return divisor_override_; }

 private:
  ExpandingArray<D> kernel_size_;
  ExpandingArray<D> stride_;
  ExpandingArray<D> padding_ = 0;
  bool ceil_mode_ = false;
  bool count_include_pad_ = true;
  optional<std::int64_t> divisor_override_;
};

/// Options of MaxPool; the stride is the kernel size unless set.
template <std::size_t D>
class MaxPoolOptions {
 public:
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  MaxPoolOptions& kernel_size(ExpandingArray<D> value) { return kernel_size_ = value, *this; }
  const ExpandingArray<D>& kernel_size() const { return kernel_size_; }
  MaxPoolOptions& stride(ExpandingArray<D> value) { return stride_ = value, *this; }
  const ExpandingArray<D>& stride() const { return stride_; }
  MaxPoolOptions& padding(ExpandingArray<D> value) { return padding_ = value, *this; }
  const ExpandingArray<D>& padding() const { return padding_; }
  MaxPoolOptions& dilation(ExpandingArray<D> value) { return dilation_ = value, *this; }
  const ExpandingArray<D>& dilation() const { return dilation_; }
  MaxPoolOptions& ceil_mode(bool value) { return ceil_mode_ = value, *this; }
  bool ceil_mode() const { return ceil_mode_; }

 private:
  ExpandingArray<D> kernel_size_;
  ExpandingArray<D> stride_;
  ExpandingArray<D> padding_ = 0;
  ExpandingArray<D> dilation_ = 1;
  bool ceil_mode_ = false;
};

/// Options of LPPool; the stride is the kernel size unless set.
template <std::size_t D>
class LPPoolOptions {
 public:
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  LPPoolOptions& norm_type(double value) { return norm_type_ = value, *this; }
  double norm_type() const { return norm_type_; }
  LPPoolOptions& kernel_size(ExpandingArray<D> value) { return kernel_size_ = value, *this; }
  const ExpandingArray<D>& kernel_size() const { return kernel_size_; }
  LPPoolOptions& stride(ExpandingArray<D> value) { return stride_ = value, *this; }
  const ExpandingArray<D>& stride() const { return stride_; }
  LPPoolOptions& ceil_mode(bool value) { return ceil_mode_ = value, *this; }
  bool ceil_mode() const { return ceil_mode_; }

 private:
  double norm_type_;
  ExpandingArray<D> kernel_size_;
  ExpandingArray<D> stride_;
  bool ceil_mode_ = false;
};

/// Options of adaptive poolings; a size left out stays the input's.
template <class output_size_t>
class AdaptivePoolOptions {
 public:
  AdaptivePoolOptions(output_size_t output_size) : output_size_(output_size) {}
  AdaptivePoolOptions& output_size(output_size_t value) { return output_size_ = value, *this; }
  const output_size_t& output_size() const { return output_size_; }

 private:
  output_size_t output_size_;
};

using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using AdaptiveAvgPool1dOptions = AdaptivePoolOptions<ExpandingArray<1>>;
using AdaptiveAvgPool2dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveAvgPool3dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<3>>;
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool3dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<3>>;

namespace functional {
using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AvgPool3dFuncOptions = AvgPool3dOptions;
using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using MaxPool3dFuncOptions = MaxPool3dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;
using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;
}  // namespace functional

}  // namespace ebb::nn
