// Pooling on the device: a thread an output; the mean's gradient a thread an input, which gathers from its
// windows.
#include "ops/pool/cuda.h"

#include <ebb/core/visit.h>

#include <algorithm>

#include "kernel/convert.h"
#include "kernel/cuda/atomic.h"
#include "kernel/cuda/walk.h"
#include "ops/copy/kernels.h"

namespace ebb::cuda {
namespace {

// Plane and position of the i-th element of planes of sizes (d0, d1, d2).
struct Place {
  std::int64_t plane, z, y, x;
  EBB_HD Place(std::int64_t i, std::int64_t d0, std::int64_t d1, std::int64_t d2)
      : plane(i / d2 / d1 / d0), z(i / d2 / d1 % d0), y(i / d2 % d1), x(i % d2) {}
};

template <class T, class Index>
struct MaxPool {
  T* out;
  Index* indices;  // may be null
  const T* in;
  PoolGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const PoolAxis &a = g.axis[0], &b = g.axis[1], &c = g.axis[2];
    const Place o(i, a.out, b.out, c.out);
    const T* const from = in + o.plane * g.in_plane();
    C best = -INFINITY;
    std::int64_t where = (a.first(o.z) * b.in + b.first(o.y)) * c.in + c.first(o.x);
    for (std::int64_t z = a.first(o.z); z < a.last(o.z); z += a.dilation)
      for (std::int64_t y = b.first(o.y); y < b.last(o.y); y += b.dilation)
        for (std::int64_t x = c.first(o.x); x < c.last(o.x); x += c.dilation) {
          const std::int64_t at = (z * b.in + y) * c.in + x;
          const C value = static_cast<C>(from[at]);
          if (value > best || value != value) best = value, where = at;
        }
    out[i] = static_cast<T>(best);
    if (indices) indices[i] = static_cast<Index>(where);
  }
};

template <class T>
struct MeanPool {
  T* out;
  const T* in;
  PoolGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const PoolAxis &a = g.axis[0], &b = g.axis[1], &c = g.axis[2];
    const Place o(i, a.out, b.out, c.out);
    const T* const from = in + o.plane * g.in_plane();
    C sum = 0;
    for (std::int64_t z = a.first(o.z); z < a.last(o.z); ++z)
      for (std::int64_t y = b.first(o.y); y < b.last(o.y); ++y)
        for (std::int64_t x = c.first(o.x); x < c.last(o.x); ++x)
          sum += static_cast<C>(from[(z * b.in + y) * c.in + x]);
    out[i] = static_cast<T>(sum / static_cast<C>(g.weight(o.z, o.y, o.x)));
  }
};

// The windows of an axis that an element may lie in; which do is for first() and last() to say.
struct Windows {
  std::int64_t first, last;
  EBB_HD Windows(const PoolAxis& a, std::int64_t i) {
    if (a.adaptive) {
      first = i * a.out / a.in;
      last = ((i + 1) * a.out + a.in - 1) / a.in;
    } else {
      const std::int64_t at = i + a.padding;
      first = at < a.kernel ? 0 : (at - a.kernel) / a.stride + 1;
      last = at / a.stride + 1;
    }
    if (last > a.out) last = a.out;
  }
};

template <class T>
struct MeanPoolBackward {
  T* in;
  const T* out;
  PoolGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const PoolAxis &a = g.axis[0], &b = g.axis[1], &c = g.axis[2];
    const Place p(i, a.in, b.in, c.in);
    const T* const from = out + p.plane * g.out_plane();
    const Windows wz(a, p.z), wy(b, p.y), wx(c, p.x);
    C sum = 0;
    for (std::int64_t z = wz.first; z < wz.last; ++z)
      for (std::int64_t y = wy.first; y < wy.last; ++y)
        for (std::int64_t x = wx.first; x < wx.last; ++x)
          sum += static_cast<C>(from[(z * b.out + y) * c.out + x]) / static_cast<C>(g.weight(z, y, x));
    in[i] = static_cast<T>(sum);
  }
};

template <class T, class Index>
struct PoolGather {
  T* out;
  const T* in;
  const Index* indices;
  std::int64_t n, m;  // elements of a plane of results, of inputs
  __device__ void operator()(std::int64_t i) const {
    out[i] = in[i / n * m + static_cast<std::int64_t>(indices[i])];
  }
};

template <class T, class Index>
struct PoolScatter {
  T* in;
  const T* out;
  const Index* indices;
  std::int64_t n, m;
  bool overwrite;
  __device__ void operator()(std::int64_t i) const {
    T* const to = in + i / n * m + static_cast<std::int64_t>(indices[i]);
    if (overwrite)
      *to = out[i];
    else
      atomic_add(to, out[i]);
  }
};

template <class Body>
void visit_index(const NdArray& indices, Body&& body) {
  if (indices.defined() && indices.dtype() == kInt)
    body.template operator()<std::int32_t>();
  else
    body.template operator()<std::int64_t>();
}

}  // namespace

void max_pool(NdArray& out, NdArray& indices, const NdArray& in, const PoolGeometry& g) {
  visit_floating(out.dtype(), "max_pool", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      Index* const where = indices.defined() ? indices.data_as<Index>() : nullptr;
      for_each(out.device(), g.planes * g.out_plane(),
               MaxPool<T, Index>{out.data_as<T>(), where, in.data_as<T>(), g});
    });
  });
}

void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& g) {
  visit_floating(out.dtype(), "avg_pool", [&]<class T> {
    for_each(out.device(), g.planes * g.out_plane(), MeanPool<T>{out.data_as<T>(), in.data_as<T>(), g});
  });
}

void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& g) {
  visit_floating(in.dtype(), "avg_pool_backward", [&]<class T> {
    for_each(in.device(), g.planes * g.in_plane(), MeanPoolBackward<T>{in.data_as<T>(), out.data_as<T>(), g});
  });
}

void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, std::int64_t planes) {
  if (planes == 0) return;
  visit_floating(out.dtype(), "pool_gather", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      for_each(out.device(), out.numel(),
               PoolGather<T, Index>{out.data_as<T>(), in.data_as<T>(), indices.data_as<Index>(),
                                    out.numel() / planes, in.numel() / planes});
    });
  });
}

void pool_scatter(NdArray& in, const NdArray& out, const NdArray& indices, std::int64_t planes,
                  bool overwrite) {
  if (planes == 0) return;
  kernels::fill(in.device(), in, 0);
  visit_floating(in.dtype(), "pool_scatter", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      for_each(in.device(), out.numel(),
               PoolScatter<T, Index>{in.data_as<T>(), out.data_as<T>(), indices.data_as<Index>(),
                                     out.numel() / planes, in.numel() / planes, overwrite});
    });
  });
}

void register_pool() {
  kernels::max_pool.set_cuda(&max_pool);
  kernels::mean_pool.set_cuda(&mean_pool);
  kernels::mean_pool_backward.set_cuda(&mean_pool_backward);
  kernels::pool_gather.set_cuda(&pool_gather);
  kernels::pool_scatter.set_cuda(&pool_scatter);
}

}  // namespace ebb::cuda
