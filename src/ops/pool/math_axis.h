// The windows and weights of resizing an axis: each output element is a weighted sum over a short window of
// the input.
#pragma once

#include <ebb/core/half.h>

#include <cmath>
#include <cstdint>

namespace ebb::resizing {

enum class Filter : std::uint8_t { nearest, nearest_exact, linear, cubic };

/// One axis. `scale` is the width of an output element in input elements. With antialias (linear and cubic)
/// the filter widens with the scale, so that each input element contributes to the result when the axis
/// shrinks.
struct AxisRule {
  std::int64_t in = 1, out = 1;
  double scale = 1;
  Filter filter = Filter::nearest;
  bool align_corners = false, antialias = false;

  EBB_HD double support() const {
    const double half = filter == Filter::cubic ? 2 : 1;
    return scale >= 1 ? half * scale : half;
  }
  /// Returns the number of elements of a window, at most the size of the axis.
  std::int64_t width() const {
    std::int64_t most = 1;
    if (antialias)
      most = static_cast<std::int64_t>(std::ceil(support())) * 2 + 1;
    else if (filter == Filter::linear)
      most = 2;
    else if (filter == Filter::cubic)
      most = 4;
    return most < in ? most : in;
  }
};

EBB_HD inline std::int64_t clamped(std::int64_t x, std::int64_t low, std::int64_t high) {
  return x < low ? low : x > high ? high : x;
}

/// Keys' cubic convolution, for distances below 1 (near) and from 1 to 2 (far).
EBB_HD inline double cubic_near(double a, double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
EBB_HD inline double cubic_far(double a, double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

/// The filter of antialiasing: a triangle, or Keys' filter with a = -0.5.
EBB_HD inline double smooth(Filter filter, double x) {
  const double d = x < 0 ? -x : x;
  if (filter == Filter::linear) return d < 1 ? 1 - d : 0;
  return d < 1 ? cubic_near(-0.5, d) : d < 2 ? cubic_far(-0.5, d) : 0;
}

/// Adds `weight` to the weight of the input element at `place`, clamped to [0, in). weights[k] is the weight
/// of element start + k.
template <class C>
EBB_HD void put(C* weights, std::int64_t start, std::int64_t in, std::int64_t place, double weight) {
  C& at = weights[clamped(place, 0, in - 1) - start];
  at = static_cast<C>(static_cast<double>(at) + weight);
}

/// Computes the window of output element `o`: writes rule.width() weights and returns the first input
/// element.
template <class C>
EBB_HD std::int64_t window_of(const AxisRule& r, std::int64_t width, std::int64_t o, C* weights) {
  for (std::int64_t k = 0; k < width; ++k) weights[k] = C(0);
  const std::int64_t last_start = r.in - width;
  if (r.filter == Filter::nearest || r.filter == Filter::nearest_exact) {
    // Computed in float, with the same rounding as torch.
    const float half = r.filter == Filter::nearest_exact ? 0.5F : 0.0F;
    const float at = std::floor((static_cast<float>(o) + half) * static_cast<float>(r.scale));
    weights[0] = C(1);
    return at < static_cast<float>(r.in) ? clamped(static_cast<std::int64_t>(at), 0, r.in - 1) : r.in - 1;
  }
  if (r.antialias) {
    const double support = r.support(), centre = r.scale * (static_cast<double>(o) + 0.5);
    const double inverse = r.scale >= 1 ? 1 / r.scale : 1;
    const std::int64_t first = clamped(static_cast<std::int64_t>(centre - support + 0.5), 0, r.in);
    const std::int64_t end = clamped(static_cast<std::int64_t>(centre + support + 0.5), first, r.in);
    const std::int64_t start = clamped(first, 0, last_start);
    double total = 0;
    for (std::int64_t i = first; i < end; ++i)
      total += smooth(r.filter, (static_cast<double>(i) - centre + 0.5) * inverse);
    for (std::int64_t i = first; i < end && i - start < width; ++i)
      weights[i - start] = static_cast<C>(
          smooth(r.filter, (static_cast<double>(i) - centre + 0.5) * inverse) / (total != 0 ? total : 1));
    return start;
  }
  const double place = static_cast<double>(o);
  const double at = r.align_corners ? place * r.scale : (place + 0.5) * r.scale - 0.5;
  if (r.filter == Filter::linear) {
    const double from = at > 0 ? at : 0;
    const std::int64_t low = from < static_cast<double>(r.in) ? static_cast<std::int64_t>(from) : r.in - 1;
    const double over = from - static_cast<double>(low), part = over < 1 ? over : 1;
    const std::int64_t start = clamped(low, 0, last_start);
    put(weights, start, r.in, low, 1 - part);
    put(weights, start, r.in, low + 1, part);
    return start;
  }
  const double floor = std::floor(at), part = at - floor;
  const double most = static_cast<double>(r.in) + 2;
  const std::int64_t low = static_cast<std::int64_t>(floor < most ? floor : most);
  const std::int64_t start = clamped(low - 1, 0, last_start);
  put(weights, start, r.in, low - 1, cubic_far(-0.75, part + 1));
  put(weights, start, r.in, low, cubic_near(-0.75, part));
  put(weights, start, r.in, low + 1, cubic_near(-0.75, 1 - part));
  put(weights, start, r.in, low + 2, cubic_far(-0.75, 2 - part));
  return start;
}

}  // namespace ebb::resizing
