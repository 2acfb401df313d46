// The windows of a pooling along three axes, and the mean of a window. Pooling over one or two axes has
// leading axes of size 1.
#pragma once

#include <ebb/core/half.h>

#include "kernel/arithmetic.h"

#include <cstdint>
#include <tuple>
#include <type_traits>

namespace ebb {

/// The windows along one axis, in integers of type I. Kernels use 32 bits if these are enough.
template <class I>
struct PoolAxisOf {
  I in = 1;
  I out = 1;
  I kernel = 1;
  I stride = 1;
  I padding = 0;
  I dilation = 1;
  bool adaptive = false;  // windows follow from in and out; they may overlap and differ in size

  /// Returns the first element of window o. If the window begins in the padding, this is its first tap inside
  /// the input.
  EBB_HD I first(I o) const {
    if (adaptive) return o * in / out;
    const I at = o * stride - padding;
    return at >= 0 ? at : at + (-at + dilation - 1) / dilation * dilation;
  }
  /// Returns the index after the last element of window o.
  EBB_HD I last(I o) const {
    if (adaptive) return ((o + 1) * in + out - 1) / out;
    const I end = o * stride - padding + (kernel - 1) * dilation + 1;
    return end < in ? end : in;
  }
  /// Returns the divisor of the window in a mean: its number of elements, including those of the padding if
  /// requested.
  EBB_HD I weight(I o, bool include_padding) const {
    if (adaptive || !include_padding) return last(o) - first(o);
    const I start = o * stride - padding, end = start + kernel;
    return (end < in + padding ? end : in + padding) - start;
  }
};

using PoolAxis = PoolAxisOf<std::int64_t>;

/// The windows along the three axes of a plane, and the divisors of their means.
template <class I>
struct PoolWindowsOf {
  PoolAxisOf<I> axis[3];
  bool include_padding = true;
  I divisor = 0;  // if not 0, replaces the divisors of the windows

  auto fields() { return std::tie(axis, include_padding, divisor); }

  EBB_HD I in_plane() const { return axis[0].in * axis[1].in * axis[2].in; }
  EBB_HD I out_plane() const { return axis[0].out * axis[1].out * axis[2].out; }
  EBB_HD I weight(I z, I y, I x) const {
    if (divisor != 0) return divisor;
    return axis[0].weight(z, include_padding) * axis[1].weight(y, include_padding) *
           axis[2].weight(x, include_padding);
  }
};

struct PoolPlanes {
  std::int64_t planes = 0;  // batch times channels
  // The number of neighbouring planes whose elements alternate in memory: the number of channels in
  // channels-last, otherwise 1.
  std::int64_t interleaved = 1;
};

struct PoolGeometry : PoolPlanes, PoolWindowsOf<std::int64_t> {
  auto fields() {
    return std::tie(static_cast<PoolPlanes&>(*this), static_cast<PoolWindowsOf<std::int64_t>&>(*this));
  }
};

/// Returns whether each position, and each intermediate value of its computation, fits into 31 bits.
inline bool fits_32_bits(const PoolGeometry& g) {
  std::int64_t weight = 1, in = g.planes, out = g.planes;
  const auto times = [](std::int64_t a,
                        std::int64_t b) {  // for values >= 0; saturates instead of overflowing
    return a > INT32_MAX || b > INT32_MAX ? std::int64_t{INT32_MAX} + 1 : a * b;
  };
  for (const PoolAxis& a : g.axis) {
    in = times(in, a.in);
    out = times(out, a.out);
    weight = times(weight, a.kernel);
    const std::int64_t reach = a.adaptive
                                   ? times(a.in + 1, a.out + 1)
                                   : times(2, a.padding) + times(2, a.stride) + times(a.kernel, a.dilation);
    if (a.in + a.out + reach > INT32_MAX) return false;
  }
  return in <= INT32_MAX && out <= INT32_MAX && weight <= INT32_MAX && g.divisor >= -INT32_MAX &&
         g.divisor <= INT32_MAX;
}

}  // namespace ebb

namespace ebb::pooling {

/// Returns sum / weight. Integers round towards zero, as in torch. The smallest integer divided by -1 wraps
/// around.
template <class T>
EBB_HD T share(T sum, std::int64_t weight) {
  if constexpr (std::is_integral_v<T>)
    return weight == -1 ? wrapping(T(0), sum, [](auto x, auto y) { return x - y; }) : sum / T(weight);
  else
    return sum / static_cast<T>(weight);
}

}  // namespace ebb::pooling
