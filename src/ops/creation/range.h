// The i-th element of arange, linspace and logspace, for host and device.
#pragma once

#include <ebb/core/scalar.h>

#include "kernel/arithmetic.h"

#include <cmath>

namespace ebb::creating {

/// arange: start + i * step, computed in double or, for Long, in 64-bit integers.
template <class T>
struct Arange {
  // The arithmetic is unsigned, so that intermediate products may wrap: only the final sum must fit into 64
  // bits.
  static constexpr bool kWhole = std::is_same_v<T, std::int64_t>;
  using Work = std::conditional_t<kWhole, std::uint64_t, double>;
  using From = std::conditional_t<kWhole, std::int64_t, double>;
  Work first, step;
  Arange(const Scalar& start, const Scalar& by)
      : first(static_cast<Work>(start.to<From>())), step(static_cast<Work>(by.to<From>())) {}
  EBB_HD T operator()(std::int64_t i) const {
    return convert<T>(static_cast<From>(first + rounded_product(static_cast<Work>(i), step)));
  }
};

/// linspace, computed from the nearer end so that both ends are exact. If base is not 0, it is logspace: base
/// to the power of the values of linspace. Float results are computed in float, as in torch, and other
/// results in double.
template <class T>
struct Linspace {
  using Work = std::conditional_t<std::is_same_v<T, float>, float, double>;
  std::int64_t n;
  Work first, last, step, base;
  Linspace(std::int64_t count, const Scalar& start, const Scalar& end, double power)
      : n(count),
        first(is_integral(dtype_of<T>()) ? static_cast<Work>(start.to_long()) : start.to<Work>()),
        last(is_integral(dtype_of<T>()) ? static_cast<Work>(end.to_long()) : end.to<Work>()),
        step(n > 1 ? (last - first) / static_cast<Work>(n - 1) : Work(0)),
        base(static_cast<Work>(power)) {}
  EBB_HD Work line(std::int64_t i) const {
    return n == 1 || i < n / 2 ? first + rounded_product(step, static_cast<Work>(i))
                               : last - rounded_product(step, static_cast<Work>(n - 1 - i));
  }
  EBB_HD T operator()(std::int64_t i) const {
    const Work x = line(i);
    return convert<T>(base != 0 ? std::pow(base, x) : x);
  }
};

}  // namespace ebb::creating
