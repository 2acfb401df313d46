// max_unpool and fractional_max_pool with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/expanding_array.h>

#include <tuple>
#include <vector>

namespace ebb::nn {

/// Options of MaxUnpool. They must equal the options of the pooling. The default stride is kernel_size.
template <std::size_t D>
class EBB_API MaxUnpoolOptions {
 public:
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}

  EBB_ARG(ExpandingArray<D>, kernel_size);  ///< size of the window
  EBB_ARG(ExpandingArray<D>, stride);       ///< step of the window
  EBB_ARG(ExpandingArray<D>, padding) = 0;  ///< padding of the pooling, at both ends
};

/// Options of FractionalMaxPool: output_size, or output_ratio, which is below 1.
template <std::size_t D>
class EBB_API FractionalMaxPoolOptions {
 public:
  using Ratio = ExpandingArray<D, double>;
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}

  EBB_ARG(ExpandingArray<D>, kernel_size);            ///< size of the window
  EBB_ARG(optional<ExpandingArray<D>>, output_size);  ///< size of the result
  EBB_ARG(optional<Ratio>, output_ratio);             ///< ratio of the output size to the input size
  EBB_ARG(Variable, _random_samples);                 ///< in [0, 1), (N, C, axes); drawn if undefined
};

using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

namespace functional {

/// Options of max_unpool: the options of MaxUnpool, and the size of the result.
template <std::size_t D>
class EBB_API MaxUnpoolFuncOptions {
 public:
  using Size = std::vector<std::int64_t>;
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  MaxUnpoolFuncOptions(const MaxUnpoolOptions<D>& o)
      : kernel_size_(o.kernel_size()), stride_(o.stride()), padding_(o.padding()) {}

  EBB_ARG(ExpandingArray<D>, kernel_size);  ///< size of the window
  EBB_ARG(ExpandingArray<D>, stride);       ///< step of the window
  EBB_ARG(ExpandingArray<D>, padding) = 0;  ///< padding of the pooling, at both ends
  /// The spatial sizes or all sizes of the result. A spatial size may differ from the default, (in - 1) *
  /// stride - 2 * padding + kernel, by less than a stride.
  EBB_ARG(optional<Size>, output_size);
};

using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;
using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;

/// Writes each pooled element to the position in `indices`; all other elements are zero.
EBB_API Variable max_unpool1d(const Variable& input, const Variable& indices,
                              const MaxUnpool1dFuncOptions& options);
EBB_API Variable max_unpool2d(const Variable& input, const Variable& indices,
                              const MaxUnpool2dFuncOptions& options);
EBB_API Variable max_unpool3d(const Variable& input, const Variable& indices,
                              const MaxUnpool3dFuncOptions& options);

/// Return the maxima of randomly placed windows (Graham 2014), and their indices.
EBB_API std::tuple<Variable, Variable> fractional_max_pool2d_with_indices(
    const Variable& input, const FractionalMaxPool2dFuncOptions& options);
EBB_API std::tuple<Variable, Variable> fractional_max_pool3d_with_indices(
    const Variable& input, const FractionalMaxPool3dFuncOptions& options);
EBB_API Variable fractional_max_pool2d(const Variable& input, const FractionalMaxPool2dFuncOptions& options);
EBB_API Variable fractional_max_pool3d(const Variable& input, const FractionalMaxPool3dFuncOptions& options);

}  // namespace functional

}  // namespace ebb::nn
