// Poolings with options (torch::nn::functional).
#pragma once

#include <ebb/nn/options/pooling.h>

#include <tuple>

namespace ebb::nn::functional {

using TensorPair = std::tuple<Variable, Variable>;

EBB_API Variable avg_pool1d(const Variable& input, const AvgPool1dFuncOptions& options);
EBB_API Variable avg_pool2d(const Variable& input, const AvgPool2dFuncOptions& options);
EBB_API Variable avg_pool3d(const Variable& input, const AvgPool3dFuncOptions& options);
EBB_API Variable max_pool1d(const Variable& input, const MaxPool1dFuncOptions& options);
EBB_API Variable max_pool2d(const Variable& input, const MaxPool2dFuncOptions& options);
EBB_API Variable max_pool3d(const Variable& input, const MaxPool3dFuncOptions& options);
/// The maxima and where they were found.
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
/// (sum x^p)^(1/p) of each window.
EBB_API Variable lp_pool1d(const Variable& input, const LPPool1dFuncOptions& options);
EBB_API Variable lp_pool2d(const Variable& input, const LPPool2dFuncOptions& options);

}  // namespace ebb::nn::functional
