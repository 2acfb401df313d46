// The gradient of an additive mask on the CPU: the gradients of the scores, summed over the dimensions along
// which the mask was broadcast.
#include <ebb/core/visit.h>

#include "ops/attention/cpu_score_grads.h"

namespace ebb::cpu {
namespace attention {
namespace {

/// One dimension of the scores. If the mask has a size > 1 in this dimension (`kept`), the dimension is
/// divided into tiles; otherwise it is a single part.
struct Range {
  std::int64_t size, tile;
  bool kept;

  std::int64_t parts() const { return kept ? ceil_div(size, tile) : 1; }
  std::int64_t begin(std::int64_t part) const { return kept ? part * tile : 0; }
  std::int64_t end(std::int64_t part) const { return kept ? std::min(size, (part + 1) * tile) : size; }
};

template <class T>
void mask_backward(NdArray& out, const NdArray& grad, const ops::AttentionSaved& call) {
  using C = Compute<T>;
  const Sizes s(call);
  const PackedRows<T> rows(s, grad, call);
  const Scores<T> scores(s, call.rule);
  const Rows<const T> key(call.key), value(call.value);
  const IntArrayRef sizes = out.sizes();
  const Range batches{s.batch, 1, sizes[0] > 1}, heads{s.heads, 1, sizes[1] > 1};
  const Range queries{s.queries, kQueries, sizes[2] > 1}, keys{s.keys, kKeys, sizes[3] > 1};
  const std::int64_t jobs = batches.parts() * heads.parts() * queries.parts() * keys.parts();
  const std::int64_t work = s.batch * s.heads * s.queries * s.keys * (s.width + s.value_width);
  parallel_for(
      0, jobs, grain_for(work / std::max<std::int64_t>(jobs, 1)), [&](std::int64_t from, std::int64_t to) {
        KeyTile<T> tile(s);
        ScoreGrads<T> grads;
        const NdArray memory = NdArray::empty({kQueries, kKeys}, dtype_of<C>());
        C* const sum = memory.address_as<C>();
        for (std::int64_t job = from; job < to; ++job) {
          const std::int64_t k = job % keys.parts(), q = job / keys.parts() % queries.parts(),
                             h = job / keys.parts() / queries.parts() % heads.parts(),
                             n = job / keys.parts() / queries.parts() / heads.parts();
          std::fill(sum, sum + kQueries * kKeys, C(0));
          TilePosition at{};
          for (at.batch = batches.begin(n); at.batch < batches.end(n); ++at.batch)
            for (at.head = heads.begin(h); at.head < heads.end(h); ++at.head)
              for (at.key = keys.begin(k); at.key < keys.end(k); at.key += kKeys) {
                at.columns = std::min(kKeys, s.keys - at.key);
                tile.load(s, key, value, at, false);
                for (at.query = queries.begin(q); at.query < queries.end(q); at.query += kQueries) {
                  at.rows = std::min(kQueries, s.queries - at.query);
                  grads.fill(s, scores, rows, tile, at);
                  for (std::int64_t i = 0; i < at.rows; ++i)
                    for (std::int64_t j = 0; j < at.columns; ++j)
                      sum[(queries.kept ? i : 0) * kKeys + (keys.kept ? j : 0)] +=
                          grads.score_grads[i * kKeys + j];
                }
              }
          const std::int64_t first = ((n * sizes[1] + h) * sizes[2] + q * kQueries) * sizes[3] + k * kKeys;
          const std::int64_t height = std::min(kQueries, sizes[2] - q * kQueries),
                             width = std::min(kKeys, sizes[3] - k * kKeys);
          visit_floating(out.dtype(), "scaled_dot_product_attention", [&]<class M> {
            for (std::int64_t i = 0; i < height; ++i)
              for (std::int64_t j = 0; j < width; ++j)
                out.address_as<M>()[first + i * sizes[3] + j] = static_cast<M>(sum[i * kKeys + j]);
          });
        }
      });
}

}  // namespace
}  // namespace attention

void attention_mask_backward(NdArray& out, const NdArray& grad, const ops::AttentionSaved& call) {
  if (out.numel() == 0) return;
  visit_floating(call.query.dtype(), "scaled_dot_product_attention",
                 [&]<class T> { attention::mask_backward<T>(out, grad, call); });
}

}  // namespace ebb::cpu
