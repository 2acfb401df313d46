// Dropout functions with separate arguments.
#pragma once

#include <ebb/nn.h>

#include <torch/csrc/namespaces.h>

/// Functions that take their options as separate arguments.
namespace ebb::nn::functional::detail {

inline Variable dropout(Variable input, double p, bool training, bool inplace) {
  return functional::dropout(std::move(input), DropoutFuncOptions().p(p).training(training).inplace(inplace));
}
inline Variable dropout2d(Variable input, double p, bool training, bool inplace) {
  return functional::dropout2d(std::move(input),
                               Dropout2dFuncOptions().p(p).training(training).inplace(inplace));
}
inline Variable dropout3d(Variable input, double p, bool training, bool inplace) {
  return functional::dropout3d(std::move(input),
                               Dropout3dFuncOptions().p(p).training(training).inplace(inplace));
}
inline Variable alpha_dropout(Variable input, double p, bool training, bool inplace) {
  return functional::alpha_dropout(std::move(input),
                                   AlphaDropoutFuncOptions().p(p).training(training).inplace(inplace));
}
inline Variable feature_alpha_dropout(Variable input, double p, bool training, bool inplace) {
  return functional::feature_alpha_dropout(
      std::move(input), FeatureAlphaDropoutFuncOptions().p(p).training(training).inplace(inplace));
}

}  // namespace ebb::nn::functional::detail
