// Visits the elements of N arrays of one shape together, as runs of equally spaced elements.
#pragma once

#include "kernel/cpu/parallel.h"

#include <ebb/core/ndarray.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace ebb::cpu {

/// The common shape of N arrays, brought into few dimensions: ordered by the strides of the first array,
/// without dimensions of size 1, and with dimensions merged that lie next to each other in all arrays.
template <int N>
class Walk {
 public:
  using Offsets = std::array<std::int64_t, N>;

  Walk(IntArrayRef sizes, const std::array<IntArrayRef, N>& strides) : numel_(checked_numel(sizes)) {
    DimVector order;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] != 1) order.push_back(static_cast<std::int64_t>(d));
    const auto magnitude = [&](std::int64_t d) { return strides[0][d] < 0 ? -strides[0][d] : strides[0][d]; };
    // Insertion sort: few dimensions, nearly always in order, and equal strides keep their places.
    for (std::size_t i = 1; i < order.size(); ++i)
      for (std::size_t j = i; j > 0 && magnitude(order[j - 1]) < magnitude(order[j]); --j)
        std::swap(order[j - 1], order[j]);
    for (const std::int64_t d : order) {
      bool merges = !sizes_.empty();
      for (int k = 0; k < N && merges; ++k) merges = strides_[k].back() == strides[k][d] * sizes[d];
      if (merges) {
        sizes_.back() *= sizes[d];
        for (int k = 0; k < N; ++k) strides_[k].back() = strides[k][d];
      } else {
        sizes_.push_back(sizes[d]);
        for (int k = 0; k < N; ++k) strides_[k].push_back(strides[k][d]);
      }
    }
    if (sizes_.empty()) {
      sizes_.push_back(1);
      for (int k = 0; k < N; ++k) strides_[k].push_back(1);
    }
  }

  /// Calls run(count, offsets, steps) for pieces that cover every element once, on several threads.
  template <class Run>
  void operator()(Run&& run) const {
    weighted(1, run);
  }
  /// The same where an element costs as much as `weight` ordinary ones.
  template <class Run>
  void weighted(std::int64_t weight, Run&& run) const {
    const std::int64_t grain = std::max<std::int64_t>(kGrain / weight, 1);
    parallel_for(0, numel_, grain, [&](std::int64_t begin, std::int64_t end) { piece(begin, end, run); });
  }
  /// The same on this thread.
  template <class Run>
  void serial(Run&& run) const {
    if (is_line()) {
      Offsets steps;
      for (int k = 0; k < N; ++k) steps[k] = strides_[k][0];
      run(sizes_[0], Offsets{}, steps);
    } else {
      piece(0, numel_, run);
    }
  }

  /// Whether one run covers everything.
  bool is_line() const { return sizes_.size() == 1; }
  /// Whether the elements of a run lie next to each other in every array.
  bool is_unit() const {
    for (int k = 0; k < N; ++k)
      if (strides_[k].back() != 1) return false;
    return true;
  }
  std::int64_t run_length() const { return sizes_.back(); }

 private:
  template <class Run>
  void piece(std::int64_t begin, std::int64_t end, Run& run) const {
    const std::size_t inner = sizes_.size() - 1;
    DimVector at(sizes_.size(), 0);
    Offsets offsets{}, steps;
    std::int64_t rest = begin;
    for (std::size_t d = sizes_.size(); d-- > 0;) {
      at[d] = rest % sizes_[d];
      rest /= sizes_[d];
      for (int k = 0; k < N; ++k) offsets[k] += at[d] * strides_[k][d];
    }
    for (int k = 0; k < N; ++k) steps[k] = strides_[k][inner];
    while (true) {
      const std::int64_t count = std::min(sizes_[inner] - at[inner], end - begin);
      run(count, offsets, steps);
      begin += count;
      if (begin >= end) return;
      // A run that does not end the piece ended its row.
      for (int k = 0; k < N; ++k) offsets[k] -= at[inner] * steps[k];
      at[inner] = 0;
      for (std::size_t d = inner; d-- > 0;) {
        for (int k = 0; k < N; ++k) offsets[k] += strides_[k][d];
        if (++at[d] < sizes_[d]) break;
        for (int k = 0; k < N; ++k) offsets[k] -= sizes_[d] * strides_[k][d];
        at[d] = 0;
      }
    }
  }

  std::int64_t numel_;
  DimVector sizes_;
  std::array<DimVector, N> strides_;
};

/// Calls f with a value of the unsigned integer type of that many bytes: for moves, only the size matters.
template <class F>
void visit_width(std::int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

}  // namespace ebb::cpu
