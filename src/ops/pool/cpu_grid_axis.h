// The elements that the points of a grid select along one axis, on the CPU.
#pragma once

#include "ops/pool/math_grid.h"

namespace ebb::cpu::grid {

/// The number of points that one job processes. Their neighbourhoods are computed once for many channels.
constexpr std::int64_t kBlock = 64;

/// The elements that kBlock coordinates of one axis select, their weights, and the derivatives of the
/// weights.
template <class Place, int kTaps, class C>
struct AxisSelection {
  Place places[kTaps][kBlock];
  C weights[kTaps][kBlock], derivatives[kTaps][kBlock];

  AxisSelection(const C (&coordinates)[kBlock], const sampling::Axis& axis) {
    using sampling::Padding;
    if (axis.padding == Padding::zeros)
      select<Padding::zeros>(coordinates, axis.size, axis.align_corners);
    else if (axis.padding == Padding::border)
      select<Padding::border>(coordinates, axis.size, axis.align_corners);
    else
      select<Padding::reflection>(coordinates, axis.size, axis.align_corners);
  }

 private:
  // The compiler vectorises the loop if it inlines everything, except for reflection.
  template <sampling::Padding kPadding>
  [[gnu::flatten, gnu::noinline]] void select(const C (&coordinates)[kBlock], std::int64_t size,
                                              bool align_corners) {
    const sampling::Axis axis{size, kPadding, align_corners};
    for (std::int64_t p = 0; p < kBlock; ++p) {
      sampling::Tap<C, Place> taps[kTaps];
      sampling::taps_at(coordinates[p], axis, taps);
#pragma GCC unroll 4
      for (int k = 0; k < kTaps; ++k) {
        places[k][p] = taps[k].place;
        weights[k][p] = taps[k].weight;
        derivatives[k][p] = taps[k].derivative;
      }
    }
  }
};

// Compiled with the options under which the compiler vectorises all loops.
extern template struct AxisSelection<std::int32_t, 1, float>;
extern template struct AxisSelection<std::int32_t, 2, float>;
extern template struct AxisSelection<std::int32_t, 4, float>;

}  // namespace ebb::cpu::grid
