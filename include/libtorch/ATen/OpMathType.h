// at::opmath_type: the type in which ops on a dtype compute.
#pragma once

#include <ebb/core/half.h>

#include <torch/csrc/namespaces.h>

#include <cstdint>
#include <type_traits>

namespace at {

/// The type in which ops compute: float for the 16-bit types, otherwise T itself.
template <class T>
using opmath_type =
    std::conditional_t<std::is_same_v<T, ebb::Half> || std::is_same_v<T, ebb::BFloat16>, float, T>;

}  // namespace at
