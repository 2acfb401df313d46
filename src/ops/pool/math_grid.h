// grid_sample along one axis: the elements that a coordinate selects, and their weights, for host and device.
#pragma once

#include <ebb/core/half.h>

#include <cmath>
#include <cstdint>

namespace ebb::sampling {

// The enumerators have the same values as in torch.
enum class Interpolation : std::uint8_t { bilinear, nearest, bicubic };
enum class Padding : std::uint8_t { zeros, border, reflection };

/// An element of an axis, its weight, and the derivative of the weight with respect to the coordinate. A
/// negative `place` means a value of 0.
template <class C, class Place = std::int64_t>
struct Tap {
  Place place;
  C weight, derivative;
};

/// A position on an axis, in units of one element, and its derivative with respect to the coordinate in the
/// grid.
template <class C>
struct Coordinate {
  C at, derivative;
};

/// Converts a coordinate of the grid to a position. The coordinates -1 and 1 are the centres of the outermost
/// elements if align_corners, otherwise their outer edges.
template <class C>
EBB_HD Coordinate<C> unnormalize(C x, std::int64_t size, bool align_corners) {
  // fma rounds once, so that all devices compute the same position. For large coordinates the last bit of the
  // position decides which elements are selected.
  const C middle = static_cast<C>(size - 1) / 2,
          derivative = align_corners ? middle : static_cast<C>(size) / 2;
  return {std::fma(x, derivative, middle), derivative};
}

/// Clamps to [0, size - 1]; NaN becomes 0. At the ends of this range and outside it, the derivative is 0.
template <class C>
EBB_HD Coordinate<C> clip(Coordinate<C> x, std::int64_t size) {
  // Without branches, so that a loop of it can be vectorised.
  const C last = static_cast<C>(size - 1);
  const bool positive = x.at > 0, below = x.at < last;
  return {positive ? (below ? x.at : last) : C(0), (positive & below) ? x.derivative : C(0)};
}

/// Reflects the position at twice_low / 2 and twice_high / 2 until it is between them.
template <class C>
EBB_HD Coordinate<C> reflect(Coordinate<C> x, std::int64_t twice_low, std::int64_t twice_high) {
  if (twice_low == twice_high) return {C(0), C(0)};
  const C low = static_cast<C>(twice_low) / 2, span = static_cast<C>(twice_high - twice_low) / 2;
  const C from = x.at - low, distance = std::abs(from);
  const C sign = from < 0 ? C(-1) : C(1);
  // fmod takes long, and most positions are at most one element or one reflection away from the array.
  if (distance < span) return {distance + low, sign * x.derivative};
  if (distance < 2 * span) return {span - (distance - span) + low, -sign * x.derivative};
  const C extra = std::fmod(distance, span);
  const bool odd = std::fmod(std::floor(distance / span), C(2)) != 0;
  if (odd) return {span - extra + low, -sign * x.derivative};
  return {extra + low, sign * x.derivative};
}

template <class C>
EBB_HD Coordinate<C> padded(Coordinate<C> x, std::int64_t size, Padding padding, bool align_corners) {
  if (padding == Padding::zeros) return x;
  if (padding == Padding::reflection)
    x = align_corners ? reflect(x, 0, 2 * (size - 1)) : reflect(x, -1, 2 * size - 1);
  return clip(x, size);
}

/// Returns the element at position `at`, or -1 (for a value of 0) if `at` is out of range or NaN. Selects
/// before it converts, so that a loop of it can be vectorised.
template <class Place, class C>
EBB_HD Place place_of(C at, std::int64_t size) {
  const bool inside = (at >= 0) & (at < static_cast<C>(size));
  return static_cast<Place>(inside ? at : C(-1));
}

/// The size of an axis and its padding mode.
struct Axis {
  std::int64_t size;
  Padding padding;
  bool align_corners;
};

/// Computes the kTaps elements for coordinate x: 1 for nearest, 2 for linear, 4 for Keys' cubic convolution
/// with a = -0.75.
template <int kTaps, class C, class Place>
EBB_HD void taps_at(C x, const Axis& axis, Tap<C, Place> (&taps)[kTaps]) {
  Coordinate<C> c = unnormalize(x, axis.size, axis.align_corners);
  if constexpr (kTaps == 1) {
    c = padded(c, axis.size, axis.padding, axis.align_corners);
    taps[0] = {place_of<Place>(std::nearbyint(c.at), axis.size), C(1), C(0)};
  } else if constexpr (kTaps == 2) {
    c = padded(c, axis.size, axis.padding, axis.align_corners);
    const C low = std::floor(c.at), part = c.at - low;
    taps[0] = {place_of<Place>(low, axis.size), 1 - part, -c.derivative};
    taps[1] = {place_of<Place>(low + 1, axis.size), part, c.derivative};
  } else {
    static_assert(kTaps == 4);
    const C a = C(-0.75), low = std::floor(c.at), part = c.at - low;
    for (int k = 0; k < 4; ++k) {
      const C signed_distance = part - static_cast<C>(k - 1);  // the distance of the position from the tap
      const C d = std::abs(signed_distance);
      const bool near = k == 1 || k == 2;
      const C weight = near ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
      const C by_distance = near ? (3 * (a + 2) * d - 2 * (a + 3)) * d : (3 * a * d - 10 * a) * d + 8 * a;
      const Coordinate<C> at = padded(Coordinate<C>{low + static_cast<C>(k - 1), C(0)}, axis.size,
                                      axis.padding, axis.align_corners);
      taps[k] = {place_of<Place>(std::nearbyint(at.at), axis.size), weight,
                 (signed_distance < 0 ? -by_distance : by_distance) * c.derivative};
    }
  }
}

constexpr int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

/// The elements of a plane or volume that one point of the grid selects: all combinations of taps of its
/// axes.
template <int kDims, int kTaps, class C>
struct Neighbourhood {
  static constexpr int kCount = power(kTaps, kDims);
  Tap<C> taps[kDims][kTaps];
  std::int64_t strides[kDims];  // strides of the axes; the last axis is first, as in the grid

  /// `point` has kDims coordinates. The first one belongs to the last axis.
  template <class T>
  EBB_HD Neighbourhood(const T* point, const Axis (&axes)[kDims]) {
    std::int64_t stride = 1;
    for (int d = 0; d < kDims; ++d) {
      taps_at<kTaps>(static_cast<C>(point[d]), axes[d], taps[d]);
      strides[d] = stride;
      stride *= axes[d].size;
    }
  }
  /// Calls f(place, weight) for each element that is inside.
  template <class F>
  EBB_HD void each(F&& f) const {
    for (int k = 0; k < kCount; ++k) {
      std::int64_t at = 0;
      C weight = 1;
      bool inside = true;
      for (int d = 0, rest = k; d < kDims; ++d, rest /= kTaps) {
        const Tap<C>& tap = taps[d][rest % kTaps];
        inside = inside && tap.place >= 0;
        at += tap.place * strides[d];
        weight *= tap.weight;
      }
      if (inside) f(at, weight);
    }
  }
  /// Calls f(place, derivatives) with the derivatives of the weight with respect to the point's coordinates.
  template <class F>
  EBB_HD void each_derivative(F&& f) const {
    for (int k = 0; k < kCount; ++k) {
      std::int64_t at = 0;
      C derivatives[kDims];
      for (int d = 0; d < kDims; ++d) derivatives[d] = 1;
      bool inside = true;
      for (int d = 0, rest = k; d < kDims; ++d, rest /= kTaps) {
        const Tap<C>& tap = taps[d][rest % kTaps];
        inside = inside && tap.place >= 0;
        at += tap.place * strides[d];
        for (int e = 0; e < kDims; ++e) derivatives[e] *= e == d ? tap.derivative : tap.weight;
      }
      if (inside) f(at, derivatives);
    }
  }
};

}  // namespace ebb::sampling
