// The layout of planes for pooling on the CPU. For each tap, the elements of neighbouring windows are
// contiguous, with padding around them. A row of windows is then a loop over vectors.
#pragma once

#include "kernel/cpu/vector.h"
#include "ops/pool/geometry.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ebb::cpu {

/// The number of windows that are computed together. They fill one register, because compilers split selects
/// on wider vectors.
template <class C>
constexpr std::int64_t kWindows = kVectorBytes / sizeof(C);
/// A vector with one N for each of kWindows<C> windows.
template <class C, class N = C>
using Windows = Vector<N, kWindows<C>>;

/// Returns whether WindowPlane supports the geometry: the windows of a row have the same size, and their
/// stride is less than the length of the row.
inline bool has_window_rows(const PoolGeometry& g) {
  return !g.axis[2].adaptive && g.axis[2].stride < g.axis[2].in;
}

/// A plane of elements C. Each row is stored in `stride` parts: part p contains every stride-th element from
/// p - padding on.
template <class C>
class WindowPlane {
 public:
  /// The padding is filled with `edge`. The geometry must satisfy has_window_rows(). The parts of a row
  /// together contain the whole row, including elements that no window reads. Each part also contains the
  /// padding that the last vector of windows reads.
  WindowPlane(const PoolGeometry& g, C edge)
      : axis_(g.axis[2]),
        rows_(g.axis[0].in * g.axis[1].in),
        part_((axis_.out + kWindows<C> - 1) / kWindows<C> * kWindows<C> +
              ((axis_.kernel - 1) * axis_.dilation / axis_.stride + kWindows<C>) / kWindows<C> * kWindows<C>),
        line_(static_cast<std::size_t>(part_ * axis_.stride + axis_.padding), edge),
        values_(static_cast<std::size_t>(rows_ * part_ * axis_.stride), edge) {}

  /// Copies a plane into this layout.
  template <class T>
  void load(const T* plane) {
    for (std::int64_t row = 0; row < rows_; ++row, plane += axis_.in) {
      C* const line = line_.data() + axis_.padding;
      for (std::int64_t i = 0; i < axis_.in; ++i) line[i] = static_cast<C>(plane[i]);
      by_parts(values_.data() + row * part_ * axis_.stride, [](C& value, C& in_line) { value = in_line; });
    }
  }
  /// Copies the elements back to a plane.
  template <class T>
  void store(T* plane) {
    for (std::int64_t row = 0; row < rows_; ++row, plane += axis_.in) {
      by_parts(values_.data() + row * part_ * axis_.stride, [](C& value, C& in_line) { in_line = value; });
      const C* const line = line_.data() + axis_.padding;
      for (std::int64_t i = 0; i < axis_.in; ++i) plane[i] = static_cast<T>(line[i]);
    }
  }
  void fill(C value) { std::fill(values_.begin(), values_.end(), value); }

  /// Returns the element that window 0 of a row reads at tap k. The element that window o reads is o elements
  /// further, for all o up to the next multiple of kWindows.
  C* tap(std::int64_t row, std::int64_t k) {
    const std::int64_t at = k * axis_.dilation;
    return values_.data() + (row * axis_.stride + at % axis_.stride) * part_ + at / axis_.stride;
  }

 private:
  // Calls move(value, element of line_) for all values of a row.
  template <class Move>
  void by_parts(C* row, Move&& move) {
    if (axis_.stride == 1)
      by_parts_of<1>(row, move);
    else if (axis_.stride == 2)
      by_parts_of<2>(row, move);
    else
      for (std::int64_t p = 0; p < axis_.stride; ++p)
        for (std::int64_t i = 0; i < part_; ++i) move(row[p * part_ + i], line_[i * axis_.stride + p]);
  }
  template <int kStride, class Move>
  void by_parts_of(C* row, Move& move) {
    C* const line = line_.data();
    for (std::int64_t from = 0; from < part_; from += kWindows<C>)
#pragma GCC ivdep
      for (std::int64_t i = from; i < from + kWindows<C>; ++i)
        for (int p = 0; p < kStride; ++p) move(row[p * part_ + i], line[i * kStride + p]);
  }

  PoolAxis axis_;
  std::int64_t rows_, part_;
  std::vector<C> line_, values_;
};

}  // namespace ebb::cpu
