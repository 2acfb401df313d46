// Max pooling and fractional max pooling on the CPU.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "ops/pool/cpu_window_plane.h"
#include "ops/pool/fractional.h"
#include "ops/pool/kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace ebb::cpu {
namespace {

// The type in which elements are compared, and the type of a position in a plane. Both have the same width,
// so that vectors of them have the same length.
template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;
template <class C>
using Place = std::conditional_t<sizeof(C) == 8, std::int64_t, std::int32_t>;

// The maxima so far of kWindows<C> windows, and the positions of these maxima. A later element replaces the
// maximum if it is greater or NaN.
template <class C, class At>
struct Greatest {
  Windows<C> value;
  Windows<C, At> at;

  template <bool kIndices>
  void take(const C* from, At start, const Windows<C, At>& steps) {
    Windows<C> v;
    std::memcpy(&v, from, sizeof v);
    const auto better = (v > value) | (v != v);
    value = better ? v : value;
    if constexpr (kIndices) at = __builtin_convertvector(better, Windows<C, At>) ? start + steps : at;
  }
};

template <class At, bool kIndices, class T, class Index>
void plane_max(T* out, Index* indices, WindowPlane<Compute<T>>& in, const PoolGeometry& g) {
  const auto& [a, b, c] = g.axis;
  constexpr std::int64_t kAtOnce = kWindows<Compute<T>>;
  Windows<Compute<T>, At> steps;
  for (std::int64_t l = 0; l < kAtOnce; ++l) steps[l] = static_cast<At>(l * c.stride);
  for (std::int64_t z = 0; z < a.out; ++z)
    for (std::int64_t y = 0; y < b.out; ++y) {
      const std::int64_t z0 = a.first(z), z1 = a.last(z), y0 = b.first(y), y1 = b.last(y);
      for (std::int64_t x = 0; x < c.out; x += kAtOnce) {
        const std::int64_t count = std::min(kAtOnce, c.out - x);
        Greatest<Compute<T>, At> greatest;
        for (std::int64_t l = 0; l < kAtOnce; ++l) {
          greatest.value[l] = -std::numeric_limits<float>::infinity();
          if constexpr (kIndices)
            greatest.at[l] = static_cast<At>((z0 * b.in + y0) * c.in + c.first(std::min(x + l, c.out - 1)));
        }
        for (std::int64_t i = z0; i < z1; i += a.dilation)
          for (std::int64_t j = y0; j < y1; j += b.dilation)
            for (std::int64_t k = 0; k < c.kernel; ++k) {
              const std::int64_t row = i * b.in + j;
              greatest.template take<kIndices>(
                  in.tap(row, k) + x, static_cast<At>(row * c.in + x * c.stride + k * c.dilation - c.padding),
                  steps);
            }
        for (std::int64_t l = 0; l < count; ++l) *out++ = static_cast<T>(greatest.value[l]);
        if constexpr (kIndices)
          for (std::int64_t l = 0; l < count; ++l) *indices++ = static_cast<Index>(greatest.at[l]);
      }
    }
}

// Computes one output at a time. It is used if has_window_rows(g) is false, because windows have different
// sizes or are far apart.
template <bool kIndices, class T, class Index>
void plane_max_by_window(T* out, Index* indices, const T* in, const PoolGeometry& g) {
  const auto& [a, b, c] = g.axis;
  for (std::int64_t z = 0; z < a.out; ++z)
    for (std::int64_t y = 0; y < b.out; ++y)
      for (std::int64_t x = 0; x < c.out; ++x) {
        Compute<T> best = -std::numeric_limits<float>::infinity();
        std::int64_t where = (a.first(z) * b.in + b.first(y)) * c.in + c.first(x);
        for (std::int64_t i = a.first(z); i < a.last(z); i += a.dilation)
          for (std::int64_t j = b.first(y); j < b.last(y); j += b.dilation)
            for (std::int64_t k = c.first(x); k < c.last(x); k += c.dilation) {
              const std::int64_t at = (i * b.in + j) * c.in + k;
              const auto v = static_cast<Compute<T>>(in[at]);
              if (!(v > best || v != v)) continue;
              best = v;
              where = at;
            }
        *out++ = static_cast<T>(best);
        if constexpr (kIndices) *indices++ = static_cast<Index>(where);
      }
}

// Calls body(first, last) for ranges of planes.
template <class Body>
void by_pieces(const PoolGeometry& g, Body&& body) {
  const std::int64_t work = std::max<std::int64_t>(g.in_plane() * 2, 1);
  parallel_for(0, g.planes, std::max<std::int64_t>(1, kGrain / work), body);
}

template <bool kIndices, class T, class Index>
void max_of_planes(T* out, Index* indices, const T* in, const PoolGeometry& g) {
  using C = Compute<T>;
  const std::int64_t in_plane = g.in_plane(), out_plane = g.out_plane();
  by_pieces(g, [&](std::int64_t first, std::int64_t last) {
    const auto indices_of = [&](std::int64_t p) { return kIndices ? indices + p * out_plane : nullptr; };
    if (!has_window_rows(g)) {
      for (std::int64_t p = first; p < last; ++p)
        plane_max_by_window<kIndices>(out + p * out_plane, indices_of(p), in + p * in_plane, g);
      return;
    }
    WindowPlane<C> plane(g, -std::numeric_limits<float>::infinity());
    for (std::int64_t p = first; p < last; ++p) {
      plane.load(in + p * in_plane);
      if (in_plane <= INT32_MAX)
        plane_max<Place<C>, kIndices>(out + p * out_plane, indices_of(p), plane, g);
      else
        plane_max<std::int64_t, kIndices>(out + p * out_plane, indices_of(p), plane, g);
    }
  });
}

template <class Body>
void for_planes(std::int64_t planes, std::int64_t work, Body&& body) {
  parallel_for(0, planes, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(work, 1)),
               [&](std::int64_t from, std::int64_t to) {
                 for (std::int64_t p = from; p < to; ++p) body(p);
               });
}

template <class Body>
void visit_index(const NdArray& indices, Body&& body) {
  if (indices.dtype() == kInt)
    body.template operator()<std::int32_t>();
  else
    body.template operator()<std::int64_t>();
}

}  // namespace

void max_pool(NdArray& out, NdArray& indices, const NdArray& in, const PoolGeometry& g) {
  visit_floating(out.dtype(), "max_pool", [&]<class T> {
    T* const to = out.address_as<T>();
    const T* const from = in.address_as<T>();
    if (!indices.defined()) return max_of_planes<false>(to, static_cast<std::int32_t*>(nullptr), from, g);
    visit_index(indices, [&]<class Index> { max_of_planes<true>(to, indices.address_as<Index>(), from, g); });
  });
}

void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, const PoolPlanes& p) {
  const std::int64_t planes = p.planes;
  if (planes == 0) return;
  const std::int64_t n = out.numel() / planes, m = in.numel() / planes;
  visit_floating(out.dtype(), "pool_gather", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      for_planes(planes, n, [&](std::int64_t plane) {
        T* to = out.address_as<T>() + plane * n;
        const T* from = in.address_as<T>() + plane * m;
        const Index* at = indices.address_as<Index>() + plane * n;
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[at[i]];
      });
    });
  });
}

void pool_scatter(NdArray& in, const NdArray& out, const NdArray& indices, const PoolPlanes& p,
                  bool overwrite) {
  const std::int64_t planes = p.planes;
  if (planes == 0) return;
  const std::int64_t n = out.numel() / planes, m = in.numel() / planes;
  visit_floating(in.dtype(), "pool_scatter", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      for_planes(planes, n + m, [&](std::int64_t plane) {
        T* to = in.address_as<T>() + plane * m;
        const T* from = out.address_as<T>() + plane * n;
        const Index* at = indices.address_as<Index>() + plane * n;
        if (overwrite) {
          std::fill(to, to + m, T(0));
          for (std::int64_t i = 0; i < n; ++i) to[at[i]] = from[i];
        } else if constexpr (is_half_v<T>) {
          // Sums in float, because 16-bit sums stop growing if many windows overlap.
          std::vector<float> sums(static_cast<std::size_t>(m), 0.0f);
          for (std::int64_t i = 0; i < n; ++i) sums[at[i]] += static_cast<float>(from[i]);
          std::copy(sums.begin(), sums.end(), to);
        } else {
          std::fill(to, to + m, T(0));
          for (std::int64_t i = 0; i < n; ++i) to[at[i]] += from[i];
        }
      });
    });
  });
}

void max_pool_backward(NdArray& in, const NdArray& out, const NdArray& indices, const PoolGeometry& g) {
  pool_scatter(in, out, indices, g, false);
}

void fractional_max_indices(NdArray& indices, const NdArray& in, const NdArray& samples,
                            const FractionalGeometry& g) {
  const std::int64_t outputs = g.outputs(), volume = g.volume();
  const std::int64_t window = g.kernel[0] * g.kernel[1] * g.kernel[2];
  visit_floating(in.dtype(), "fractional_max_pool", [&]<class T> {
    parallel_for(0, g.planes * outputs, std::max<std::int64_t>(1, kGrain / (window + 8)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const std::int64_t plane = i / outputs;
                     indices.address_as<std::int64_t>()[i] = fractional_max_place<T, Compute<T>>(
                         in.address_as<T>() + plane * volume, samples.address_as<T>() + plane * g.samples, g,
                         i - plane * outputs);
                   }
                 });
  });
}

}  // namespace ebb::cpu
