// FORWARD_HAS_DEFAULT_ARGS: default arguments of forward() in a Sequential.
#pragma once

#include <ebb/nn.h>

#include <torch/csrc/namespaces.h>

#include <utility>
#include <vector>

/// Declares the default arguments of a module's forward() as pairs of position and value, in order:
/// `FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2.0)}, ...)`. A Sequential or an AnyModule can then call forward()
/// without these arguments.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                            \
  template <class AnyModuleType>                                                                 \
  friend struct ::ebb::nn::detail::AnyForwardOf;                                                 \
  static std::vector<std::pair<unsigned int, ::ebb::nn::AnyValue>> forward_default_arguments() { \
    return {__VA_ARGS__};                                                                        \
  }
