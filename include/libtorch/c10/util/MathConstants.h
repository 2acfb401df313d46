// c10::pi and other mathematical constants.
#pragma once

#include <torch/csrc/namespaces.h>

#include <numbers>

namespace c10 {

template <class T>
inline constexpr T e = std::numbers::e_v<T>;
template <class T>
inline constexpr T golden_ratio = std::numbers::phi_v<T>;
template <class T>
inline constexpr T pi = std::numbers::pi_v<T>;
template <class T>
inline constexpr T sqrt_2 = std::numbers::sqrt2_v<T>;

}  // namespace c10
