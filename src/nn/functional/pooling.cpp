#include <ebb/nn/functional/pooling.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/pool.h>

#include <cmath>

namespace ebb::nn::functional {

namespace {

/// The sizes asked for; those left out are the input's.
template <std::size_t D>
DimVector output_sizes(const Variable& input, const ExpandingArrayWithOptionalElem<D>& asked) {
  DimVector out;
  for (std::size_t i = 0; i < D; ++i)
    out.push_back((*asked)[i] ? *(*asked)[i]
                              : input.size(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(D)));
  return out;
}

Variable root_of_mean(const Variable& mean, double norm_type, std::int64_t window) {
  return (mean.sign() * ebb::relu(mean.abs())).mul(static_cast<double>(window)).pow(1.0 / norm_type);
}

}  // namespace

Variable avg_pool1d(const Variable& input, const AvgPool1dFuncOptions& o) {
  return ebb::avg_pool1d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                         o.count_include_pad());
}
Variable avg_pool2d(const Variable& input, const AvgPool2dFuncOptions& o) {
  return ebb::avg_pool2d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                         o.count_include_pad(), o.divisor_override());
}
Variable avg_pool3d(const Variable& input, const AvgPool3dFuncOptions& o) {
  return ebb::avg_pool3d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                         o.count_include_pad(), o.divisor_override());
}
Variable max_pool1d(const Variable& input, const MaxPool1dFuncOptions& o) {
  return ebb::max_pool1d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
Variable max_pool2d(const Variable& input, const MaxPool2dFuncOptions& o) {
  return ebb::max_pool2d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
Variable max_pool3d(const Variable& input, const MaxPool3dFuncOptions& o) {
  return ebb::max_pool3d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
TensorPair max_pool1d_with_indices(const Variable& input, const MaxPool1dFuncOptions& o) {
  return ebb::max_pool1d_with_indices(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                                      o.ceil_mode());
}
TensorPair max_pool2d_with_indices(const Variable& input, const MaxPool2dFuncOptions& o) {
  return ebb::max_pool2d_with_indices(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                                      o.ceil_mode());
}
TensorPair max_pool3d_with_indices(const Variable& input, const MaxPool3dFuncOptions& o) {
  return ebb::max_pool3d_with_indices(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                                      o.ceil_mode());
}
Variable adaptive_avg_pool1d(const Variable& input, const AdaptiveAvgPool1dFuncOptions& o) {
  return ebb::adaptive_avg_pool1d(input, o.output_size());
}
Variable adaptive_avg_pool2d(const Variable& input, const AdaptiveAvgPool2dFuncOptions& o) {
  return ebb::adaptive_avg_pool2d(input, output_sizes(input, o.output_size()));
}
Variable adaptive_avg_pool3d(const Variable& input, const AdaptiveAvgPool3dFuncOptions& o) {
  return ebb::adaptive_avg_pool3d(input, output_sizes(input, o.output_size()));
}
TensorPair adaptive_max_pool1d_with_indices(const Variable& input, const AdaptiveMaxPool1dFuncOptions& o) {
  return ebb::adaptive_max_pool1d(input, o.output_size());
}
TensorPair adaptive_max_pool2d_with_indices(const Variable& input, const AdaptiveMaxPool2dFuncOptions& o) {
  return ebb::adaptive_max_pool2d(input, output_sizes(input, o.output_size()));
}
TensorPair adaptive_max_pool3d_with_indices(const Variable& input, const AdaptiveMaxPool3dFuncOptions& o) {
  return ebb::adaptive_max_pool3d(input, output_sizes(input, o.output_size()));
}
Variable adaptive_max_pool1d(const Variable& input, const AdaptiveMaxPool1dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool1d_with_indices(input, o));
}
Variable adaptive_max_pool2d(const Variable& input, const AdaptiveMaxPool2dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool2d_with_indices(input, o));
}
Variable adaptive_max_pool3d(const Variable& input, const AdaptiveMaxPool3dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool3d_with_indices(input, o));
}

Variable lp_pool1d(const Variable& input, const LPPool1dFuncOptions& o) {
  const Variable mean =
      ebb::avg_pool1d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode());
  return root_of_mean(mean, o.norm_type(), (*o.kernel_size())[0]);
}
Variable lp_pool2d(const Variable& input, const LPPool2dFuncOptions& o) {
  const Variable mean =
      ebb::avg_pool2d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode());
  return root_of_mean(mean, o.norm_type(), (*o.kernel_size())[0] * (*o.kernel_size())[1]);
}

}  // namespace ebb::nn::functional
