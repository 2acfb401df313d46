// Tiles of scores on the CPU: masks, exponentials, dropout, and packing for matrix products.
#pragma once

#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/tile.h"
#include "kernel/cpu/transpose.h"
#include "ops/attention/geometry.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ebb::cpu::attention {

using ebb::attention::Mask;
using ebb::attention::MaskKind;
using ebb::attention::Rows;
using ebb::attention::Sizes;
using ebb::attention::Weights;
using tiles::kWidth;
using tiles::padded;
using tiles::product;

constexpr std::int64_t kQueries = 48, kKeys = 128;  // the sizes of a tile

/// Returns the number of jobs, each of `work` multiplications, that justify one more thread.
inline std::int64_t grain_for(std::int64_t work) {
  return std::max<std::int64_t>(1, 4 * kGrain / std::max<std::int64_t>(work, 1));
}

/// Returns e^x for x <= 0 or NaN, with an error of about 1 ulp; results that would be subnormal are 0. The
/// compiler can vectorise it: e^x = 2^n e^r with |r| <= log(2) / 2 (Cody & Waite 1980), where e^r is computed
/// by a series.
inline float exp_of(float x) {
  constexpr float least = -87.33654f, shift = 12582912.f;  // the shift leaves n in the low bits
  const float in = x < least ? least : x;
  const float moved = in * 1.44269504f + shift, n = moved - shift;
  const float r = (in - n * 0.693145751953125f) - n * 1.428606765330187e-6f;
  float sum = 1.f / 5040;
  sum = sum * r + 1.f / 720;
  sum = sum * r + 1.f / 120;
  sum = sum * r + 1.f / 24;
  sum = sum * r + 1.f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1;
  sum = sum * r + 1;
  const float power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(moved) << 23) + 0x3f800000u);
  return x < least ? 0.f : sum * power;
}
inline double exp_of(double x) { return std::exp(x); }

/// Computes row[j] = e^(row[j] - top).
template <class C>
void exp_row(C* row, std::int64_t n, C top) {
  for (std::int64_t j = 0; j < n; ++j) row[j] = exp_of(row[j] - top);
}

template <class C>
Eigen::Map<Eigen::Array<C, Eigen::Dynamic, 1>> array_of(C* row, std::int64_t n) {
  return {row, n};
}

template <class C>
bool all_finite(C* row, std::int64_t n) {
  return (array_of(row, n) * C(0)).sum() == 0;
}

/// Sets to[j] = from[j] * factor for j < n, and to[j] = 0 for n <= j < width.
template <class T, class C>
void pack_row(C* to, const T* from, std::int64_t n, std::int64_t width, C factor) {
  convert_contiguous(to, from, n);
  for (std::int64_t j = 0; j < n; ++j) to[j] *= factor;
  for (std::int64_t j = n; j < width; ++j) to[j] = 0;
}

/// Packs rows as the columns of a matrix of kKeys columns. Missing columns are zeros.
template <class T, class C>
void pack_columns(C* to, const T* from, std::int64_t step, std::int64_t rows, std::int64_t width) {
  if constexpr (std::is_same_v<T, C>) {
    transpose(from, step, rows, width, to, kKeys);
  } else {  // converts blocks of rows and columns to the compute type
    constexpr std::int64_t kRows = kWidth<C>, kColumns = 64;
    C lines[kRows * kColumns];
    for (std::int64_t j = 0; j < rows; j += kRows)
      for (std::int64_t e = 0; e < width; e += kColumns) {
        const std::int64_t height = std::min(kRows, rows - j), columns = std::min(kColumns, width - e);
        for (std::int64_t r = 0; r < height; ++r)
          convert_contiguous(lines + r * kColumns, from + (j + r) * step + e, columns);
        transpose(lines, kColumns, height, columns, to + e * kKeys + j, kKeys);
      }
  }
  if (rows < kKeys)
    for (std::int64_t e = 0; e < width; ++e) std::fill(to + e * kKeys + rows, to + (e + 1) * kKeys, C(0));
}

/// The position of a tile.
struct TilePosition {
  std::int64_t batch, head, query, key;  // the first query and the first key
  std::int64_t rows, columns;
};

template <class T>
class Scores {
 public:
  using C = Compute<T>;
  static constexpr C kNone = -std::numeric_limits<C>::infinity();

  Scores(const Sizes& sizes, const ops::AttentionRule& rule)
      : sizes_(sizes), mask_(rule.mask), causal_(rule.causal) {
    if (rule.dropout) weights_.emplace(*rule.dropout, sizes.keys);
  }
  bool drops() const { return weights_.has_value(); }
  /// Returns whether hides() can be true.
  bool can_hide() const { return mask_.kind == MaskKind::allowed; }

  /// Applies the masks to a tile of scores.
  void mask(C* scores, const TilePosition& at) const {
    for (std::int64_t i = 0; i < at.rows; ++i) {
      C* const row = scores + i * kKeys;
      if (mask_.kind != MaskKind::none) {
        const std::int64_t first = mask_.row(at.batch, at.head, at.query + i) + at.key * mask_.steps[3];
        if (mask_.kind == MaskKind::allowed)
          allow(row, static_cast<const bool*>(mask_.data) + first, at.columns);
        else if (mask_.kind == MaskKind::added_floats)
          add(row, static_cast<const float*>(mask_.data) + first, at.columns);
        else
          add(row, static_cast<const T*>(mask_.data) + first, at.columns);
      }
      if (causal_)
        for (std::int64_t j = std::max<std::int64_t>(at.query + i + 1 - at.key, 0); j < at.columns; ++j)
          row[j] = kNone;
    }
  }
  /// Multiplies a tile by the factors of dropout, if there is dropout.
  void drop(C* tile, const TilePosition& at) const {
    if (!weights_) return;
    for (std::int64_t i = 0; i < at.rows; ++i) {
      const std::int64_t row = (at.batch * sizes_.heads + at.head) * sizes_.queries + at.query + i;
      for (std::int64_t j = 0; j < at.columns; j += 4) {  // tiles begin at multiples of 4
        C group[4] = {1, 1, 1, 1};
        weights_->drop(row, (at.key + j) / 4, group);
        for (std::int64_t k = 0; k < 4 && j + k < at.columns; ++k) tile[i * kKeys + j + k] *= group[k];
      }
    }
  }
  /// Returns whether a Bool mask hides all keys of a tile from all its queries.
  bool hides(const TilePosition& at) const {
    if (!can_hide()) return false;
    const auto* const allowed = static_cast<const bool*>(mask_.data) + at.key * mask_.steps[3];
    const std::int64_t rows = mask_.steps[2] == 0 ? 1 : at.rows;
    for (std::int64_t i = 0; i < rows; ++i) {
      int any = 0;
      const bool* const row = allowed + mask_.row(at.batch, at.head, at.query + i);
      each(at.columns, [&](std::int64_t, std::int64_t j) { any |= row[j]; });
      if (any != 0) return false;
    }
    return true;
  }
  /// Returns the end of the keys that the queries [query, query + rows) can see.
  std::int64_t end_of_keys(std::int64_t query, std::int64_t rows) const {
    return causal_ ? std::min(sizes_.keys, query + rows) : sizes_.keys;
  }
  /// Returns the first query of the first tile whose queries can see the key.
  std::int64_t first_query(std::int64_t key) const { return causal_ ? key / kQueries * kQueries : 0; }

 private:
  void allow(C* row, const bool* allowed, std::int64_t n) const {
    each(n, [=](std::int64_t j, std::int64_t at) { row[j] = allowed[at] ? row[j] : kNone; });
  }
  template <class M>
  void add(C* row, const M* values, std::int64_t n) const {
    each(n, [=](std::int64_t j, std::int64_t at) { row[j] += static_cast<C>(values[at]); });
  }
  /// Calls f(j, position of element j of a row of the mask) for j < n. The compiler vectorises the loop over
  /// contiguous elements.
  template <class F>
  void each(std::int64_t n, F&& f) const {
    const std::int64_t step = mask_.steps[3];
    if (step == 1)
      for (std::int64_t j = 0; j < n; ++j) f(j, j);
    else
      for (std::int64_t j = 0; j < n; ++j) f(j, j * step);
  }

  Sizes sizes_;
  Mask mask_;
  bool causal_;
  optional<Weights> weights_;
};

}  // namespace ebb::cpu::attention
