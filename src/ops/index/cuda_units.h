// Rows moved by units: 16 bytes where both ends lie together in memory, else one element.
#pragma once

#include "kernel/cuda/map.h"
#include "kernel/cuda/walk.h"

namespace ebb::cuda {

/// Reads up to V neighbouring elements, all at once where they are aligned.
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

/// Where the units of a row stand, in two arrays.
template <int V>
struct RowUnits {
  DeviceWalk<2> row;
  std::int64_t count;

  explicit RowUnits(const DeviceWalk<2>& walk) : row(walk), count((walk.numel + V - 1) / V) {}
  /// Elements of the unit.
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

/// Whether rows are one piece in both arrays, and long enough for units of 16 bytes.
template <class T>
bool in_units(const DeviceWalk<2>& row) {
  return row.dims == 1 && row.strides[0][0] == 1 && row.strides[1][0] == 1 && row.numel >= kUnit<T>;
}

}  // namespace ebb::cuda
