// Activations of straight pieces as modules.
#pragma once

#include <ebb/nn/functional/hard_activation.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// x / 6 + 1 / 2, between 0 and 1 (torch.nn.Hardsigmoid).
struct EBB_API HardsigmoidImpl : detail::Stateless<HardsigmoidImpl, HardsigmoidOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Hardsigmoid);

/// x hardsigmoid(x) (torch.nn.Hardswish).
struct EBB_API HardswishImpl : detail::Stateless<HardswishImpl, HardswishOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Hardswish);

}  // namespace ebb::nn
