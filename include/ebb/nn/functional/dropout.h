// Dropout functions with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>

namespace ebb::nn {

/// Options of the dropout modules.
class EBB_API DropoutOptions {
 public:
  DropoutOptions() = default;
  DropoutOptions(double p) : p_(p) {}

  EBB_ARG(double, p) = 0.5;        ///< probability of zeroing
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

using Dropout1dOptions = DropoutOptions;
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

/// Options of dropout, dropout2d, dropout3d.
class EBB_API DropoutFuncOptions {
  EBB_ARG(double, p) = 0.5;        ///< probability of zeroing
  EBB_ARG(bool, training) = true;  ///< if false, returns the input
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of alpha_dropout and feature_alpha_dropout.
class EBB_API AlphaDropoutFuncOptions {
  EBB_ARG(double, p) = 0.5;         ///< probability of zeroing
  EBB_ARG(bool, training) = false;  ///< if false, returns the input
  EBB_ARG(bool, inplace) = false;   ///< overwrites the input
};

using Dropout1dFuncOptions = DropoutFuncOptions;
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;

EBB_API Variable dropout(Variable input, const DropoutFuncOptions& options = {});
/// Set whole channels to zero. dropout1d takes (N, C, L) or (C, L); PyTorch has dropout1d in Python, but not
/// in libtorch.
EBB_API Variable dropout1d(Variable input, const Dropout1dFuncOptions& options = {});
EBB_API Variable dropout2d(Variable input, const Dropout2dFuncOptions& options = {});
EBB_API Variable dropout3d(Variable input, const Dropout3dFuncOptions& options = {});
/// Preserve the mean and variance of SELU's outputs (Klambauer et al. 2017).
EBB_API Variable alpha_dropout(Variable input, const AlphaDropoutFuncOptions& options = {});
EBB_API Variable feature_alpha_dropout(Variable input, const FeatureAlphaDropoutFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
