// at::acc_type: the type in which values of a dtype are summed.
#pragma once

#include <ATen/OpMathType.h>

#include <type_traits>

namespace at {

/// The type in which sums of T accumulate: double for float on the CPU, float for float on a GPU, float for
/// the 16-bit types, and std::int64_t for integers.
template <class T, bool is_cuda>
using acc_type = std::conditional_t<
    std::is_same_v<T, bool>, bool,
    std::conditional_t<std::is_integral_v<T>, std::int64_t,
                       std::conditional_t<std::is_same_v<T, double> || (!is_cuda && std::is_same_v<T, float>),
                                          double, float>>>;
template <class T>
using acc_type_device = acc_type<T, false>;

}  // namespace at
