// The adjacent elements of a contiguous line that one thread of a scan holds: loaded one by one, or as
// vectors.
#pragma once

#include "kernel/cuda/vector.h"
#include "kernel/line_plans.h"
#include "kernel/scan_steps.h"

namespace ebb::cuda {

/// A scan functor from an array of Element to another one of the same shape, element by element. It has `x`
/// and `out`, `order`, Acc of(Element) and Element element(Acc).
template <class Op>
concept VectorScan = requires { typename Op::Element; };

template <class Op>
constexpr int kItemsOf = kScanItems;
template <VectorScan Op>
constexpr int kItemsOf<Op> = sizeof(typename Op::Element) == 8 ? 4 : 8;

/// Items are first fetched and later taken, so that the loads of the next tile are in flight meanwhile.
template <class Op>
class ScanItems {
  using Acc = typename Op::Acc;
  static constexpr int kItems = kItemsOf<Op>;
  std::int64_t start_, begin_, end_, first_ = 0;

 public:
  __device__ ScanItems(const Op&, std::int64_t start, std::int64_t begin, std::int64_t end)
      : start_(start), begin_(begin), end_(end) {}
  /// Returns how many positions before its first element the tiles of a line begin.
  __device__ static int pad(const Op&, std::int64_t) { return 0; }
  __device__ void fetch(const Op&, std::int64_t first) { first_ = first; }
  /// Positions beyond the end repeat the last element; their results are neither stored nor merged into
  /// others.
  __device__ void take(const Op& op, Acc (&value)[kItems]) const {
#pragma unroll
    for (int k = 0; k < kItems; ++k) value[k] = op.load(start_, first_ + k < end_ ? first_ + k : end_ - 1);
  }
  __device__ void put(const Op& op, std::int64_t first, const Acc (&value)[kItems]) const {
#pragma unroll
    for (int k = 0; k < kItems; ++k)
      if (first + k < end_) op.store(start_, first + k, value[k]);
  }
};

/// The vectors of a line are aligned. A tile may begin some positions before the line; these repeat its first
/// element and are not merged. Partial vectors are processed element by element, as are all elements if the
/// two arrays have different misalignment.
template <VectorScan Op>
class ScanItems<Op> {
  using Acc = typename Op::Acc;
  using E = typename Op::Element;
  static constexpr int kItems = kItemsOf<Op>;
  static constexpr int W = kVectorWidth<E> < kItems ? kVectorWidth<E> : kItems;
  static constexpr int kUnits = kItems / W;
  Packed<E, W> units_[kUnits];
  std::int64_t start_, begin_, end_;
  bool vectors_;

  __device__ static bool alike(const Op& op) {
    const auto from = reinterpret_cast<std::uintptr_t>(op.x), to = reinterpret_cast<std::uintptr_t>(op.out);
    return (from - to) % sizeof(Packed<E, W>) == 0;
  }
  __device__ bool whole(std::int64_t place) const { return vectors_ && place >= begin_ && place + W <= end_; }
  /// By value: a reference that selects one of two arrays would keep them out of registers.
  template <class T>
  __device__ static T either(const Op& op, T backward, T forward) {
    return op.order.reverse ? backward : forward;
  }
  /// Returns the offset of the vector that begins at this position.
  __device__ std::int64_t at(const Op& op, std::int64_t place) const {
    return op.order.at(start_, op.order.reverse ? place + W - 1 : place);
  }

 public:
  __device__ ScanItems(const Op& op, std::int64_t start, std::int64_t begin, std::int64_t end)
      : start_(start), begin_(begin), end_(end), vectors_(alike(op)) {}
  __device__ static int pad(const Op& op, std::int64_t start) {
    if (!alike(op)) return 0;
    const std::uint64_t at = reinterpret_cast<std::uintptr_t>(op.x) / sizeof(E);
    return scan_pad(at + static_cast<std::uint64_t>(start), op.order.n, W, op.order.reverse);
  }
  __device__ void fetch(const Op& op, std::int64_t first) {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const std::int64_t place = first + u * W;
      if (whole(place)) {
        units_[u] = Packed<E, W>::load(op.x + at(op, place));
        continue;
      }
      Vector<E, W> unit;
#pragma unroll
      for (int k = 0; k < W; ++k) {
        const std::int64_t i = place + (op.order.reverse ? W - 1 - k : k), late = i < end_ ? i : end_ - 1;
        unit.at[k] = op.x[op.order.at(start_, late > begin_ ? late : begin_)];
      }
      units_[u] = unit;
    }
  }
  __device__ void take(const Op& op, Acc (&value)[kItems]) const {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const auto unit = units_[u].vector();
#pragma unroll
      for (int k = 0; k < W; ++k) value[u * W + k] = op.of(either(op, unit.at[W - 1 - k], unit.at[k]));
    }
  }
  __device__ void put(const Op& op, std::int64_t first, const Acc (&value)[kItems]) const {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const std::int64_t place = first + u * W;
      if (whole(place)) {
        Vector<E, W> unit;
#pragma unroll
        for (int k = 0; k < W; ++k)
          unit.at[k] = op.element(either(op, value[u * W + W - 1 - k], value[u * W + k]));
        store_vector(op.out + at(op, place), unit);
        continue;
      }
#pragma unroll
      for (int k = 0; k < W; ++k)
        if (place + k >= begin_ && place + k < end_)
          op.out[op.order.at(start_, place + k)] = op.element(value[u * W + k]);
    }
  }
};

}  // namespace ebb::cuda
