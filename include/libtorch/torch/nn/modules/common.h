// FORWARD_HAS_DEFAULT_ARGS: the arguments that a Sequential leaves out.
#pragma once

#include <ebb/nn.h>

#include <torch/csrc/namespaces.h>

#include <utility>
#include <vector>

/// In a module whose forward() has default arguments: `FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2.0)}, ...)`,
/// each with its position, in order, lets a Sequential or an AnyModule call it without them.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                            \
  template <class AnyModuleType>                                                                 \
  friend struct ::ebb::nn::detail::AnyForwardOf;                                                 \
  static std::vector<std::pair<unsigned int, ::ebb::nn::AnyValue>> forward_default_arguments() { \
    return {__VA_ARGS__};                                                                        \
  }
