// The device kernels index_offsets, take_rows and put_rows: gather and scatter rows by offset.
#include <ebb/core/deterministic.h>
#include <ebb/core/visit.h>

#include "kernel/cuda/atomic.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/walk.h"
#include "ops/index/cuda_segments.h"
#include "ops/index/kernels.h"

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

template <class T, int V>
struct TakeRows {
  T* out;
  const T* x;
  const std::int64_t* offsets;
  RowUnits<V> units;  // offsets in out and in x
  std::int64_t out_row;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t j = i / units.count;
    std::int64_t at[2];
    const int n = units.place(i - j * units.count, at);
    store_unit<T, V>(out + j * out_row + at[0], load_unit<T, V>(x + offsets[j] + at[1], n), n);
  }
};

template <class T, int V>
void take(NdArray& out, const NdArray& x, const NdArray& offsets, const DeviceWalk<2>& row) {
  const TakeRows<T, V> take{out.address_as<T>(), x.address_as<T>(), offsets.address_as<std::int64_t>(),
                            RowUnits<V>(row), out.strides()[0]};
  for_each(out.device(), offsets.numel() * take.units.count, take);
}

template <class T, int V, bool kAdd>
struct PutRows {
  T* out;
  const std::int64_t* offsets;
  const T* values;
  RowUnits<V> units;  // offsets in out and in values
  std::int64_t value_row;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t j = i / units.count;
    std::int64_t at[2];
    const int n = units.place(i - j * units.count, at);
    T* const to = out + offsets[j] + at[0];
    const T* const from = values + j * value_row + at[1];
    if constexpr (kAdd)
      atomic_add(to, *from);
    else
      store_unit<T, V>(to, load_unit<T, V>(from, n), n);
  }
};

template <class T, int V, bool kAdd>
void put_unordered(NdArray& out, const NdArray& offsets, const NdArray& values, const DeviceWalk<2>& row) {
  const PutRows<T, V, kAdd> put{out.address_as<T>(), offsets.address_as<std::int64_t>(),
                                values.address_as<T>(), RowUnits<V>(row), values.strides()[0]};
  for_each(out.device(), offsets.numel() * put.units.count, put);
}

// Writes or adds all rows in the order of j. Each thread handles one element of the row. PutRowsInOrder is
// used for few rows, because sorting them would take longer. Each addition rounds to T, so several 16-bit
// rows are not added in this way.
template <class T, bool kAdd>
struct PutRowsInOrder {
  using C = Compute<T>;
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
      if constexpr (kAdd)
        to = static_cast<T>(AtomicSum()(static_cast<C>(to), static_cast<C>(value)));
      else
        to = value;
    }
  }
};

struct RowDestinations {
  std::int64_t *places, *starts;
  const std::int64_t* offsets;
  std::int64_t value_row;
  __device__ void operator()(std::int64_t j) const {
    places[j] = offsets[j];
    starts[j] = j * value_row;
  }
};

template <class T, bool kAdd>
void put_in_order(NdArray& out, const NdArray& offsets, const NdArray& values, const DeviceWalk<2>& row) {
  constexpr std::int64_t kFew = 32;
  const std::int64_t rows = offsets.numel(), value_row = values.strides()[0];
  const auto* const at = offsets.address_as<std::int64_t>();
  if (rows <= kFew && (!kAdd || rows == 1 || !is_half_v<T>))
    return for_each(
        out.device(), row.numel,
        PutRowsInOrder<T, kAdd>{out.address_as<T>(), at, values.address_as<T>(), row, rows, value_row});
  const Destinations to(out.device(), rows, extent_of(out));
  for_each(out.device(), rows, RowDestinations{to.places(), to.values(), at, value_row});
  sum_segments<T, kAdd ? kernels::ScatterOp::add : kernels::ScatterOp::assign>(out, values, to, row);
}

DeviceWalk<2> row_of(const NdArray& out, const NdArray& values) {
  return DeviceWalk<2>("index_put", out.sizes(), {out.strides(), values.strides().slice(1)});
}

// Adds rows. Float sums depend on the order of their terms. Long rows are sorted by destination, which is
// cheap compared with the additions and avoids atomics. Short rows are sorted only in deterministic mode and
// otherwise added by atomics. 16-bit rows are always sorted, because sum_segments() then adds them in float.
template <class T>
void add_rows(NdArray& out, const NdArray& offsets, const NdArray& values) {
  const DeviceWalk<2> row = row_of(out, values);
  constexpr std::int64_t kLong = 64;
  if constexpr (is_half_v<T>) {
    put_in_order<T, true>(out, offsets, values, row);
  } else {
    if constexpr (!std::is_integral_v<T>)
      if (are_deterministic_algorithms_enabled() || row.numel >= kLong)
        return put_in_order<T, true>(out, offsets, values, row);
    put_unordered<T, 1, true>(out, offsets, values, row);
  }
}

template <class T>
void assign_rows(NdArray& out, const NdArray& offsets, const NdArray& values) {
  const DeviceWalk<2> row = row_of(out, values);
  if (are_deterministic_algorithms_enabled())
    put_in_order<T, false>(out, offsets, values, row);
  else if (in_units<T>(row))
    put_unordered<T, kUnit<T>, false>(out, offsets, values, row);
  else
    put_unordered<T, 1, false>(out, offsets, values, row);
}

}  // namespace

void index_offsets(NdArray& out, ArrayRef<NdArray> indices, IntArrayRef sizes, IntArrayRef strides,
                   const kernels::IndexRules& rules) {
  for (std::size_t k = 0; k < indices.size(); ++k)
    for_each(out.device(), out.numel(),
             Offsets{out.address_as<std::int64_t>(), indices[k].address_as<std::int64_t>(),
                     DeviceWalk<1>(rules.op, out.sizes(), {indices[k].strides()}), sizes[k], strides[k],
                     rules.dims.empty() ? 0 : rules.dims[k], rules.wraps, k == 0,
                     fault_sink(out.device(), rules.op)});
}

void take_rows(NdArray& out, const NdArray& x, const NdArray& offsets) {
  const std::int64_t rows = offsets.numel();
  if (rows == 0 || x.numel() == 0) return;
  const DeviceWalk<2> row("index", x.sizes(), {out.strides().slice(1), x.strides()});
  visit_bits(out.dtype(), [&]<class T> {
    if (in_units<T>(row))
      take<T, kUnit<T>>(out, x, offsets, row);
    else
      take<T, 1>(out, x, offsets, row);
  });
}

void put_rows(NdArray& out, const NdArray& offsets, const NdArray& values, bool accumulate) {
  if (offsets.numel() == 0 || out.numel() == 0) return;
  if (accumulate)
    visit_all(out.dtype(), "index_put", [&]<class T> { add_rows<T>(out, offsets, values); });
  else
    visit_bits(out.dtype(), [&]<class T> { assign_rows<T>(out, offsets, values); });
}

}  // namespace ebb::cuda
