// The device kernels gather, scatter and masked_fill, one thread for each element.
#include <ebb/core/deterministic.h>
#include <ebb/core/visit.h>

#include "kernel/cuda/atomic.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/map.h"
#include "kernel/cuda/walk.h"
#include "ops/index/combine.h"
#include "ops/index/cuda_segments.h"
#include "ops/index/kernels.h"

namespace ebb::cuda {
namespace {

using kernels::ScatterOp;

// Returns the strides of x with the stride of `dim` set to 0, because the index gives the position along
// `dim`.
DimVector strides_without(const NdArray& x, std::int64_t dim) {
  DimVector strides(x.strides());
  strides[dim] = 0;
  return strides;
}

// Gathers units of up to V contiguous elements. GatherUnits is used if all elements of a row have the same
// index.
template <class T>
struct GatherUnits {
  static constexpr int V = kUnit<T>;
  T* out;
  const T* x;
  const std::int64_t* index;
  DeviceWalk<3> rows;  // over out, index and x, without dim
  std::int64_t length, units, size, stride, dim;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / units, first = (i - row * units) * V;
    std::int64_t at[3];
    rows.offsets(row, at);
    const std::int64_t which = index[at[1]];
    if (which < 0 || which >= size) return faults.note(which, size, dim);
    const int n = static_cast<int>(length - first < V ? length - first : V);
    store_unit<T, V>(out + at[0] + first, load_unit<T, V>(x + at[2] + which * stride + first, n), n);
  }
};

// Returns whether the index is constant along the last dimension, which is contiguous in out and x.
bool gathers_rows(const NdArray& out, const NdArray& x, std::int64_t dim, const NdArray& index, int unit) {
  const std::size_t last = out.sizes().size() - 1;
  return static_cast<std::size_t>(dim) != last && out.sizes()[last] >= unit && index.strides()[last] == 0 &&
         out.strides()[last] == 1 && x.strides()[last] == 1;
}

template <class T>
struct Gather {
  T* out;
  const T* x;
  const std::int64_t* index;
  DeviceWalk<3> walk;  // over out, index and x, without dim
  std::int64_t size, stride, dim;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[3];
    walk.offsets(i, at);
    const std::int64_t which = index[at[1]];
    if (which < 0 || which >= size) return faults.note(which, size, dim);
    out[at[0]] = x[at[2] + which * stride];
  }
};

template <class T, ScatterOp kOp>
struct Scatter {
  T* out;
  const T* src;
  const std::int64_t* index;
  DeviceWalk<3> walk;  // over index, src and out, without dim
  std::int64_t size, stride, dim;
  FaultSink faults;

  __device__ T* target(const std::int64_t (&at)[3]) const {
    const std::int64_t which = index[at[0]];
    if (which >= 0 && which < size) return out + at[2] + which * stride;
    faults.note(which, size, dim);
    return nullptr;
  }
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[3];
    walk.offsets(i, at);
    T* const to = target(at);
    if (!to) return;
    if constexpr (kOp == ScatterOp::assign)
      *to = src[at[1]];
    else if constexpr (kOp == ScatterOp::add)
      atomic_add(to, src[at[1]]);
    else
      atomic_update(to, src[at[1]], [](T a, T b) { return indexing::combine(a, b, kOp); });
  }
};

// One thread processes one line along dim, in order.
template <class T, ScatterOp kOp>
struct ScatterInOrder {
  Scatter<T, kOp> one;
  DeviceWalk<3> lines;
  std::int64_t n, index_stride, src_stride;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[3];
    lines.offsets(i, at);
    for (std::int64_t k = 0; k < n; ++k, at[0] += index_stride, at[1] += src_stride)
      if (T* const to = one.target(at)) *to = indexing::combine(*to, one.src[at[1]], kOp);
  }
};

// Writes, for each element of the index, the offset of its destination in out and the offset of its value in
// src. sum_segments() sorts these pairs by destination. An index out of bounds has the destination `nowhere`.
struct ElementDestinations {
  std::int64_t *places, *starts;
  const std::int64_t* index;
  DeviceWalk<3> walk;  // over index, src and out, without dim
  std::int64_t size, stride, dim, nowhere;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[3];
    walk.offsets(i, at);
    const std::int64_t which = index[at[0]];
    const bool inside = which >= 0 && which < size;
    if (!inside) faults.note(which, size, dim);
    places[i] = inside ? at[2] + which * stride : nowhere;
    starts[i] = at[1];
  }
};

template <class T>
struct Choose {
  __device__ T operator()(bool taken, T value, T otherwise) const { return taken ? value : otherwise; }
};

template <class T, ScatterOp kOp>
void scatter_as(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src) {
  const DimVector moving = strides_without(out, dim);
  const Scatter<T, kOp> one{out.address_as<T>(),
                            src.address_as<T>(),
                            index.address_as<std::int64_t>(),
                            DeviceWalk<3>("scatter", index.sizes(), {index.strides(), src.strides(), moving}),
                            out.sizes()[dim],
                            out.strides()[dim],
                            dim,
                            fault_sink(out.device(), "scatter")};
  // True if the result depends on the order in which elements are combined.
  constexpr bool kOrdered = kOp == ScatterOp::assign ||
                            (!std::is_integral_v<T> && (kOp == ScatterOp::add || kOp == ScatterOp::multiply));
  // 16-bit floats are combined by sum_segments, which accumulates in float.
  const bool in_segments = kOrdered && is_half_v<T> && kOp != ScatterOp::assign && index.sizes()[dim] > 1;
  if (!in_segments && (!kOrdered || !are_deterministic_algorithms_enabled()))
    return for_each(out.device(), index.numel(), one);
  constexpr std::int64_t kShortLine = 64, kManyLines = 8192;
  DimVector sizes(index.sizes());
  sizes[dim] = 1;
  const DeviceWalk<3> lines("scatter", sizes, {index.strides(), src.strides(), moving});
  if (in_segments || (index.sizes()[dim] > kShortLine && lines.numel < kManyLines)) {
    const Destinations to(out.device(), index.numel(), extent_of(out));
    for_each(out.device(), to.count,
             ElementDestinations{to.places(), to.values(), one.index, one.walk, one.size, one.stride, dim,
                                 to.nowhere, one.faults});
    return sum_segments<T, kOp>(out, src, to, DeviceWalk<2>("scatter", {}, {}));
  }
  for_each(out.device(), lines.numel,
           ScatterInOrder<T, kOp>{one, lines, index.sizes()[dim], index.strides()[dim], src.strides()[dim]});
}

}  // namespace

void gather(NdArray& out, const NdArray& x, std::int64_t dim, const NdArray& index) {
  if (out.numel() == 0) return;
  const DimVector moving = strides_without(x, dim);
  const DeviceWalk<3> walk("gather", out.sizes(), {out.strides(), index.strides(), moving});
  visit_bits(out.dtype(), [&]<class T> {
    const FaultSink faults = fault_sink(out.device(), "gather");
    const auto* const which = index.address_as<std::int64_t>();
    const std::int64_t size = x.sizes()[dim], stride = x.strides()[dim];
    if (gathers_rows(out, x, dim, index, kUnit<T>)) {
      const std::size_t last = out.sizes().size() - 1;
      const DeviceWalk<3> rows(
          "gather", out.sizes().slice(0, last),
          {out.strides().slice(0, last), index.strides().slice(0, last), IntArrayRef(moving).slice(0, last)});
      const std::int64_t length = out.sizes()[last], units = (length + kUnit<T> - 1) / kUnit<T>;
      return for_each(out.device(), rows.numel * units,
                      GatherUnits<T>{out.address_as<T>(), x.address_as<T>(), which, rows, length, units, size,
                                     stride, dim, faults});
    }
    for_each(out.device(), out.numel(),
             Gather<T>{out.address_as<T>(), x.address_as<T>(), which, walk, size, stride, dim, faults});
  });
}

void scatter(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src, ScatterOp op) {
  if (index.numel() == 0) return;
  if (op == ScatterOp::assign)
    return visit_bits(out.dtype(), [&]<class T> { scatter_as<T, ScatterOp::assign>(out, dim, index, src); });
  visit_all(out.dtype(), "scatter", [&]<class T> {
    if (op == ScatterOp::add)
      scatter_as<T, ScatterOp::add>(out, dim, index, src);
    else if (op == ScatterOp::multiply)
      scatter_as<T, ScatterOp::multiply>(out, dim, index, src);
    else if (op == ScatterOp::amax)
      scatter_as<T, ScatterOp::amax>(out, dim, index, src);
    else
      scatter_as<T, ScatterOp::amin>(out, dim, index, src);
  });
}

void masked_fill(NdArray& out, const NdArray& mask, const NdArray& value) {
  visit_bits(out.dtype(), [&]<class T> {
    static constexpr auto kKernels = map_kernels<Choose<T>, T, bool, T, T>();
    const Choose<T> op;
    launch_map<4>("masked_fill", kKernels, out, {mask, value, out}, &op, sizeof(op));
  });
}

}  // namespace ebb::cuda
