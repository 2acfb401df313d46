// Pooling on the device. The forward pass has one thread for each output. In the backward pass, one thread
// for each input sums the gradients of its windows. Threads are in memory order, so accesses are coalesced in
// both layouts. Fractional max pooling has one thread for each window.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/atomic.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/walk.h"
#include "ops/common/kernels.h"
#include "ops/pool/cuda_positions.h"
#include "ops/pool/fractional.h"
#include "ops/pool/geometry.h"
#include "ops/pool/kernels.h"

#include <algorithm>

namespace ebb::cuda {
namespace {

template <class I, class T, class Index>
struct MaxPool {
  T* out;
  Index* indices;  // may be null
  const T* in;
  Pooling<I> g;
  __device__ void operator()(std::int64_t element) const {
    using C = Compute<T>;
    const PoolAxisOf<I>&a = g.axis[0], &b = g.axis[1], &c = g.axis[2];
    const Place<I> o(static_cast<I>(element), g.out);
    const Plane<const T, I> from(in, o, g.in);
    C best = -INFINITY;
    const I z1 = a.last(o.z), y0 = b.first(o.y), y1 = b.last(o.y), x0 = c.first(o.x), x1 = c.last(o.x);
    I where = (a.first(o.z) * b.in + y0) * c.in + x0;
    for (I z = a.first(o.z); z < z1; z += a.dilation)
      for (I y = y0; y < y1; y += b.dilation)
        for (I x = x0; x < x1; x += c.dilation) {
          const I at = (z * b.in + y) * c.in + x;
          const C value = static_cast<C>(from[at]);
          if (value > best || value != value) best = value, where = at;
        }
    out[element] = static_cast<T>(best);
    if (indices) indices[element] = static_cast<Index>(where);
  }
};

template <class I, class T>
struct MeanPool {
  T* out;
  const T* in;
  Pooling<I> g;
  __device__ void operator()(std::int64_t element) const {
    using C = Compute<T>;
    const PoolAxisOf<I>&a = g.axis[0], &b = g.axis[1], &c = g.axis[2];
    const Place<I> o(static_cast<I>(element), g.out);
    const Plane<const T, I> from(in, o, g.in);
    C sum = 0;
    const I z1 = a.last(o.z), y0 = b.first(o.y), y1 = b.last(o.y), x0 = c.first(o.x), x1 = c.last(o.x);
    for (I z = a.first(o.z); z < z1; ++z)
      for (I y = y0; y < y1; ++y)
        for (I x = x0; x < x1; ++x) sum = wrapping_add(sum, static_cast<C>(from[(z * b.in + y) * c.in + x]));
    out[element] = static_cast<T>(pooling::share(sum, g.weight(o.z, o.y, o.x)));
  }
};

template <class I, class T>
struct MeanPoolBackward {
  T* in;
  const T* out;
  Pooling<I> g;
  __device__ void operator()(std::int64_t element) const {
    using C = Compute<T>;
    const PoolAxisOf<I>&b = g.axis[1], &c = g.axis[2];
    const Place<I> p(static_cast<I>(element), g.in);
    const Plane<const T, I> from(out, p, g.out);
    const auto wz = g.windows(0, p.z), wy = g.windows(1, p.y), wx = g.windows(2, p.x);
    C sum = 0;
    for (I z = wz.first; z < wz.last; ++z)
      for (I y = wy.first; y < wy.last; ++y)
        for (I x = wx.first; x < wx.last; ++x)
          sum += static_cast<C>(from[(z * b.out + y) * c.out + x]) / static_cast<C>(g.weight(z, y, x));
    in[element] = static_cast<T>(sum);
  }
};

// Computes the gradient of each input element: the sum over the windows that selected the element, in order.
// This is deterministic and needs no atomics.
template <class I, class T, class Index>
struct MaxPoolBackward {
  T* in;
  const T* out;
  const Index* indices;
  Pooling<I> g;
  __device__ void operator()(std::int64_t element) const {
    using C = Compute<T>;
    const PoolAxisOf<I>&b = g.axis[1], &c = g.axis[2];
    const Place<I> p(static_cast<I>(element), g.in);
    const Plane<const T, I> from(out, p, g.out);
    const Plane<const Index, I> chosen(indices, p, g.out);
    const Index self = static_cast<Index>((p.z * b.in + p.y) * c.in + p.x);
    const auto wz = g.windows(0, p.z), wy = g.windows(1, p.y), wx = g.windows(2, p.x);
    C sum = 0;
    for (I z = wz.first; z < wz.last; ++z)
      for (I y = wy.first; y < wy.last; ++y)
        for (I x = wx.first; x < wx.last; ++x) {
          const I at = (z * b.out + y) * c.out + x;
          if (chosen[at] == self) sum += static_cast<C>(from[at]);
        }
    in[element] = static_cast<T>(sum);
  }
};

// Gathers elements at the caller's indices. An index that is out of range is reported and skipped.
template <class I, class T, class Index>
struct PoolGather {
  T* out;
  const T* in;
  const Index* indices;
  Planes<I> results, inputs;
  FaultSink sink;
  __device__ void operator()(std::int64_t i) const {
    const Place<I> o(static_cast<I>(i), results);
    const auto at = static_cast<std::int64_t>(indices[i]);
    if (at < 0 || at >= inputs.volume) return sink.note(at, inputs.volume);
    out[i] = Plane<const T, I>(in, o, inputs)[static_cast<I>(at)];
  }
};

template <class I, class Sum, class T, class Index>
struct PoolScatter {
  Sum* in;
  const T* out;
  const Index* indices;
  Planes<I> results, inputs;
  bool overwrite;
  FaultSink sink;
  __device__ void operator()(std::int64_t i) const {
    const Place<I> o(static_cast<I>(i), results);
    const auto at = static_cast<std::int64_t>(indices[i]);
    if (at < 0 || at >= inputs.volume) return sink.note(at, inputs.volume);
    Sum& to = Plane<Sum, I>(in, o, inputs)[static_cast<I>(at)];
    if (overwrite)
      to = static_cast<Sum>(out[i]);
    else
      atomic_add(&to, static_cast<Sum>(out[i]));
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
      visit_index_type(fits_32_bits(g), [&]<class I> {
        Index* const where = indices.defined() ? indices.address_as<Index>() : nullptr;
        for_each(out.device(), g.planes * g.out_plane(),
                 MaxPool<I, T, Index>{out.address_as<T>(), where, in.address_as<T>(), Pooling<I>(g)});
      });
    });
  });
}

void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& g) {
  kernels::visit_mean(out.dtype(), [&]<class T> {
    visit_index_type(fits_32_bits(g), [&]<class I> {
      for_each(out.device(), g.planes * g.out_plane(),
               MeanPool<I, T>{out.address_as<T>(), in.address_as<T>(), Pooling<I>(g)});
    });
  });
}

void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& g) {
  visit_floating(in.dtype(), "avg_pool_backward", [&]<class T> {
    visit_index_type(fits_32_bits(g), [&]<class I> {
      for_each(in.device(), g.planes * g.in_plane(),
               MeanPoolBackward<I, T>{in.address_as<T>(), out.address_as<T>(), Pooling<I>(g)});
    });
  });
}

void max_pool_backward(NdArray& in, const NdArray& out, const NdArray& indices, const PoolGeometry& g) {
  visit_floating(in.dtype(), "max_pool_backward", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      visit_index_type(fits_32_bits(g), [&]<class I> {
        for_each(in.device(), g.planes * g.in_plane(),
                 MaxPoolBackward<I, T, Index>{in.address_as<T>(), out.address_as<T>(),
                                              indices.address_as<Index>(), Pooling<I>(g)});
      });
    });
  });
}

void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, const PoolPlanes& p) {
  if (p.planes == 0) return;
  visit_floating(out.dtype(), "pool_gather", [&]<class T> {
    visit_index(indices, [&]<class Index> {
      visit_index_type(std::max(in.numel(), out.numel()) <= INT32_MAX, [&]<class I> {
        for_each(out.device(), out.numel(),
                 PoolGather<I, T, Index>{out.address_as<T>(), in.address_as<T>(), indices.address_as<Index>(),
                                         Planes<I>(1, 1, out.numel() / p.planes, p.interleaved),
                                         Planes<I>(1, 1, in.numel() / p.planes, p.interleaved),
                                         fault_sink(out.device(), "max_unpool")});
      });
    });
  });
}

void pool_scatter(NdArray& in, const NdArray& out, const NdArray& indices, const PoolPlanes& p,
                  bool overwrite) {
  if (p.planes == 0) return;
  visit_floating(in.dtype(), "pool_scatter", [&]<class T> {
    const auto put = [&]<class Sum>(NdArray& to) {
      kernels::fill(to.device(), to, 0);
      visit_index(indices, [&]<class Index> {
        visit_index_type(std::max(in.numel(), out.numel()) <= INT32_MAX, [&]<class I> {
          for_each(to.device(), out.numel(),
                   PoolScatter<I, Sum, T, Index>{to.address_as<Sum>(), out.address_as<T>(),
                                                 indices.address_as<Index>(),
                                                 Planes<I>(1, 1, out.numel() / p.planes, p.interleaved),
                                                 Planes<I>(1, 1, in.numel() / p.planes, p.interleaved),
                                                 overwrite, fault_sink(to.device(), "max_unpool")});
        });
      });
    };
    if constexpr (is_half_v<T>)
      if (!overwrite) {  // sums in float, because 16-bit sums stop growing if many windows overlap
        NdArray sums = NdArray::empty_strided(in.sizes(), in.strides(), kFloat, in.device());
        put.template operator()<float>(sums);
        return kernels::copy(in.device(), in, sums);
      }
    put.template operator()<T>(in);
  });
}

namespace {

template <class T>
struct FractionalMaxIndices {
  std::int64_t* indices;
  const T *in, *samples;
  FractionalGeometry g;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t outputs = g.outputs(), plane = i / outputs;
    indices[i] = fractional_max_place<T, Compute<T>>(in + plane * g.volume(), samples + plane * g.samples, g,
                                                     i - plane * outputs);
  }
};

}  // namespace

void fractional_max_indices(NdArray& indices, const NdArray& in, const NdArray& samples,
                            const FractionalGeometry& g) {
  visit_floating(in.dtype(), "fractional_max_pool", [&]<class T> {
    for_each(in.device(), g.planes * g.outputs(),
             FractionalMaxIndices<T>{indices.address_as<std::int64_t>(), in.address_as<T>(),
                                     samples.address_as<T>(), g});
  });
}

}  // namespace ebb::cuda
