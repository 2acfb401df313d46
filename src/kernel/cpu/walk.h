// Iterates over the elements of N arrays of the same shape, as runs with constant strides.
#pragma once

#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/element_types.h"
#include "kernel/strided_dims.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace ebb::cpu {

/// The common shape of N arrays, with as few dimensions as possible. The dimensions are sorted by the strides
/// of the first array. Dimensions of size 1 are dropped. Dimensions that are adjacent in the memory of all
/// arrays are merged.
template <int N>
class Walk {
 public:
  using Offsets = std::array<std::int64_t, N>;

  Walk(IntArrayRef sizes, const std::array<IntArrayRef, N>& strides) : numel_(checked_numel(sizes)) {
    const auto rank = [&](int d) { return std::abs(strides[0][d]); };
    merge_dims<N>(
        sizes, nesting_order(sizes, rank), [&](int k, int d) { return strides[k][d]; },
        [&](std::int64_t size, const Offsets& steps) {
          sizes_.push_back(size);
          strides_.push_back(steps);
        });
    if (sizes_.empty()) {
      sizes_.push_back(1);
      strides_.push_back({});
      strides_[0].fill(1);
    }
  }

  /// Calls run(count, offsets, steps) for runs that together cover every element once, on several threads.
  template <class Run>
  void operator()(Run&& run) const {
    weighted(1, run);
  }
  /// Like operator(), for elements that each cost as much as `weight` ordinary elements. A run uses n
  /// elements of each cache line: n = 1 if an innermost stride is neither 0 nor 1, otherwise n = min(run
  /// length, 16). The cost of each element is therefore multiplied by 16 / n.
  template <class Run>
  void weighted(std::int64_t weight, Run&& run) const {
    if (numel_ == 0) return;
    constexpr std::int64_t kLine = 16;
    const auto is_near = [](std::int64_t step) { return step == 0 || step == 1; };
    const bool dense = std::all_of(strides_[0].begin(), strides_[0].end(), is_near);
    const std::int64_t together = dense ? std::min(run_length(), kLine) : 1;
    const std::int64_t grain = std::max<std::int64_t>(kGrain / (weight * (kLine / together)), 1);
    parallel_for(0, numel_, grain, [&](std::int64_t begin, std::int64_t end) { piece(begin, end, run); });
  }
  /// Calls run(count, offsets, steps) for all runs on the calling thread.
  template <class Run>
  void serial(Run&& run) const {
    if (is_line())
      run(sizes_[0], Offsets{}, strides_[0]);
    else
      piece(0, numel_, run);
  }

  /// Returns the number of merged dimensions. The innermost is dimension 0.
  std::size_t dims() const { return sizes_.size(); }
  std::int64_t size(std::size_t dim) const { return sizes_[dim]; }
  std::int64_t stride(int array, std::size_t dim) const { return strides_[dim][array]; }
  /// Makes the longest dimension the innermost one if runs have fewer than `few` elements. The start of such
  /// a short run would cost more than its elements.
  void lengthen_runs(std::int64_t few) {
    if (sizes_[0] >= few) return;
    const auto longest = std::max_element(sizes_.begin(), sizes_.end()) - sizes_.begin();
    std::swap(sizes_[0], sizes_[longest]);
    std::swap(strides_[0], strides_[longest]);
  }

  /// Returns whether one run covers all elements.
  bool is_line() const { return sizes_.size() == 1; }
  /// Returns whether the elements of a run are contiguous in every array.
  bool is_unit() const {
    for (int k = 0; k < N; ++k)
      if (strides_[0][k] != 1) return false;
    return true;
  }
  std::int64_t run_length() const { return sizes_[0]; }

 private:
  // The dimensions outside the two innermost ones.
  struct Planes {
    using Places = DimVector;
    const Walk& walk;
    int dims() const { return walk.dims() > 2 ? static_cast<int>(walk.dims()) - 2 : 0; }
    std::int64_t size(int dim) const { return walk.size(dim + 2); }
    std::int64_t stride(int array, int dim) const { return walk.stride(array, dim + 2); }
  };

  template <class Run>
  void piece(std::int64_t begin, std::int64_t end, Run& run) const {
    // The loops over the two innermost dimensions use local copies of sizes and strides, because the compiler
    // would otherwise assume that run() changes them.
    const std::int64_t length = sizes_[0], rows = dims() > 1 ? sizes_[1] : 1;
    const Offsets step = strides_[0], to_next = dims() > 1 ? strides_[1] : Offsets{};
    StridedPosition<N, Planes> plane({*this}, begin / (length * rows));
    Offsets offsets = plane.offsets();
    const auto move = [&](const Offsets& by, std::int64_t times) {
      for (int k = 0; k < N; ++k) offsets[k] += times * by[k];
    };
    std::int64_t skipped = begin % length, row = begin / length % rows;
    move(step, skipped);
    move(to_next, row);
    while (true) {
      if (skipped > 0 || end - begin < length) {  // a part of a run
        const std::int64_t count = std::min(length - skipped, end - begin);
        run(count, offsets, step);
        begin += count;
        if (begin >= end) return;
        move(step, -skipped);
        move(to_next, 1);
        skipped = 0;
        ++row;
      }
      const std::int64_t last = std::min(rows, row + (end - begin) / length);
      begin += (last - row) * length;
      for (; row < last; ++row) {
        run(length, offsets, step);
        move(to_next, 1);
      }
      if (begin >= end) return;
      if (row < rows) continue;
      row = 0;
      plane.advance(1);
      offsets = plane.offsets();
    }
  }

  std::int64_t numel_;
  DimVector sizes_;
  SmallVector<Offsets, 6> strides_;  // strides of the N arrays, one entry per dimension
};

}  // namespace ebb::cpu
