// Average pooling on the CPU.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "ops/pool/cpu_window_plane.h"
#include "ops/pool/geometry.h"
#include "ops/pool/kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

namespace ebb::cpu {
namespace {

template <class T>
using Accumulator = std::conditional_t<is_half_v<T>, float, T>;

// The largest number of elements of a window whose sum is computed in float.
constexpr std::int64_t kTaps = 1024;

bool are_long(const PoolGeometry& g) {
  return g.axis[0].kernel * g.axis[1].kernel * g.axis[2].kernel > kTaps;
}

// The accumulator for windows of more than kTaps elements; Sum is the accumulator for smaller windows.
template <class Sum>
using Wider = std::conditional_t<std::is_floating_point_v<Sum>, double, Sum>;

template <class Body>
void for_planes(const PoolGeometry& g, Body&& body) {
  const std::int64_t work = std::max<std::int64_t>(g.in_plane() + g.out_plane(), 1);
  parallel_for(0, g.planes, std::max<std::int64_t>(1, kGrain / work),
               [&](std::int64_t from, std::int64_t to) { body(from, to); });
}

// Calls body(z, y, x, count) for each group of windows (z, y, x) to (z, y, x + count - 1). A group has at
// most kWindows<Sum> windows.
template <class Sum, class Body>
void for_windows(const PoolGeometry& g, Body&& body) {
  for (std::int64_t z = 0; z < g.axis[0].out; ++z)
    for (std::int64_t y = 0; y < g.axis[1].out; ++y)
      for (std::int64_t x = 0; x < g.axis[2].out; x += kWindows<Sum>)
        body(z, y, x, std::min(kWindows<Sum>, g.axis[2].out - x));
}

// Calls tap(elements) for each tap of the windows from (z, y, x) on. `elements` points to the elements that
// these windows read at the tap.
template <class Sum, class Tap>
void for_taps(WindowPlane<Sum>& plane, const PoolGeometry& g, std::int64_t z, std::int64_t y, std::int64_t x,
              Tap&& tap) {
  const auto& [a, b, c] = g.axis;
  for (std::int64_t i = a.first(z); i < a.last(z); ++i)
    for (std::int64_t j = b.first(y); j < b.last(y); ++j)
      for (std::int64_t k = 0; k < c.kernel; ++k) tap(plane.tap(i * b.in + j, k) + x);
}

// The divisors of the windows of a row: g.weight(z, y, x) for all x.
class RowWeights {
 public:
  explicit RowWeights(const PoolGeometry& g) : g_(g) {
    for (std::int64_t x = 0; x < g.axis[2].out; ++x)
      widths_.push_back(g.divisor != 0 ? g.divisor : g.axis[2].weight(x, g.include_padding));
  }
  /// Returns the factor of a row of windows. The divisor of window (z, y, x + k) is factor(z, y) *
  /// widths(x)[k].
  std::int64_t factor(std::int64_t z, std::int64_t y) const {
    if (g_.divisor != 0) return 1;
    return g_.axis[0].weight(z, g_.include_padding) * g_.axis[1].weight(y, g_.include_padding);
  }
  const std::int64_t* widths(std::int64_t x) const { return widths_.data() + x; }

 private:
  const PoolGeometry& g_;
  std::vector<std::int64_t> widths_;
};

// The type in which values of type Sum are added: unsigned for integers, so that sums wrap around.
template <class Sum>
using Added = std::conditional_t<std::is_integral_v<Sum>, std::uint64_t, Sum>;

template <class T, class Sum>
void plane_mean(T* out, WindowPlane<Sum>& in, const RowWeights& weights, const PoolGeometry& g) {
  for_windows<Sum>(g, [&](std::int64_t z, std::int64_t y, std::int64_t x, std::int64_t count) {
    Windows<Added<Sum>> total{};
    for_taps(in, g, z, y, x, [&](const Sum* from) {
      Windows<Added<Sum>> v;
      std::memcpy(&v, from, sizeof v);
      total += v;
    });
    Sum sums[kWindows<Sum>];
    std::memcpy(sums, &total, sizeof sums);
    const std::int64_t factor = weights.factor(z, y), *const widths = weights.widths(x);
    for (std::int64_t l = 0; l < count; ++l)
      out[l] = static_cast<T>(pooling::share(sums[l], factor * widths[l]));
    out += count;
  });
}

template <class T, class Sum>
void plane_mean_backward(WindowPlane<Sum>& in, const T* out, const RowWeights& weights,
                         const PoolGeometry& g) {
  in.fill(Sum(0));
  for_windows<Sum>(g, [&](std::int64_t z, std::int64_t y, std::int64_t x, std::int64_t count) {
    const std::int64_t factor = weights.factor(z, y), *const widths = weights.widths(x);
    Sum shares[kWindows<Sum>] = {};
    for (std::int64_t l = 0; l < count; ++l)
      shares[l] = static_cast<Sum>(out[l]) / static_cast<Sum>(factor * widths[l]);
    out += count;
    Windows<Sum> share;
    std::memcpy(&share, shares, sizeof share);
    for_taps(in, g, z, y, x, [&](Sum* to) {
      Windows<Sum> v;
      std::memcpy(&v, to, sizeof v);
      v += share;
      std::memcpy(to, &v, sizeof v);
    });
  });
}

// Processes one window at a time. It is used if windows have different sizes or are far apart
// (has_window_rows(g) is false), and for sums of long windows. Calls body(window index, weight,
// for_elements), where for_elements(f) calls f with the index of each element of the window.
template <class Body>
void each_window(const PoolGeometry& g, Body&& body) {
  const PoolAxis &a = g.axis[0], &b = g.axis[1], &c = g.axis[2];
  std::int64_t o = 0;
  for (std::int64_t z = 0; z < a.out; ++z)
    for (std::int64_t y = 0; y < b.out; ++y)
      for (std::int64_t x = 0; x < c.out; ++x, ++o)
        body(o, g.weight(z, y, x), [&](auto&& element) {
          for (std::int64_t i = a.first(z); i < a.last(z); ++i)
            for (std::int64_t j = b.first(y); j < b.last(y); ++j)
              for (std::int64_t k = c.first(x); k < c.last(x); ++k) element((i * b.in + j) * c.in + k);
        });
}

template <class Sum, class T>
void plane_mean_by_window(T* out, const T* in, const PoolGeometry& g) {
  each_window(g, [&](std::int64_t o, std::int64_t weight, auto&& for_elements) {
    Sum sum(0);
    for_elements([&](std::int64_t at) { sum = wrapping_add(sum, static_cast<Sum>(in[at])); });
    out[o] = static_cast<T>(pooling::share(sum, weight));
  });
}

template <class Sum, class T>
void plane_mean_backward_by_window(T* in, std::vector<Sum>& plane, const T* out, const PoolGeometry& g) {
  plane.assign(static_cast<std::size_t>(g.in_plane()), Sum(0));
  each_window(g, [&](std::int64_t o, std::int64_t weight, auto&& for_elements) {
    const Sum share = static_cast<Sum>(out[o]) / static_cast<Sum>(weight);
    for_elements([&](std::int64_t at) { plane[static_cast<std::size_t>(at)] += share; });
  });
  for (std::size_t i = 0; i < plane.size(); ++i) in[i] = static_cast<T>(plane[i]);
}

}  // namespace

void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& g) {
  kernels::visit_mean(out.dtype(), [&]<class T> {
    using Sum = Accumulator<T>;
    for_planes(g, [&](std::int64_t first, std::int64_t last) {
      T* to = out.address_as<T>() + first * g.out_plane();
      const T* from = in.address_as<T>() + first * g.in_plane();
      if (are_long(g) || !has_window_rows(g)) {
        for (; first < last; ++first, to += g.out_plane(), from += g.in_plane())
          are_long(g) ? plane_mean_by_window<Wider<Sum>>(to, from, g)
                      : plane_mean_by_window<Sum>(to, from, g);
        return;
      }
      WindowPlane<Sum> plane(g, Sum(0));
      const RowWeights weights(g);
      for (; first < last; ++first, to += g.out_plane(), from += g.in_plane()) {
        plane.load(from);
        plane_mean(to, plane, weights, g);
      }
    });
  });
}

void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& g) {
  visit_floating(in.dtype(), "avg_pool_backward", [&]<class T> {
    using Sum = Accumulator<T>;
    for_planes(g, [&](std::int64_t first, std::int64_t last) {
      T* to = in.address_as<T>() + first * g.in_plane();
      const T* from = out.address_as<T>() + first * g.out_plane();
      if (are_long(g)) {
        std::vector<double> sums;
        for (; first < last; ++first, to += g.in_plane(), from += g.out_plane())
          plane_mean_backward_by_window(to, sums, from, g);
        return;
      }
      if (!has_window_rows(g)) {
        std::vector<Sum> sums;
        for (; first < last; ++first, to += g.in_plane(), from += g.out_plane())
          plane_mean_backward_by_window(to, sums, from, g);
        return;
      }
      WindowPlane<Sum> plane(g, Sum(0));
      const RowWeights weights(g);
      for (; first < last; ++first, to += g.in_plane(), from += g.out_plane()) {
        plane_mean_backward(plane, from, weights, g);
        plane.store(to);
      }
    });
  });
}

}  // namespace ebb::cpu
