// Copies of row units, and sums (or products, maxima, ...) of many values into few destinations.
//
// A row is copied in units: 16 bytes if its elements are contiguous on both sides, otherwise one element.
//
// The order of a sum depends only on the destinations and on the order of the values. The destinations are
// sorted, and each segment of equal destinations is summed. The sorted list is divided into windows of fixed
// length. A thread processes one unit of the rows of one window, in order.
//
// The sum of a segment inside a window is written directly. A segment that spans windows leaves partial sums.
// Further passes combine these in order, over groups of windows. In each pass a thread takes at most kWindow
// steps, even if one destination repeats very often.
#pragma once

#include "kernel/convert.h"
#include "kernel/cuda/map.h"
#include "kernel/cuda/sort.h"
#include "kernel/cuda/walk.h"
#include "ops/index/combine.h"

#include <utility>

namespace ebb::cuda {

/// Reads up to V neighbouring elements, with one load if they are aligned.
template <class T, int V>
__device__ Vector<T, V> load_unit(const T* from, int count) {
  Vector<T, V> unit{};
  if (count == V && reinterpret_cast<std::uintptr_t>(from) % (V * sizeof(T)) == 0)
    return *reinterpret_cast<const Vector<T, V>*>(from);
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (i < count) unit.at[i] = from[i];
  return unit;
}

template <class T, int V>
__device__ void store_unit(T* to, const Vector<T, V>& unit, int count) {
  if (count == V && reinterpret_cast<std::uintptr_t>(to) % (V * sizeof(T)) == 0) {
    *reinterpret_cast<Vector<T, V>*>(to) = unit;
    return;
  }
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (i < count) to[i] = unit.at[i];
}

template <class T>
constexpr int kUnit = static_cast<int>(16 / sizeof(T));

/// The offsets of the units of a row in two arrays.
template <int V>
struct RowUnits {
  DeviceWalk<2> row;
  std::int64_t count;

  explicit RowUnits(const DeviceWalk<2>& walk) : row(walk), count((walk.numel + V - 1) / V) {}
  /// Sets `at` to the offsets of the unit and returns its number of elements.
  __device__ int place(std::int64_t unit, std::int64_t (&at)[2]) const {
    if constexpr (V == 1) {
      row.offsets(unit, at);
      return 1;
    } else {
      at[0] = at[1] = unit * V;
      const std::int64_t left = row.numel - unit * V;
      return left < V ? static_cast<int>(left) : V;
    }
  }
};

/// Returns whether rows are contiguous in both arrays and have at least 16 bytes.
template <class T>
bool in_units(const DeviceWalk<2>& row) {
  return row.dims == 1 && row.strides[0][0] == 1 && row.strides[1][0] == 1 && row.numel >= kUnit<T>;
}

constexpr std::int64_t kWindow = 32;

/// Offsets of destinations (places()) and of their values (values()), in elements. sort() sorts them by
/// destination and keeps values of equal destinations in order.
struct Destinations {
  NdArray memory;  // Long [2, count]
  std::int64_t count;
  std::int64_t nowhere;  // destinations >= nowhere are not written

  Destinations(Device device, std::int64_t n, std::int64_t limit)
      : memory(NdArray::empty({2, n}, kLong, device)), count(n), nowhere(limit) {}
  std::int64_t* places() const { return memory.address_as<std::int64_t>(); }
  std::int64_t* values() const { return places() + count; }
  void sort() const {
    int bits = 1;
    while (bits < 63 && (nowhere >> bits) != 0) ++bits;
    sort_pairs(memory.device(), reinterpret_cast<std::uint64_t*>(places()), values(), 1, count, {0, bits});
  }
};

/// Returns the number of elements from the first element of x to the end of its storage. All offsets from the
/// first element are smaller than this number.
inline std::int64_t extent_of(const NdArray& x) {
  return static_cast<std::int64_t>(x.storage()->bytes()) / element_size(x.dtype()) - x.offset();
}

template <class T, int V, kernels::ScatterOp kOp>
struct Segments {
  using C = Compute<T>;
  T* out;
  const T* values;
  const std::int64_t *places, *starts;
  std::int64_t count, nowhere;
  RowUnits<V> units;  // offsets in out and in values
  // [window, 2, unit]: the partial sums of a window. Sum 0 is for a segment that begins before the window.
  // Sum 1 is for a segment that begins in the window and continues after it.
  Vector<C, V>* parts;

  __device__ Vector<C, V> load(std::int64_t i, std::int64_t at, int n) const {
    const Vector<T, V> unit = load_unit<T, V>(values + starts[i] + at, n);
    Vector<C, V> wide;
#pragma unroll
    for (int k = 0; k < V; ++k) wide.at[k] = static_cast<C>(unit.at[k]);
    return wide;
  }
  __device__ static void merge(Vector<C, V>& sum, const Vector<C, V>& next) {
#pragma unroll
    for (int k = 0; k < V; ++k) sum.at[k] = indexing::combine(sum.at[k], next.at[k], kOp);
  }
  __device__ void put(std::int64_t place, std::int64_t at, const Vector<C, V>& sum, int n) const {
    if (place >= nowhere) return;
    T* const to = out + place + at;
    Vector<T, V> unit = load_unit<T, V>(to, n);
#pragma unroll
    for (int k = 0; k < V; ++k)
      unit.at[k] = static_cast<T>(indexing::combine(static_cast<C>(unit.at[k]), sum.at[k], kOp));
    store_unit<T, V>(to, unit, n);
  }
  __device__ Vector<C, V>& part(std::int64_t window, std::int64_t unit, int which) const {
    return parts[(window * 2 + which) * units.count + unit];
  }
};

template <class T, int V, kernels::ScatterOp kOp>
struct SumWindows {
  Segments<T, V, kOp> s;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t window = i / s.units.count, unit = i - window * s.units.count;
    const std::int64_t begin = window * kWindow, end = begin + kWindow < s.count ? begin + kWindow : s.count;
    std::int64_t at[2];
    const int n = s.units.place(unit, at);
    std::int64_t place = s.places[begin];
    auto sum = s.load(begin, at[1], n);
    bool here = begin == 0 || s.places[begin - 1] != place;  // true if the segment begins in this window
    for (std::int64_t k = begin + 1; k < end; ++k) {
      const std::int64_t next = s.places[k];
      const auto value = s.load(k, at[1], n);
      if (next == place) {
        s.merge(sum, value);
        continue;
      }
      if (here)
        s.put(place, at[0], sum, n);
      else
        s.part(window, unit, 0) = sum;
      place = next;
      sum = value;
      here = true;
    }
    const bool goes_on = end < s.count && s.places[end] == place;
    if (here && !goes_on)
      s.put(place, at[0], sum, n);
    else
      s.part(window, unit, here ? 1 : 0) = sum;
  }
};

/// Combines the partial sums of kWindow parts into the partial sums of one group, in order. In the first pass
/// a part is a window, later a group of the previous pass. The sum of a segment that begins and ends in the
/// group is written to out.
template <class T, int V, kernels::ScatterOp kOp>
struct JoinParts {
  Segments<T, V, kOp> s;  // its `parts` are the partial sums of the previous pass
  Vector<Compute<T>, V>* joined;
  std::int64_t piece;  // the number of destinations in one part

  __device__ void operator()(std::int64_t i) const {
    const std::int64_t group = i / s.units.count, unit = i - group * s.units.count;
    const std::int64_t begin = group * kWindow * piece, far = begin + kWindow * piece;
    const std::int64_t end = far < s.count ? far : s.count;
    Vector<Compute<T>, V> sum{};
    bool open = false, here = false;  // open: a segment is being summed; here: it begins in this group
    for (std::int64_t first = begin, number = group * kWindow; first < end; first += piece, ++number) {
      const std::int64_t after = first + piece < s.count ? first + piece : s.count;
      const std::int64_t head = s.places[first], tail = s.places[after - 1];
      const bool goes_on = after < s.count && s.places[after] == tail;
      const bool came = first > 0 && s.places[first - 1] == head;
      if (came) {
        if (open)
          s.merge(sum, s.part(number, unit, 0));
        else
          sum = s.part(number, unit, 0);
        open = true;
        if (head == tail && goes_on) continue;
        finish(head, group, unit, sum, here);
        open = here = false;
      }
      if (!goes_on) continue;
      sum = s.part(number, unit, 1);
      open = here = true;
    }
    if (open) part(group, unit, here ? 1 : 0) = sum;
  }
  __device__ Vector<Compute<T>, V>& part(std::int64_t group, std::int64_t unit, int which) const {
    return joined[(group * 2 + which) * s.units.count + unit];
  }
  __device__ void finish(std::int64_t place, std::int64_t group, std::int64_t unit,
                         const Vector<Compute<T>, V>& sum, bool here) const {
    if (!here) {
      part(group, unit, 0) = sum;
      return;
    }
    std::int64_t at[2];
    const int n = s.units.place(unit, at);
    s.put(place, at[0], sum, n);
  }
};

template <class T, int V, kernels::ScatterOp kOp>
void sum_segments_by(NdArray& out, const NdArray& values, const Destinations& to, const DeviceWalk<2>& row) {
  const RowUnits<V> units(row);
  using Part = Vector<Compute<T>, V>;
  const auto parts_of = [&](std::int64_t windows) {
    return NdArray::empty({windows * 2 * units.count * static_cast<std::int64_t>(sizeof(Part))}, kByte,
                          out.device());
  };
  std::int64_t windows = (to.count + kWindow - 1) / kWindow;
  NdArray parts = parts_of(windows);
  Segments<T, V, kOp> s{
      out.address_as<T>(),     values.address_as<T>(), to.places(), to.values(), to.count, to.nowhere, units,
      parts.address_as<Part>()};
  for_each(out.device(), windows * units.count, SumWindows<T, V, kOp>{s});
  for (std::int64_t piece = kWindow; windows > 1; piece *= kWindow) {
    windows = (windows + kWindow - 1) / kWindow;
    NdArray joined = parts_of(windows);
    for_each(out.device(), windows * units.count, JoinParts<T, V, kOp>{s, joined.address_as<Part>(), piece});
    parts = std::move(joined);
    s.parts = parts.address_as<Part>();
  }
}

/// Computes out[place + ...] = combine(out[place + ...], values[start + ...]) over the elements of the row,
/// for all destinations. It sorts `to` first. Values of equal destinations are combined in their order.
template <class T, kernels::ScatterOp kOp>
void sum_segments(NdArray& out, const NdArray& values, const Destinations& to, const DeviceWalk<2>& row) {
  to.sort();
  if (in_units<T>(row))
    sum_segments_by<T, kUnit<T>, kOp>(out, values, to, row);
  else
    sum_segments_by<T, 1, kOp>(out, values, to, row);
}

}  // namespace ebb::cuda
