// Sums and products of 16-bit floats, and long sums of floats, in double. A sum of ones stops growing at
// 2,048 in f16, at 256 in bf16, and at 2^24 in float.
#pragma once

#include "kernel/convert.h"
#include "kernel/cpu/scratch.h"
#include "kernel/cpu/walk.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ebb::cpu {

/// A float sum of more terms than this is accumulated in double.
constexpr std::int64_t kMostFloatTerms = 1024;

/// Returns whether one of the destinations may occur more than kMostFloatTerms times. It counts the
/// destinations in each hash bucket, so it may also return true for distinct destinations in the same bucket.
inline bool may_repeat_often(const std::int64_t* places, std::int64_t n, std::int64_t step = 1) {
  if (n <= kMostFloatTerms) return false;
  const int bits = std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n / 64))), 4, 14);
  std::vector<std::int64_t> met(std::size_t{1} << bits);
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
  for (std::int64_t j = 0; j < n; ++j)
    ++met[static_cast<std::uint64_t>(places[j * step]) * kSpread >> (64 - bits)];
  return *std::max_element(met.begin(), met.end()) > kMostFloatTerms;
}

/// Row numbers grouped by destination, in their original order within a group.
class RowsByDestination {
 public:
  RowsByDestination(const std::int64_t* places, std::int64_t rows) : order_(static_cast<std::size_t>(rows)) {
    const auto [low, high] = std::minmax_element(places, places + rows);
    const std::int64_t range = *high - *low + 1;
    if (range <= 4 * rows) {
      count_into(places, *low, range);
    } else {
      std::iota(order_.begin(), order_.end(), std::int64_t{0});
      std::stable_sort(order_.begin(), order_.end(),
                       [&](std::int64_t a, std::int64_t b) { return places[a] < places[b]; });
    }
    for (std::int64_t k = 0; k < rows; ++k)
      if (k == 0 || places[order_[k]] != places[order_[k - 1]]) begins_.push_back(k);
    begins_.push_back(rows);
  }

  std::int64_t groups() const { return static_cast<std::int64_t>(begins_.size()) - 1; }
  const std::int64_t* begin(std::int64_t group) const { return order_.data() + begins_[group]; }
  const std::int64_t* end(std::int64_t group) const { return order_.data() + begins_[group + 1]; }

 private:
  void count_into(const std::int64_t* places, std::int64_t low, std::int64_t range) {
    std::vector<std::int64_t> next(static_cast<std::size_t>(range) + 1, 0);
    for (std::size_t j = 0; j < order_.size(); ++j) ++next[places[j] - low + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t j = 0; j < order_.size(); ++j)
      order_[next[places[j] - low]++] = static_cast<std::int64_t>(j);
  }

  std::vector<std::int64_t> order_, begins_;
};

/// Computes to[offset[j]] += from[j * value_row] in double, and rounds each element of `to` once. The offsets
/// are in [low, low + range).
template <class T>
void sum_elements(T* to, const T* from, const std::int64_t* offset, std::int64_t rows, std::int64_t value_row,
                  std::int64_t low, std::int64_t range) {
  std::vector<double> wide(static_cast<std::size_t>(range));
  std::vector<char> met(wide.size());  // only elements that an offset names are written
  for (std::int64_t j = 0; j < rows; ++j) {
    const auto place = static_cast<std::size_t>(offset[j] - low);
    if (!met[place]) wide[place] = static_cast<float>(to[offset[j]]);
    met[place] = 1;
    wide[place] += static_cast<float>(from[j * value_row]);
  }
  for (std::size_t place = 0; place < wide.size(); ++place)
    if (met[place])
      to[low + static_cast<std::int64_t>(place)] = static_cast<T>(static_cast<float>(wide[place]));
}

/// Computes to[offset[j] + ...] += from[j * value_row + ...] over the elements of a row, in double, and
/// rounds each element of `to` once.
template <class T>
void sum_rows(T* to, const T* from, const std::int64_t* offset, std::int64_t rows, std::int64_t value_row,
              const Walk<2>& row, std::int64_t row_size) {
  constexpr std::int64_t kPiece = 256;
  if (row_size == 1) {
    const auto [low, high] = std::minmax_element(offset, offset + rows);
    if (const std::int64_t range = *high - *low + 1; range <= rows)
      return sum_elements(to, from, offset, rows, value_row, *low, range);
  }
  const RowsByDestination by_destination(offset, rows);
  const auto sum_run = [&](std::int64_t group, std::int64_t n, const std::array<std::int64_t, 2>& at,
                           const std::array<std::int64_t, 2>& step) {
    double sums[kPiece];
    T* o = to + offset[*by_destination.begin(group)] + at[0];
    for (std::int64_t done = 0; done < n; done += kPiece, o += kPiece * step[0]) {
      const std::int64_t count = std::min(kPiece, n - done);
      for (std::int64_t k = 0; k < count; ++k) sums[k] = static_cast<float>(o[k * step[0]]);
      for (const std::int64_t* j = by_destination.begin(group); j != by_destination.end(group); ++j) {
        const T* const v = from + *j * value_row + at[1] + done * step[1];
        if (step[1] == 1)
          for (std::int64_t k = 0; k < count; ++k) sums[k] += static_cast<float>(v[k]);
        else
          for (std::int64_t k = 0; k < count; ++k) sums[k] += static_cast<float>(v[k * step[1]]);
      }
      for (std::int64_t k = 0; k < count; ++k) o[k * step[0]] = static_cast<T>(static_cast<float>(sums[k]));
    }
  };
  // A long row is divided among threads as well, because all rows may go to one destination.
  const std::int64_t pieces = row.is_line() ? (row_size + kPiece - 1) / kPiece : 1;
  const std::int64_t tasks = by_destination.groups() * pieces;
  const std::int64_t grain = std::max<std::int64_t>(kGrain * tasks / (rows * row_size), 1);
  parallel_for(0, tasks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t group = task / pieces, piece = task % pieces;
      row.serial(
          [&](std::int64_t n, std::array<std::int64_t, 2> at, const std::array<std::int64_t, 2>& step) {
            if (pieces == 1) return sum_run(group, n, at, step);
            const std::int64_t first = piece * kPiece;
            at = {at[0] + first * step[0], at[1] + first * step[1]};
            sum_run(group, std::min(kPiece, n - first), at, step);
          });
    }
  });
}

/// The length of a line along the scattered dimension, and the strides of index, src and out along it.
struct ScatterLines {
  std::int64_t length, index_step, src_step, out_step;
};

/// Computes out[index[i]] = merge(out[index[i]], src[i]) along each line in double, and rounds each element
/// of out once. `lines` iterates over the other dimensions of index, src and out; `inside` checks an index.
template <class T, class Merge, class Inside>
void combine_lines(T* to, const std::int64_t* index, const T* from, const Walk<3>& lines,
                   const ScatterLines& along, std::int64_t size, Merge merge, Inside inside) {
  constexpr std::int64_t kTogether = 8;  // neighbouring lines, which share cache lines
  lines.weighted(along.length, [&](std::int64_t count, const std::array<std::int64_t, 3>& at,
                                   const std::array<std::int64_t, 3>& step) {
    const std::int64_t together = step[0] == 1 || step[2] == 1 ? std::min(kTogether, count) : 1;
    // The memory is not initialized, because only elements that were loaded from out are used.
    const Scratch<double> wide(size * together);
    for (std::int64_t first = 0; first < count; first += together) {
      const std::int64_t n = std::min(together, count - first);
      const std::int64_t* const places = index + at[0] + first * step[0];
      const T* const values = from + at[1] + first * step[1];
      T* const o = to + at[2] + first * step[2];
      const auto each = [&](auto&& body) {
        if (n == 1)
          for (std::int64_t i = 0; i < along.length; ++i) body(i, 0, places[i * along.index_step]);
        else
          for (std::int64_t i = 0; i < along.length; ++i)
            for (std::int64_t l = 0; l < n; ++l) body(i, l, places[i * along.index_step + l * step[0]]);
      };
      // Calls body(l, place) for the elements of out to load or store. If the index is at least as long as
      // the line, these are all elements of line l, and the index is not read. Otherwise they are the
      // elements that the index names.
      const auto each_place = [&](auto&& body) {
        if (along.length < size)
          return each([&](std::int64_t, std::int64_t l, std::int64_t place) { body(l, inside(place)); });
        for (std::int64_t place = 0; place < size; ++place)
          for (std::int64_t l = 0; l < n; ++l) body(l, place);
      };
      each_place([&](std::int64_t l, std::int64_t place) {
        wide[place * together + l] = static_cast<float>(o[place * along.out_step + l * step[2]]);
      });
      each([&](std::int64_t i, std::int64_t l, std::int64_t place) {
        double& result = wide[inside(place) * together + l];
        result = merge(result, static_cast<float>(values[i * along.src_step + l * step[1]]));
      });
      each_place([&](std::int64_t l, std::int64_t place) {
        o[place * along.out_step + l * step[2]] =
            static_cast<T>(static_cast<float>(wide[place * together + l]));
      });
    }
  });
}

}  // namespace ebb::cpu
