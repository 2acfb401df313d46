// Max pooling on the CPU.
#include <ebb/core/visit.h>

#include <algorithm>
#include <limits>

#include "core/parallel_for.h"
#include "ops/pool/kernels.h"

namespace ebb::cpu {
namespace {

// Values of out[first, last) whose window's tap at `offset` (offset = tap * dilation - padding) lies inside.
struct Run {
  std::int64_t first, last;
  Run(const PoolAxis& a, std::int64_t offset) {
    first = offset >= 0 ? 0 : std::min((-offset + a.stride - 1) / a.stride, a.out);
    last = offset >= a.in ? first : std::clamp((a.in - offset + a.stride - 1) / a.stride, first, a.out);
  }
};

// One row of `in` against one row of results: the same tap for all, which is a loop over vectors.
template <class T, class Index, bool kIndices, std::int64_t kStride>
void take_greater(T* best, Index* where, const T* in, std::int64_t stride, Index start, Run run) {
  const std::int64_t step = kStride > 0 ? kStride : stride;
  for (std::int64_t o = run.first; o < run.last; ++o) {
    const T v = in[o * step];
    const bool take = (v > best[o]) | (v != v);
    best[o] = take ? v : best[o];
    if constexpr (kIndices)
      where[o] = take ? static_cast<Index>(start + static_cast<Index>(o * step)) : where[o];
  }
}

template <class T, class Index, bool kIndices>
void plane_max(T* out, Index* indices, const T* in, const PoolGeometry& g) {
  const auto& [a, b, c] = g.axis;
  for (std::int64_t z = 0; z < a.out; ++z)
    for (std::int64_t y = 0; y < b.out; ++y, out += c.out, indices += kIndices ? c.out : 0) {
      const std::int64_t z0 = a.first(z), z1 = a.last(z), y0 = b.first(y), y1 = b.last(y);
      for (std::int64_t o = 0; o < c.out; ++o) {
        out[o] = -std::numeric_limits<float>::infinity();
        if constexpr (kIndices) indices[o] = static_cast<Index>((z0 * b.in + y0) * c.in + c.first(o));
      }
      for (std::int64_t i = z0; i < z1; i += a.dilation)
        for (std::int64_t j = y0; j < y1; j += b.dilation) {
          const std::int64_t row = (i * b.in + j) * c.in;
          if (c.adaptive) {
            for (std::int64_t o = 0; o < c.out; ++o)
              for (std::int64_t k = c.first(o); k < c.last(o); ++k)
                take_greater<T, Index, kIndices, 1>(out + o, indices + o, in + row + k, 1,
                                                    static_cast<Index>(row + k), Run({}, 0));
            continue;
          }
          for (std::int64_t k = 0; k < c.kernel; ++k) {
            const std::int64_t offset = k * c.dilation - c.padding;
            const T* from = in + row + offset;
            const Index start = static_cast<Index>(row + offset);
            const Run run(c, offset);
            if (c.stride == 1)
              take_greater<T, Index, kIndices, 1>(out, indices, from, 1, start, run);
            else if (c.stride == 2)
              take_greater<T, Index, kIndices, 2>(out, indices, from, 2, start, run);
            else
              take_greater<T, Index, kIndices, 0>(out, indices, from, c.stride, start, run);
          }
        }
    }
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
  const std::int64_t in_plane = g.in_plane(), out_plane = g.out_plane();
  visit_floating(out.dtype(), "max_pool", [&]<class T> {
    T* to = out.data_as<T>();
    const T* from = in.data_as<T>();
    if (!indices.defined())
      return for_planes(g.planes, in_plane * 2, [&](std::int64_t p) {
        plane_max<T, std::int32_t, false>(to + p * out_plane, nullptr, from + p * in_plane, g);
      });
    visit_index(indices, [&]<class Index> {
      for_planes(g.planes, in_plane * 2, [&](std::int64_t p) {
        plane_max<T, Index, true>(to + p * out_plane, indices.data_as<Index>() + p * out_plane,
                                  from + p * in_plane, g);
      });
    });
  });
}

void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, const PoolPlanes& p) {
  const std::int64_t planes = p.planes;
  if (planes == 0) return;
  const std::int64_t n = out.numel() / planes, m = in.numel() / planes;
  visit_floating(out.dtype(), "pool_gather", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      for_planes(planes, n, [&](std::int64_t plane) {
        T* to = out.data_as<T>() + plane * n;
        const T* from = in.data_as<T>() + plane * m;
        const Index* at = indices.data_as<Index>() + plane * n;
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
        T* to = in.data_as<T>() + plane * m;
        const T* from = out.data_as<T>() + plane * n;
        const Index* at = indices.data_as<Index>() + plane * n;
        std::fill(to, to + m, T(0));
        if (overwrite)
          for (std::int64_t i = 0; i < n; ++i) to[at[i]] = from[i];
        else
          for (std::int64_t i = 0; i < n; ++i) to[at[i]] = to[at[i]] + from[i];
      });
    });
  });
}

void max_pool_backward(NdArray& in, const NdArray& out, const NdArray& indices, const PoolGeometry& g) {
  pool_scatter(in, out, indices, g, false);
}

}  // namespace ebb::cpu
