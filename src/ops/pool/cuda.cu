// Pooling on the device, where no library does it: a thread an output; gradients a thread an input, which
// gathers from its windows. Threads follow memory, so that neighbours read neighbours in both layouts.
#include "ops/pool/cuda.h"

#include <ebb/core/visit.h>

#include <algorithm>

#include "kernel/convert.h"
#include "kernel/cuda/atomic.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/walk.h"
#include "ops/common/kernels.h"
#include "ops/pool/math.h"

namespace ebb::cuda {
namespace {

// The i-th element in memory of planes of sizes (d0, d1, d2): its plane, and where it stands there.
struct Place {
  std::int64_t group, lane;  // the plane is one of those that alternate in memory
  std::int64_t z, y, x;
  EBB_HD Place(std::int64_t i, std::int64_t interleaved, std::int64_t d0, std::int64_t d1, std::int64_t d2) {
    lane = i % interleaved;
    i /= interleaved;
    x = i % d2;
    y = i / d2 % d1;
    z = i / d2 / d1 % d0;
    group = i / d2 / d1 / d0;
  }
};

// One plane of an array; positions count row-major within it.
template <class T>
struct Plane {
  T* data;
  std::int64_t step;
  EBB_HD Plane(T* first, const Place& p, std::int64_t interleaved, std::int64_t size)
      : data(first + p.group * size * interleaved + p.lane), step(interleaved) {}
  EBB_HD T& operator[](std::int64_t at) const { return data[at * step]; }
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
    const Place o(i, g.interleaved, a.out, b.out, c.out);
    const Plane<const T> from(in, o, g.interleaved, g.in_plane());
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
    const Place o(i, g.interleaved, a.out, b.out, c.out);
    const Plane<const T> from(in, o, g.interleaved, g.in_plane());
    C sum = 0;
    for (std::int64_t z = a.first(o.z); z < a.last(o.z); ++z)
      for (std::int64_t y = b.first(o.y); y < b.last(o.y); ++y)
        for (std::int64_t x = c.first(o.x); x < c.last(o.x); ++x)
          sum = wrapping_add(sum, static_cast<C>(from[(z * b.in + y) * c.in + x]));
    out[i] = static_cast<T>(pooling::share(sum, g.weight(o.z, o.y, o.x)));
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
      const std::int64_t at = i + a.padding, reach = (a.kernel - 1) * a.dilation + 1;
      first = at < reach ? 0 : (at - reach) / a.stride + 1;
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
    const Place p(i, g.interleaved, a.in, b.in, c.in);
    const Plane<const T> from(out, p, g.interleaved, g.out_plane());
    const Windows wz(a, p.z), wy(b, p.y), wx(c, p.x);
    C sum = 0;
    for (std::int64_t z = wz.first; z < wz.last; ++z)
      for (std::int64_t y = wy.first; y < wy.last; ++y)
        for (std::int64_t x = wx.first; x < wx.last; ++x)
          sum += static_cast<C>(from[(z * b.out + y) * c.out + x]) / static_cast<C>(g.weight(z, y, x));
    in[i] = static_cast<T>(sum);
  }
};

// An element takes from the windows that chose it, in their order: no atomics, the same bits at every run.
template <class T, class Index>
struct MaxPoolBackward {
  T* in;
  const T* out;
  const Index* indices;
  PoolGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const PoolAxis &a = g.axis[0], &b = g.axis[1], &c = g.axis[2];
    const Place p(i, g.interleaved, a.in, b.in, c.in);
    const Plane<const T> from(out, p, g.interleaved, g.out_plane());
    const Plane<const Index> chosen(indices, p, g.interleaved, g.out_plane());
    const Index self = static_cast<Index>((p.z * b.in + p.y) * c.in + p.x);
    const Windows wz(a, p.z), wy(b, p.y), wx(c, p.x);
    C sum = 0;
    for (std::int64_t z = wz.first; z < wz.last; ++z)
      for (std::int64_t y = wy.first; y < wy.last; ++y)
        for (std::int64_t x = wx.first; x < wx.last; ++x) {
          const std::int64_t at = (z * b.out + y) * c.out + x;
          if (chosen[at] == self) sum += static_cast<C>(from[at]);
        }
    in[i] = static_cast<T>(sum);
  }
};

// A caller's index out of range is noted, and nothing is read or written for it.
template <class T, class Index>
struct PoolGather {
  T* out;
  const T* in;
  const Index* indices;
  std::int64_t n, m, interleaved;  // elements of a plane of results, of inputs
  FaultSink sink;
  __device__ void operator()(std::int64_t i) const {
    const Place o(i, interleaved, 1, 1, n);
    const auto at = static_cast<std::int64_t>(indices[i]);
    if (at < 0 || at >= m) return sink.note(at, m);
    out[i] = Plane<const T>(in, o, interleaved, m)[at];
  }
};

template <class T, class Index>
struct PoolScatter {
  T* in;
  const T* out;
  const Index* indices;
  std::int64_t n, m, interleaved;
  bool overwrite;
  FaultSink sink;
  __device__ void operator()(std::int64_t i) const {
    const Place o(i, interleaved, 1, 1, n);
    const auto at = static_cast<std::int64_t>(indices[i]);
    if (at < 0 || at >= m) return sink.note(at, m);
    T& to = Plane<T>(in, o, interleaved, m)[at];
    if (overwrite)
      to = out[i];
    else
      atomic_add(&to, out[i]);
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
  if (!indices.defined() && max_pool_by_library(out, in, g)) return;
  visit_floating(out.dtype(), "max_pool", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      Index* const where = indices.defined() ? indices.data_as<Index>() : nullptr;
      for_each(out.device(), g.planes * g.out_plane(),
               MaxPool<T, Index>{out.data_as<T>(), where, in.data_as<T>(), g});
    });
  });
}

void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& g) {
  if (is_floating(out.dtype()) && mean_pool_by_library(false, in, out, g)) return;
  kernels::visit_mean(out.dtype(), [&]<class T> {
    for_each(out.device(), g.planes * g.out_plane(), MeanPool<T>{out.data_as<T>(), in.data_as<T>(), g});
  });
}

void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& g) {
  if (mean_pool_by_library(true, in, out, g)) return;
  visit_floating(in.dtype(), "avg_pool_backward", [&]<class T> {
    for_each(in.device(), g.planes * g.in_plane(), MeanPoolBackward<T>{in.data_as<T>(), out.data_as<T>(), g});
  });
}

void max_pool_backward(NdArray& in, const NdArray& out, const NdArray& indices, const PoolGeometry& g) {
  visit_floating(in.dtype(), "max_pool_backward", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      for_each(in.device(), g.planes * g.in_plane(),
               MaxPoolBackward<T, Index>{in.data_as<T>(), out.data_as<T>(), indices.data_as<Index>(), g});
    });
  });
}

void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, const PoolPlanes& p) {
  if (p.planes == 0) return;
  visit_floating(out.dtype(), "pool_gather", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      for_each(out.device(), out.numel(),
               PoolGather<T, Index>{out.data_as<T>(), in.data_as<T>(), indices.data_as<Index>(),
                                    out.numel() / p.planes, in.numel() / p.planes, p.interleaved,
                                    fault_sink(out.device(), "max_unpool")});
    });
  });
}

void pool_scatter(NdArray& in, const NdArray& out, const NdArray& indices, const PoolPlanes& p,
                  bool overwrite) {
  if (p.planes == 0) return;
  kernels::fill(in.device(), in, 0);
  visit_floating(in.dtype(), "pool_scatter", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      for_each(in.device(), out.numel(),
               PoolScatter<T, Index>{in.data_as<T>(), out.data_as<T>(), indices.data_as<Index>(),
                                     out.numel() / p.planes, in.numel() / p.planes, p.interleaved, overwrite,
                                     fault_sink(in.device(), "max_unpool")});
    });
  });
}

void register_pool() {
  kernels::max_pool.set_cuda(&max_pool);
  kernels::max_pool_backward.set_cuda(&max_pool_backward);
  kernels::mean_pool.set_cuda(&mean_pool);
  kernels::mean_pool_backward.set_cuda(&mean_pool_backward);
  kernels::pool_gather.set_cuda(&pool_gather);
  kernels::pool_scatter.set_cuda(&pool_scatter);
}

}  // namespace ebb::cuda
