// Copies rows in units: 16 bytes if the elements are contiguous on both sides, else one element.
#pragma once

#include "kernel/cuda/map.h"
#include "kernel/cuda/walk.h"

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

/// Whether rows are contiguous in both arrays and have at least 16 bytes.
template <class T>
bool in_units(const DeviceWalk<2>& row) {
  return row.dims == 1 && row.strides[0][0] == 1 && row.strides[1][0] == 1 && row.numel >= kUnit<T>;
}

}  // namespace ebb::cuda
