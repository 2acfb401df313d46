// Common parts of the gradients of attention: padded rows of queries and gradients, and the gradients of
// scores.
//
// With weights p = e^(score - log_sum), factors m of dropout and the gradient g of the result:
//   dvalue = (p m)^T g,  dscore = p (m (g value^T) - delta),  delta = the sum of g * result over a row,
//   dquery = scale dscore key,  dkey = scale dscore^T query,  dmask = dscore.
#pragma once

#include "ops/attention/cpu_scores.h"

#include <vector>

namespace ebb::cpu::attention {

/// The queries (multiplied by the scale) and the result's gradient as padded rows (N, H, L, .), and delta (N,
/// H, L).
template <class T>
struct PackedRows {
  using C = Compute<T>;
  std::int64_t width, value_width;
  NdArray queries, grads, delta;
  const C* log_sum;
  std::vector<char> finite;  // if a mask can hide keys: whether the queries of each tile add no NaN to these

  PackedRows(const Sizes& s, const NdArray& grad, const ops::AttentionSaved& call)
      : width(padded<C>(s.width)),
        value_width(padded<C>(s.value_width)),
        queries(NdArray::empty({s.batch * s.heads * s.queries, width}, dtype_of<C>())),
        grads(NdArray::empty({s.batch * s.heads * s.queries, value_width}, dtype_of<C>())),
        delta(NdArray::empty({s.batch * s.heads * s.queries}, dtype_of<C>())),
        log_sum(call.log_sum.address_as<C>()) {
    pack(s, grad, call);
    if (call.rule.mask.defined() && call.rule.mask.dtype() == kBool) find_finite(s);
  }
  C* query(std::int64_t row) const { return queries.address_as<C>() + row * width; }
  C* gradient(std::int64_t row) const { return grads.address_as<C>() + row * value_width; }
  /// Returns the index in `finite` of the tile that begins at a query of a head.
  static std::int64_t tile(const Sizes& s, const TilePosition& at) {
    return (at.batch * s.heads + at.head) * ceil_div(s.queries, kQueries) + at.query / kQueries;
  }

 private:
  void pack(const Sizes& s, const NdArray& grad, const ops::AttentionSaved& call) {
    const Rows<const T> from(call.query), g(grad), y(call.result);
    parallel_for(0, s.batch * s.heads * s.queries, grain_for(s.width + 2 * s.value_width),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const std::int64_t n = i / s.queries / s.heads, h = i / s.queries % s.heads,
                                        row = i % s.queries;
                     pack_row(query(i), from.at(n, h, row), s.width, width, static_cast<C>(call.rule.scale));
                     const T *const g_row = g.at(n, h, row), *const result = y.at(n, h, row);
                     pack_row(gradient(i), g_row, s.value_width, value_width, C(1));
                     C sum = 0;
                     for (std::int64_t e = 0; e < s.value_width; ++e)
                       sum += static_cast<C>(g_row[e]) * static_cast<C>(result[e]);
                     delta.address_as<C>()[i] = sum;
                   }
                 });
  }
  // The weight of a hidden key is e^(-inf - log_sum), which is not 0 if log_sum is NaN.
  void find_finite(const Sizes& s) {
    for (std::int64_t head = 0; head < s.batch * s.heads; ++head)
      for (std::int64_t first = 0; first < s.queries; first += kQueries) {
        const std::int64_t row = head * s.queries + first, count = std::min(kQueries, s.queries - first);
        bool plain = all_finite(query(row), count * width) &&
                     all_finite(gradient(row), count * value_width) &&
                     all_finite(delta.address_as<C>() + row, count);
        for (std::int64_t i = row; i < row + count; ++i) plain = plain && log_sum[i] > Scores<T>::kNone;
        finite.push_back(plain);
      }
  }
};

/// One tile of keys and values as columns. load() also stores the keys as rows if the caller needs them.
template <class T>
struct KeyTile {
  using C = Compute<T>;
  NdArray memory;
  C *keys, *values, *key_rows;
  bool finite = false;  // whether all keys and values are, if the caller asked for it

  explicit KeyTile(const Sizes& s)
      : memory(NdArray::empty({kKeys, padded<C>(s.width) + s.width + s.value_width}, dtype_of<C>())),
        keys(memory.address_as<C>()),
        values(keys + kKeys * s.width),
        key_rows(values + kKeys * s.value_width) {}
  /// Loads the keys and values [at.key, at.key + at.columns) that the query head at.head uses.
  void load(const Sizes& s, const Rows<const T>& key, const Rows<const T>& value, const TilePosition& at,
            bool with_rows, bool check_finite = false) {
    const std::int64_t head = at.head / s.shared;
    pack_columns(keys, key.at(at.batch, head, at.key), key.step, at.columns, s.width);
    pack_columns(values, value.at(at.batch, head, at.key), value.step, at.columns, s.value_width);
    if (with_rows)
      for (std::int64_t j = 0; j < at.columns; ++j)
        pack_row(key_rows + j * padded<C>(s.width), key.at(at.batch, head, at.key + j), s.width,
                 padded<C>(s.width), C(1));
    finite = check_finite && all_finite(keys, kKeys * (s.width + s.value_width));
  }
};

/// The weights of a tile and the gradients of its scores.
template <class T>
struct ScoreGrads {
  using C = Compute<T>;
  NdArray memory;
  C *weights, *score_grads, *factors;  // [kQueries][kKeys]; `weights` include dropout

  ScoreGrads()
      : memory(NdArray::empty({3, kQueries, kKeys}, dtype_of<C>())),
        weights(memory.address_as<C>()),
        score_grads(weights + kQueries * kKeys),
        factors(score_grads + kQueries * kKeys) {}

  void fill(const Sizes& s, const Scores<T>& scores, const PackedRows<T>& rows, const KeyTile<T>& tile,
            const TilePosition& at) {
    const std::int64_t first = (at.batch * s.heads + at.head) * s.queries + at.query;
    product<C>(at.rows, at.columns, s.width, {rows.query(first), rows.width, 1}, tile.keys, kKeys, weights,
               kKeys, false);
    scores.mask(weights, at);
    for (std::int64_t i = 0; i < at.rows; ++i)
      exp_row(weights + i * kKeys, at.columns, rows.log_sum[first + i]);
    product<C>(at.rows, at.columns, s.value_width, {rows.gradient(first), rows.value_width, 1}, tile.values,
               kKeys, score_grads, kKeys, false);
    if (scores.drops()) {
      std::fill(factors, factors + at.rows * kKeys, C(1));
      scores.drop(factors, at);
    }
    for (std::int64_t i = 0; i < at.rows; ++i) {
      C *const p = weights + i * kKeys, *const dscore = score_grads + i * kKeys,
               *const m = factors + i * kKeys;
      const C delta = rows.delta.template address_as<C>()[first + i];
      if (!scores.drops()) {
        for (std::int64_t j = 0; j < at.columns; ++j) dscore[j] = p[j] * (dscore[j] - delta);
        continue;
      }
      for (std::int64_t j = 0; j < at.columns; ++j) {
        dscore[j] = p[j] * (m[j] * dscore[j] - delta);
        p[j] *= m[j];
      }
    }
  }
};

}  // namespace ebb::cpu::attention
