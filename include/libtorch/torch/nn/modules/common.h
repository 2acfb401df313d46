// FORWARD_HAS_DEFAULT_ARGS: default arguments of forward() in a Sequential.
#pragma once

#include <ebb/nn.h>

#include <torch/csrc/namespaces.h>

#include <utility>
#include <vector>

/// Declares default arguments in a module: `FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2.0)}, ...)`, each with its
/// position, in order. A Sequential or an AnyModule can then call forward() without them.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                            \
  template <class AnyModuleType>                                                                 \
  friend struct ::ebb::nn::detail::AnyForwardOf;                                                 \
  static std::vector<std::pair<unsigned int, ::ebb::nn::AnyValue>> forward_default_arguments() { \
    return {__VA_ARGS__};                                                                        \
  }
