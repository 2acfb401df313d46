// Activations of straight pieces with options (torch.nn.functional, which libtorch lacks).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>

namespace ebb::nn {

/// Options of Hardsigmoid.
class EBB_API HardsigmoidOptions {
 public:
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

/// Options of Hardswish.
class EBB_API HardswishOptions {
 public:
  EBB_ARG(bool, inplace) = false;  ///< overwrites the input
};

namespace functional {

using HardsigmoidFuncOptions = HardsigmoidOptions;
using HardswishFuncOptions = HardswishOptions;

/// x / 6 + 1 / 2, between 0 and 1.
EBB_API Variable hardsigmoid(Variable input, const HardsigmoidFuncOptions& options = {});
/// x hardsigmoid(x).
EBB_API Variable hardswish(Variable input, const HardswishFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
