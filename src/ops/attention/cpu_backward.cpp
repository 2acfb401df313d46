// The gradients of query, key and value on the CPU. The outer loop iterates over tiles of keys, the inner
// loop over tiles of queries. Each score is recomputed exactly once.
#include <ebb/core/visit.h>

#include "ops/attention/cpu_score_grads.h"

namespace ebb::cpu {
namespace attention {
namespace {

/// Returns the number of pieces into which the key tiles of a head are divided. It can be more than 1 if
/// batch * key_heads is less than 16, because a large machine then has more threads than heads. Each piece
/// has its own accumulator for dquery, and join_pieces() adds the accumulators in order. The number depends
/// only on the sizes; the results are therefore the same on all machines.
std::int64_t pieces_of(const Sizes& s) {
  constexpr std::int64_t wanted = 16;
  return std::clamp<std::int64_t>(ceil_div(wanted, std::max<std::int64_t>(s.batch * s.key_heads(), 1)), 1,
                                  std::max<std::int64_t>(ceil_div(s.keys, 4 * kKeys), 1));
}

template <class T>
class Backward {
 public:
  using C = Compute<T>;

  Backward(const Sizes& sizes, const ops::AttentionSaved& call, const PackedRows<T>& rows,
           const ops::AttentionGrads& out)
      : sizes_(sizes),
        rows_(rows),
        key_(call.key),
        value_(call.value),
        scores_(sizes, call.rule),
        out_(out),
        tile_(sizes),
        sums_(NdArray::empty({kKeys, rows.width + rows.value_width}, dtype_of<C>())) {}

  /// Processes one tile of keys with all queries that attend to it. `dquery` is the accumulator of the tile's
  /// piece and has the layout of the packed queries. It is null if the gradient of the queries is not needed.
  void run(TilePosition at, C* dquery) {
    tile_.load(sizes_, key_, value_, at, dquery != nullptr, scores_.can_hide());
    C *const dkey = sums_.template address_as<C>(), *const dvalue = dkey + kKeys * rows_.width;
    std::fill(dkey, dvalue + kKeys * rows_.value_width, C(0));
    const std::int64_t first_head = at.head;
    for (; at.head < first_head + sizes_.shared; ++at.head)
      for (at.query = scores_.first_query(at.key); at.query < sizes_.queries; at.query += kQueries) {
        at.rows = std::min(kQueries, sizes_.queries - at.query);
        if (is_skipped(at)) continue;
        grads_.fill(sizes_, scores_, rows_, tile_, at);
        const std::int64_t row = (at.batch * sizes_.heads + at.head) * sizes_.queries + at.query;
        if (out_.value.defined())
          product<C>(at.columns, sizes_.value_width, at.rows, {grads_.weights, 1, kKeys}, rows_.gradient(row),
                     rows_.value_width, dvalue, rows_.value_width, true);
        if (out_.key.defined())
          product<C>(at.columns, sizes_.width, at.rows, {grads_.score_grads, 1, kKeys}, rows_.query(row),
                     rows_.width, dkey, rows_.width, true);
        if (dquery)
          product<C>(at.rows, sizes_.width, at.columns, {grads_.score_grads, kKeys, 1}, tile_.key_rows,
                     rows_.width, dquery + row * rows_.width, rows_.width, true);
      }
    const std::int64_t key =
        (at.batch * sizes_.key_heads() + first_head / sizes_.shared) * sizes_.keys + at.key;
    if (out_.key.defined()) write(out_.key, key, at.columns, sizes_.width, dkey, rows_.width);
    if (out_.value.defined())
      write(out_.value, key, at.columns, sizes_.value_width, dvalue, rows_.value_width);
  }

 private:
  // Hidden keys have the weight 0. A skipped tile would therefore only add zeros, or NaN if a factor is not
  // finite.
  bool is_skipped(const TilePosition& at) const {
    return tile_.finite && scores_.hides(at) &&
           rows_.finite[static_cast<std::size_t>(PackedRows<T>::tile(sizes_, at))] != 0;
  }
  static void write(const NdArray& to, std::int64_t row, std::int64_t rows, std::int64_t width, const C* from,
                    std::int64_t pitch) {
    T* const out = to.address_as<T>() + row * width;
    for (std::int64_t j = 0; j < rows; ++j) convert_contiguous(out + j * width, from + j * pitch, width);
  }

  const Sizes& sizes_;
  const PackedRows<T>& rows_;
  const Rows<const T> key_, value_;
  const Scores<T> scores_;
  const ops::AttentionGrads& out_;
  KeyTile<T> tile_;
  ScoreGrads<T> grads_;
  NdArray sums_;
};

/// Computes out = scale * the sum of the `pieces` accumulators in `sums`, whose rows are `pitch` elements
/// apart.
template <class T>
void join_pieces(NdArray& out, const NdArray& sums, std::int64_t pieces, std::int64_t pitch, double scale) {
  using C = Compute<T>;
  const std::int64_t width = out.sizes()[3], rows = width == 0 ? 0 : out.numel() / width;
  parallel_for(0, rows, grain_for(width * pieces), [&](std::int64_t begin, std::int64_t end) {
    std::vector<C> sum(static_cast<std::size_t>(width));
    for (std::int64_t i = begin; i < end; ++i) {
      C* const from = sums.address_as<C>() + i * pitch;
      std::copy_n(from, width, sum.data());
      for (std::int64_t p = 1; p < pieces; ++p)
        array_of(sum.data(), width) += array_of(from + p * rows * pitch, width);
      array_of(sum.data(), width) *= static_cast<C>(scale);
      convert_contiguous(out.address_as<T>() + i * width, sum.data(), width);
    }
  });
}

template <class T>
void backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call) {
  using C = Compute<T>;
  const Sizes s(call);
  const PackedRows<T> rows(s, grad, call);
  const std::int64_t pieces = pieces_of(s), heads = s.batch * s.key_heads();
  const std::int64_t head_rows = s.shared * s.queries;
  const NdArray sums = out.query.defined()
                           ? NdArray::empty({pieces, heads * head_rows, rows.width}, dtype_of<C>())
                           : NdArray();
  const std::int64_t work = head_rows * ceil_div(s.keys, pieces) * (s.width + s.value_width) * 3;
  parallel_for(0, heads * pieces, grain_for(work), [&](std::int64_t begin, std::int64_t end) {
    Backward<T> tile(s, call, rows, out);
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t head = job / pieces, piece = job % pieces;
      C* dquery = nullptr;
      if (sums.defined()) {
        dquery = sums.address_as<C>() + piece * heads * head_rows * rows.width;
        C* const own = dquery + head * head_rows * rows.width;
        std::fill(own, own + head_rows * rows.width, C(0));
      }
      for (std::int64_t key = piece * kKeys; key < s.keys; key += pieces * kKeys)
        tile.run(
            {head / s.key_heads(), head % s.key_heads() * s.shared, 0, key, 0, std::min(kKeys, s.keys - key)},
            dquery);
    }
  });
  if (sums.defined()) join_pieces<T>(out.query, sums, pieces, rows.width, call.rule.scale);
}

}  // namespace
}  // namespace attention

void attention_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call) {
  visit_floating(call.query.dtype(), "scaled_dot_product_attention",
                 [&]<class T> { attention::backward<T>(out, grad, call); });
}

}  // namespace ebb::cpu
