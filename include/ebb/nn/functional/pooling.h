// Pooling functions with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/expanding_array.h>

#include <tuple>

namespace ebb::nn {

/// Options of AvgPool. The default stride is kernel_size.
template <std::size_t D>
class EBB_API AvgPoolOptions {
 public:
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}

  EBB_ARG(ExpandingArray<D>, kernel_size);            ///< size of the window
  EBB_ARG(ExpandingArray<D>, stride);                 ///< step of the window
  EBB_ARG(ExpandingArray<D>, padding) = 0;            ///< zeros at both ends
  EBB_ARG(bool, ceil_mode) = false;                   ///< keeps a last window that exceeds the input
  EBB_ARG(bool, count_include_pad) = true;            ///< counts padded zeros in the mean
  EBB_ARG(optional<std::int64_t>, divisor_override);  ///< divisor in place of the window's size
};

/// Options of MaxPool. The default stride is kernel_size.
template <std::size_t D>
class EBB_API MaxPoolOptions {
 public:
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}

  EBB_ARG(ExpandingArray<D>, kernel_size);   ///< size of the window
  EBB_ARG(ExpandingArray<D>, stride);        ///< step of the window
  EBB_ARG(ExpandingArray<D>, padding) = 0;   ///< -inf at both ends
  EBB_ARG(ExpandingArray<D>, dilation) = 1;  ///< distance between a window's elements
  EBB_ARG(bool, ceil_mode) = false;          ///< keeps a last window that exceeds the input
};

/// Options of LPPool. The default stride is kernel_size.
template <std::size_t D>
class EBB_API LPPoolOptions {
 public:
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}

  EBB_ARG(double, norm_type);               ///< order of the norm
  EBB_ARG(ExpandingArray<D>, kernel_size);  ///< size of the window
  EBB_ARG(ExpandingArray<D>, stride);       ///< step of the window
  EBB_ARG(bool, ceil_mode) = false;         ///< keeps a last window that exceeds the input
};

/// Options of the adaptive poolings. A missing size means the size of the input.
template <class output_size_t>
class EBB_API AdaptivePoolOptions {
 public:
  AdaptivePoolOptions(output_size_t output_size) : output_size_(output_size) {}

  EBB_ARG(output_size_t, output_size);
};

using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;
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
using LPPool3dFuncOptions = LPPool3dOptions;
using TensorPair = std::tuple<Variable, Variable>;

EBB_API Variable avg_pool1d(const Variable& input, const AvgPool1dFuncOptions& options);
EBB_API Variable avg_pool2d(const Variable& input, const AvgPool2dFuncOptions& options);
EBB_API Variable avg_pool3d(const Variable& input, const AvgPool3dFuncOptions& options);
EBB_API Variable max_pool1d(const Variable& input, const MaxPool1dFuncOptions& options);
EBB_API Variable max_pool2d(const Variable& input, const MaxPool2dFuncOptions& options);
EBB_API Variable max_pool3d(const Variable& input, const MaxPool3dFuncOptions& options);
/// Return the maxima and their indices.
EBB_API TensorPair max_pool1d_with_indices(const Variable& input, const MaxPool1dFuncOptions& options);
EBB_API TensorPair max_pool2d_with_indices(const Variable& input, const MaxPool2dFuncOptions& options);
EBB_API TensorPair max_pool3d_with_indices(const Variable& input, const MaxPool3dFuncOptions& options);
EBB_API Variable adaptive_avg_pool1d(const Variable& input, const AdaptiveAvgPool1dFuncOptions& options);
EBB_API Variable adaptive_avg_pool2d(const Variable& input, const AdaptiveAvgPool2dFuncOptions& options);
EBB_API Variable adaptive_avg_pool3d(const Variable& input, const AdaptiveAvgPool3dFuncOptions& options);
EBB_API Variable adaptive_max_pool1d(const Variable& input, const AdaptiveMaxPool1dFuncOptions& options);
EBB_API Variable adaptive_max_pool2d(const Variable& input, const AdaptiveMaxPool2dFuncOptions& options);
EBB_API Variable adaptive_max_pool3d(const Variable& input, const AdaptiveMaxPool3dFuncOptions& options);
EBB_API TensorPair adaptive_max_pool1d_with_indices(const Variable& input,
                                                    const AdaptiveMaxPool1dFuncOptions& options);
EBB_API TensorPair adaptive_max_pool2d_with_indices(const Variable& input,
                                                    const AdaptiveMaxPool2dFuncOptions& options);
EBB_API TensorPair adaptive_max_pool3d_with_indices(const Variable& input,
                                                    const AdaptiveMaxPool3dFuncOptions& options);
/// Computes (sum x^p)^(1/p) over each window.
EBB_API Variable lp_pool1d(const Variable& input, const LPPool1dFuncOptions& options);
EBB_API Variable lp_pool2d(const Variable& input, const LPPool2dFuncOptions& options);
EBB_API Variable lp_pool3d(const Variable& input, const LPPool3dFuncOptions& options);

}  // namespace functional

}  // namespace ebb::nn
