// Rows by number on the device. Sums into equal rows use atomics, or, where algorithms must be deterministic,
// one thread an element that takes the rows in order.
#include <ebb/core/deterministic.h>
#include <ebb/core/visit.h>

#include "kernel/cuda/atomic.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/walk.h"
#include "ops/index/cuda.h"

namespace ebb::cuda {
namespace {

struct Offsets {
  std::int64_t* out;
  const std::int64_t* index;
  DeviceWalk<1> walk;
  std::int64_t size, stride, dim;
  bool wraps, first;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[1];
    walk.offsets(i, at);
    std::int64_t which = index[at[0]];
    if (which < (wraps ? -size : 0) || which >= size) {
      faults.note(which, size, dim);
      which = 0;
    }
    const std::int64_t offset = (which < 0 ? which + size : which) * stride;
    out[i] = first ? offset : out[i] + offset;
  }
};

template <class T>
struct TakeRows {
  T* out;
  const T* x;
  const std::int64_t* offsets;
  DeviceWalk<2> row;
  std::int64_t out_row;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t j = i / row.numel;
    std::int64_t at[2];
    row.offsets(i - j * row.numel, at);
    out[j * out_row + at[0]] = x[offsets[j] + at[1]];
  }
};

template <class T, bool kAdd>
struct PutRows {
  T* out;
  const std::int64_t* offsets;
  const T* values;
  DeviceWalk<2> row;
  std::int64_t value_row;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t j = i / row.numel;
    std::int64_t at[2];
    row.offsets(i - j * row.numel, at);
    T* const to = out + offsets[j] + at[0];
    const T value = values[j * value_row + at[1]];
    if constexpr (kAdd)
      atomic_add(to, value);
    else
      *to = value;
  }
};

// One thread an element of the row, all rows in order.
template <class T, bool kAdd>
struct PutRowsInOrder {
  T* out;
  const std::int64_t* offsets;
  const T* values;
  DeviceWalk<2> row;
  std::int64_t rows, value_row;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[2];
    row.offsets(i, at);
    for (std::int64_t j = 0; j < rows; ++j) {
      T& to = out[offsets[j] + at[0]];
      const T value = values[j * value_row + at[1]];
      to = kAdd ? AtomicSum()(to, value) : value;
    }
  }
};

template <class T, bool kAdd>
void put(NdArray& out, const NdArray& offsets, const NdArray& values) {
  const std::int64_t rows = offsets.numel(), value_row = values.strides()[0];
  const DeviceWalk<2> row("index_put", out.sizes(), {out.strides(), values.strides().slice(1)});
  T* const to = out.data_as<T>();
  const T* const from = values.data_as<T>();
  const std::int64_t* const at = offsets.data_as<std::int64_t>();
  if (are_deterministic_algorithms_enabled())
    for_each(out.device(), row.numel, PutRowsInOrder<T, kAdd>{to, at, from, row, rows, value_row});
  else
    for_each(out.device(), rows * row.numel, PutRows<T, kAdd>{to, at, from, row, value_row});
}

}  // namespace

void index_offsets(NdArray& out, ArrayRef<NdArray> indices, IntArrayRef sizes, IntArrayRef strides,
                   const kernels::IndexRules& rules) {
  for (std::size_t k = 0; k < indices.size(); ++k)
    for_each(
        out.device(), out.numel(),
        Offsets{out.data_as<std::int64_t>(), indices[k].data_as<std::int64_t>(),
                DeviceWalk<1>(rules.op, out.sizes(), {indices[k].strides()}), sizes[k], strides[k],
                rules.dims ? rules.dims[k] : 0, rules.wraps, k == 0, fault_sink(out.device(), rules.op)});
}

void take_rows(NdArray& out, const NdArray& x, const NdArray& offsets) {
  const std::int64_t rows = offsets.numel();
  if (rows == 0 || x.numel() == 0) return;
  const DeviceWalk<2> row("index", x.sizes(), {out.strides().slice(1), x.strides()});
  visit_bits(out.dtype(), [&]<class T> {
    for_each(out.device(), rows * row.numel,
             TakeRows<T>{out.data_as<T>(), x.data_as<T>(), offsets.data_as<std::int64_t>(), row,
                         out.strides()[0]});
  });
}

void put_rows(NdArray& out, const NdArray& offsets, const NdArray& values, bool accumulate) {
  if (offsets.numel() == 0 || out.numel() == 0) return;
  if (accumulate)
    visit_all(out.dtype(), "index_put", [&]<class T> { put<T, true>(out, offsets, values); });
  else
    visit_bits(out.dtype(), [&]<class T> { put<T, false>(out, offsets, values); });
}

}  // namespace ebb::cuda
