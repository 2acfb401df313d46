// Average pooling on the CPU.
#include <ebb/core/visit.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "ops/pool/kernels.h"
#include "ops/pool/math.h"

namespace ebb::cpu {
namespace {

template <class T>
using Accumulator = std::conditional_t<is_half_v<T>, float, T>;

template <class Body>
void for_planes(const PoolGeometry& g, Body&& body) {
  const std::int64_t work = std::max<std::int64_t>(g.in_plane() + g.out_plane(), 1);
  parallel_for(0, g.planes, std::max<std::int64_t>(1, kGrain / work),
               [&](std::int64_t from, std::int64_t to) { body(from, to); });
}

// Calls row(z, y, first input row's offset) for all rows of `in` that a row of results reads.
template <class Row>
void for_rows(const PoolGeometry& g, std::int64_t z, std::int64_t y, Row&& row) {
  const auto& [a, b, c] = g.axis;
  for (std::int64_t i = a.first(z); i < a.last(z); ++i)
    for (std::int64_t j = b.first(y); j < b.last(y); ++j) row((i * b.in + j) * c.in);
}

// Calls run(offset, first, last): results [first, last) read element offset + stride * o of the row.
template <class Visit>
void for_taps(const PoolAxis& c, Visit&& run) {
  for (std::int64_t k = 0; k < c.kernel; ++k) {
    const std::int64_t offset = k - c.padding;
    const std::int64_t first = offset >= 0 ? 0 : std::min((-offset + c.stride - 1) / c.stride, c.out);
    const std::int64_t last =
        offset >= c.in ? first : std::clamp((c.in - offset + c.stride - 1) / c.stride, first, c.out);
    run(offset, first, last);
  }
}

template <class T, class Sum>
void plane_mean(T* out, Sum* sums, const T* in, const PoolGeometry& g) {
  const PoolAxis& c = g.axis[2];
  for (std::int64_t z = 0; z < g.axis[0].out; ++z)
    for (std::int64_t y = 0; y < g.axis[1].out; ++y, out += c.out) {
      std::fill(sums, sums + c.out, Sum(0));
      for_rows(g, z, y, [&](std::int64_t row) {
        const T* from = in + row;
        if (c.adaptive)
          for (std::int64_t o = 0; o < c.out; ++o)
            for (std::int64_t k = c.first(o); k < c.last(o); ++k)
              sums[o] = wrapping_add(sums[o], static_cast<Sum>(from[k]));
        else
          for_taps(c, [&](std::int64_t offset, std::int64_t first, std::int64_t last) {
            for (std::int64_t o = first; o < last; ++o)
              sums[o] = wrapping_add(sums[o], static_cast<Sum>(from[offset + o * c.stride]));
          });
      });
      for (std::int64_t o = 0; o < c.out; ++o)
        out[o] = static_cast<T>(pooling::share(sums[o], g.weight(z, y, o)));
    }
}

template <class T, class Sum>
void plane_mean_backward(Sum* in, Sum* shares, const T* out, const PoolGeometry& g) {
  const PoolAxis& c = g.axis[2];
  std::fill(in, in + g.in_plane(), Sum(0));
  for (std::int64_t z = 0; z < g.axis[0].out; ++z)
    for (std::int64_t y = 0; y < g.axis[1].out; ++y, out += c.out) {
      for (std::int64_t o = 0; o < c.out; ++o)
        shares[o] = static_cast<Sum>(out[o]) / static_cast<Sum>(g.weight(z, y, o));
      for_rows(g, z, y, [&](std::int64_t row) {
        Sum* to = in + row;
        if (c.adaptive)
          for (std::int64_t o = 0; o < c.out; ++o)
            for (std::int64_t k = c.first(o); k < c.last(o); ++k) to[k] += shares[o];
        else
          for_taps(c, [&](std::int64_t offset, std::int64_t first, std::int64_t last) {
            for (std::int64_t o = first; o < last; ++o) to[offset + o * c.stride] += shares[o];
          });
      });
    }
}

}  // namespace

void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& g) {
  kernels::visit_mean(out.dtype(), [&]<class T> {
    for_planes(g, [&](std::int64_t first, std::int64_t last) {
      std::vector<Accumulator<T>> sums(static_cast<std::size_t>(g.axis[2].out));
      for (std::int64_t p = first; p < last; ++p)
        plane_mean(out.data_as<T>() + p * g.out_plane(), sums.data(), in.data_as<T>() + p * g.in_plane(), g);
    });
  });
}

void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& g) {
  visit_floating(in.dtype(), "avg_pool_backward", [&]<class T> {
    using Sum = Accumulator<T>;
    for_planes(g, [&](std::int64_t first, std::int64_t last) {
      std::vector<Sum> shares(static_cast<std::size_t>(g.axis[2].out));
      std::vector<Sum> plane(std::is_same_v<T, Sum> ? 0 : static_cast<std::size_t>(g.in_plane()));
      for (std::int64_t p = first; p < last; ++p) {
        T* to = in.data_as<T>() + p * g.in_plane();
        const T* from = out.data_as<T>() + p * g.out_plane();
        if constexpr (std::is_same_v<T, Sum>) {
          plane_mean_backward(to, shares.data(), from, g);
        } else {
          plane_mean_backward(plane.data(), shares.data(), from, g);
          for (std::size_t i = 0; i < plane.size(); ++i) to[i] = static_cast<T>(plane[i]);
        }
      }
    });
  });
}

}  // namespace ebb::cpu
