// The forward pass of attention on the CPU. For each tile of queries the loop iterates over the tiles of
// keys; the softmax is rescaled when a larger score appears (Milakov & Gimelshein 2018, online normalizer).
#include <ebb/core/visit.h>

#include "ops/attention/cpu_scores.h"

#include <optional>
#include <utility>
#include <vector>

namespace ebb::cpu {
namespace attention {
namespace {

/// All keys as columns and all values as padded rows. They are packed once, and each tile of queries reads
/// them.
template <class T>
struct Packed {
  using C = Compute<T>;
  std::int64_t tiles, width, value_width;
  NdArray keys, values;
  std::vector<char> finite;  // with a Bool mask: whether all values of each tile are finite

  Packed(const Sizes& s, const NdArray& key, const NdArray& value, const NdArray& mask)
      : tiles(ceil_div(s.keys, kKeys)),
        width(s.width),
        value_width(padded<C>(s.value_width)),
        keys(NdArray::empty({s.batch * s.key_heads() * tiles, width, kKeys}, dtype_of<C>())),
        values(NdArray::empty({s.batch * s.key_heads() * tiles, kKeys, value_width}, dtype_of<C>())),
        finite(mask.defined() && mask.dtype() == kBool ? s.batch * s.key_heads() * tiles : 0) {
    const Rows<const T> from(key), at(value);
    parallel_for(0, s.batch * s.key_heads() * tiles, grain_for(kKeys * (s.width + s.value_width)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t job = begin; job < end; ++job) {
                     const std::int64_t head = job / tiles % s.key_heads(), n = job / tiles / s.key_heads();
                     const std::int64_t first = job % tiles * kKeys, rows = std::min(kKeys, s.keys - first);
                     pack_columns(key_tile(job), from.at(n, head, first), from.step, rows, width);
                     for (std::int64_t j = 0; j < rows; ++j)
                       pack_row(value_tile(job) + j * value_width, at.at(n, head, first + j), s.value_width,
                                value_width, C(1));
                     if (!finite.empty())
                       finite[static_cast<std::size_t>(job)] =
                           all_finite(value_tile(job), rows * value_width);
                   }
                 });
  }
  C* key_tile(std::int64_t tile) const { return keys.address_as<C>() + tile * width * kKeys; }
  C* value_tile(std::int64_t tile) const { return values.address_as<C>() + tile * kKeys * value_width; }
};

/// Accumulators in double. After every kRun keys the float sums are added to them, because a float sum over
/// ten million keys would lose the low digits of each addend.
class RunSums {
 public:
  static constexpr std::int64_t kRun = 64 * kKeys;

  RunSums(std::int64_t rows, std::int64_t width)
      : width_(width), sums_(static_cast<std::size_t>(rows * width)) {}
  void clear() { std::fill(sums_.begin(), sums_.end(), 0.0); }
  void scale(std::int64_t row, double factor) {
    for (double* sum = at(row); sum != at(row + 1); ++sum) *sum *= factor;
  }
  /// Adds sums[0], ..., sums[count - 1] to the columns [from, from + count) of a row, and sets them to zero.
  template <class C>
  void take(std::int64_t row, std::int64_t from, C* sums, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      at(row)[from + i] += static_cast<double>(std::exchange(sums[i], C(0)));
  }
  template <class C>
  void give(std::int64_t row, std::int64_t from, C* sums, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i)
      sums[i] = static_cast<C>(sums_[static_cast<std::size_t>(row * width_ + from + i)]);
  }

 private:
  double* at(std::int64_t row) { return sums_.data() + row * width_; }

  std::int64_t width_;
  std::vector<double> sums_;
};

/// The running softmax and result of a tile of queries.
template <class T>
class Forward {
 public:
  using C = Compute<T>;

  Forward(const Sizes& sizes, const Packed<T>& packed, const Scores<T>& scores)
      : sizes_(sizes),
        packed_(packed),
        scores_(scores),
        width_(padded<C>(sizes.width)),
        value_width_(packed.value_width),
        memory_(NdArray::empty({kQueries, width_ + kKeys + value_width_ + 2}, dtype_of<C>())),
        query_(memory_.address_as<C>()),
        tile_(query_ + kQueries * width_),
        sum_(tile_ + kQueries * kKeys),
        top_(sum_ + kQueries * value_width_),
        total_(top_ + kQueries) {
    if (std::is_same_v<C, float> && sizes.keys > RunSums::kRun) runs_.emplace(kQueries, value_width_ + 1);
  }

  void run(TilePosition at, const Rows<const T>& query, C scale, T* result, C* log_sum) {
    for (std::int64_t i = 0; i < at.rows; ++i)
      pack_row(query_ + i * width_, query.at(at.batch, at.head, at.query + i), sizes_.width, width_, scale);
    std::fill(sum_, sum_ + at.rows * value_width_, C(0));
    std::fill(top_, top_ + at.rows, Scores<T>::kNone);
    std::fill(total_, total_ + at.rows, C(0));
    if (runs_) runs_->clear();
    const std::int64_t end = scores_.end_of_keys(at.query, at.rows);
    const std::int64_t first = (at.batch * sizes_.key_heads() + at.head / sizes_.shared) * packed_.tiles;
    for (at.key = 0; at.key < end; at.key += kKeys) {
      at.columns = std::min(kKeys, end - at.key);
      const std::int64_t tile = first + at.key / kKeys;
      // A hidden key has the weight 0, and adds NaN to the result only if its value is not finite.
      if (!scores_.hides(at) || !packed_.finite[static_cast<std::size_t>(tile)]) add_keys(at, tile);
      if (runs_ && (at.key + kKeys) % RunSums::kRun == 0) end_run(at.rows);
    }
    if (runs_) {
      end_run(at.rows);
      for (std::int64_t i = 0; i < at.rows; ++i) {
        runs_->give(i, 0, sum_ + i * value_width_, value_width_);
        runs_->give(i, value_width_, total_ + i, 1);
      }
    }
    for (std::int64_t i = 0; i < at.rows; ++i) {
      const C total = total_[i], factor = total == C(0) ? C(0) : C(1) / total;
      for (std::int64_t e = 0; e < sizes_.value_width; ++e)
        result[i * sizes_.value_width + e] = static_cast<T>(sum_[i * value_width_ + e] * factor);
      log_sum[i] = total == C(0) ? std::numeric_limits<C>::infinity() : top_[i] + std::log(total);
    }
  }

 private:
  void add_keys(const TilePosition& at, std::int64_t tile) {
    product<C>(at.rows, at.columns, sizes_.width, {query_, width_, 1}, packed_.key_tile(tile), kKeys, tile_,
               kKeys, false);
    scores_.mask(tile_, at);
    for (std::int64_t i = 0; i < at.rows; ++i) {
      C* const row = tile_ + i * kKeys;
      const C largest = array_of(row, at.columns).maxCoeff(), before = top_[i];
      if (largest > before) top_[i] = largest;
      const C base = top_[i] == Scores<T>::kNone ? C(0) : top_[i];
      exp_row(row, at.columns, base);
      const C factor = exp_of(before - base);
      total_[i] = total_[i] * factor + array_of(row, at.columns).sum();
      if (factor == C(1)) continue;
      array_of(sum_ + i * value_width_, value_width_) *= factor;
      if (runs_) runs_->scale(i, static_cast<double>(factor));
    }
    scores_.drop(tile_, at);
    product<C>(at.rows, sizes_.value_width, at.columns, {tile_, kKeys, 1}, packed_.value_tile(tile),
               value_width_, sum_, value_width_, true);
  }

  void end_run(std::int64_t rows) {
    for (std::int64_t i = 0; i < rows; ++i) {
      runs_->take(i, 0, sum_ + i * value_width_, value_width_);
      runs_->take(i, value_width_, total_ + i, 1);
    }
  }

  const Sizes& sizes_;
  const Packed<T>& packed_;
  const Scores<T>& scores_;
  std::int64_t width_, value_width_;
  NdArray memory_;
  C *query_, *tile_, *sum_, *top_, *total_;
  std::optional<RunSums> runs_;  // only for float sums over more than kRun keys
};

template <class T>
void forward(ops::AttentionSaved& call) {
  using C = Compute<T>;
  const Sizes s(call);
  const Scores<T> scores(s, call.rule);
  const Packed<T> packed(s, call.key, call.value, call.rule.mask);
  const Rows<const T> query(call.query);
  const std::int64_t tiles = ceil_div(s.queries, kQueries);
  const std::int64_t work = std::min(kQueries, s.queries) * s.keys * (s.width + s.value_width + 8);
  parallel_for(0, s.batch * s.heads * tiles, grain_for(work), [&](std::int64_t begin, std::int64_t end) {
    Forward<T> tile(s, packed, scores);
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t first = job % tiles * kQueries, head = job / tiles;
      const TilePosition at{
          head / s.heads, head % s.heads, first, 0, std::min(kQueries, s.queries - first), 0};
      const std::int64_t row = head * s.queries + first;
      tile.run(at, query, static_cast<C>(call.rule.scale),
               call.result.template address_as<T>() + row * s.value_width,
               call.log_sum.template address_as<C>() + row);
    }
  });
}

}  // namespace
}  // namespace attention

void attention_forward(ops::AttentionSaved& call) {
  visit_floating(call.query.dtype(), "scaled_dot_product_attention",
                 [&]<class T> { attention::forward<T>(call); });
}

void attention_dropout(NdArray& out, const random::Dropout& rule) {
  const std::int64_t keys = out.sizes()[3], rows = keys == 0 ? 0 : out.numel() / keys;
  visit_float_double(out.dtype(), "scaled_dot_product_attention", [&]<class C> {
    const attention::Weights weights(rule, keys);
    parallel_for(0, rows, attention::grain_for(keys * 8), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t j = 0; j < keys; j += 4) {
          C group[4] = {1, 1, 1, 1};
          weights.drop(row, j / 4, group);
          for (std::int64_t k = 0; k < 4 && j + k < keys; ++k)
            out.address_as<C>()[row * keys + j + k] = group[k];
        }
    });
  });
}

}  // namespace ebb::cpu
