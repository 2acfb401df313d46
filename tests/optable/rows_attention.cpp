// Attention.
#include "optable/reference.h"
#include "optable/table.h"

#include <ebb/core/random.h>
#include <ebb/ops/attention.h>

#include <cmath>

namespace optable {
namespace {

struct Call {
  double dropout = 0;
  bool causal = false;
  ebb::optional<double> scale = {};
  bool grouped = false;
};

Variable attend(In x, const Call& call) {
  return ebb::scaled_dot_product_attention(x[0], x[1], x[2],
                                           x.size() > 3 ? ebb::optional<Variable>(x[3]) : ebb::nullopt,
                                           call.dropout, call.causal, call.scale, call.grouped);
}

/// The element of x at `place`, whose dimensions are counted from the last and broadcast; heads of groups
/// share.
double broadcast_at(const Array& x, const Index& place, std::int64_t heads) {
  Index own;
  const std::size_t skipped = place.size() - x.sizes.size();
  for (std::size_t d = 0; d < x.sizes.size(); ++d) {
    const std::size_t from_end = x.sizes.size() - d;
    std::int64_t i = place[skipped + d];
    if (from_end == 3 && x.size(d) > 1) i = i * x.size(d) / heads;
    own.push_back(x.size(d) == 1 ? 0 : i);
  }
  return x(own);
}

/// Row by row, by plain loops. Masks below 0.5 forbid where they are Bool.
Row::Reference attended(Sizes sizes, Call call = {}, bool boolean = false) {
  const std::int64_t heads = sizes.size() > 2 ? sizes[sizes.size() - 3] : 1;
  return built(std::move(sizes), [=](const Arrays& in, const Index& place) {
    const std::int64_t keys = in[1].sizes[in[1].sizes.size() - 2], width = in[0].sizes.back();
    const std::size_t row = place.size() - 2;
    const auto with = [&](std::int64_t i, std::int64_t j) {
      Index at = place;
      at[row] = i;
      at[row + 1] = j;
      return at;
    };
    const double scale = call.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
    double total = 0, sum = 0;
    for (std::int64_t key = 0; key < keys; ++key) {
      if (call.causal && key > place[row]) continue;
      double score = 0;
      for (std::int64_t e = 0; e < width; ++e)
        score += broadcast_at(in[0], with(place[row], e), heads) * broadcast_at(in[1], with(key, e), heads);
      score *= scale;
      if (in.size() > 3) {
        const double mask = broadcast_at(in[3], with(place[row], key), heads);
        if (boolean && mask < 0.5) continue;
        if (!boolean) score += mask;
      }
      const double weight = std::exp(score);
      total += weight;
      sum += weight * broadcast_at(in[2], with(key, place[row + 1]), heads);
    }
    return total == 0 ? 0 : sum / total;
  });
}

Row& attention(const char* name, Call call, std::vector<std::vector<Sizes>> shapes) {
  return row(name, [call](In x) { return variable_list{attend(x, call)}; })
      .shapes(std::move(shapes))
      .roundings(6);
}

void plain() {
  attention("scaled_dot_product_attention", {}, {{{2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 6}}})
      .reference(attended({2, 3, 5, 6}))
      .node("ScaledDotProductFlashAttentionBackward0")
      .error("last dimensions",
             [] {
               ebb::scaled_dot_product_attention(ebb::ones({3, 4}), ebb::ones({5, 3}), ebb::ones({5, 4}));
             })
      .error("as many values",
             [] {
               ebb::scaled_dot_product_attention(ebb::ones({3, 4}), ebb::ones({5, 4}), ebb::ones({6, 4}));
             })
      .error("one floating-point dtype",
             [] {
               ebb::scaled_dot_product_attention(ebb::ones({3, 4}), ebb::ones({5, 4}),
                                                 ebb::ones({5, 4}, ebb::kF64));
             })
      .error("2 or more dimensions",
             [] {
               ebb::scaled_dot_product_attention(ebb::ones({4}), ebb::ones({5, 4}), ebb::ones({5, 4}));
             })
      .error("between 0 and 1", [] {
        ebb::scaled_dot_product_attention(ebb::ones({3, 4}), ebb::ones({5, 4}), ebb::ones({5, 4}), {}, 1.5);
      });
  attention("scaled_dot_product_attention.matrices", {}, {{{3, 4}, {5, 4}, {5, 2}}})
      .reference(attended({3, 2}));
  attention("scaled_dot_product_attention.heads", {}, {{{3, 2, 4}, {3, 5, 4}, {3, 5, 4}}})
      .reference(attended({3, 2, 4}));
  attention("scaled_dot_product_attention.broadcast", {}, {{{2, 1, 3, 4}, {5, 6, 4}, {2, 1, 6, 3}}})
      .reference(attended({2, 5, 3, 3}));
  attention("scaled_dot_product_attention.five", {}, {{{2, 3, 2, 3, 4}, {3, 1, 5, 4}, {2, 1, 2, 5, 1}}})
      .reference(attended({2, 3, 2, 3, 1}));
  attention("scaled_dot_product_attention.tiles", {}, {{{1, 1, 101, 3}, {1, 1, 131, 3}, {1, 1, 131, 2}}})
      .reference(attended({1, 1, 101, 2}));
  attention("scaled_dot_product_attention.scale", {.scale = -0.3}, {{{2, 3, 4}, {2, 5, 4}, {2, 5, 6}}})
      .reference(attended({2, 3, 6}, {.scale = -0.3}));
}

void masked() {
  attention("scaled_dot_product_attention.causal", {.causal = true}, {{{2, 6, 4}, {2, 6, 4}, {2, 6, 3}}})
      .reference(attended({2, 6, 3}, {.causal = true}));
  attention("scaled_dot_product_attention.causal_long", {.causal = true}, {{{7, 4}, {3, 4}, {3, 2}}})
      .reference(attended({7, 2}, {.causal = true}));
  attention("scaled_dot_product_attention.causal_wide", {.causal = true}, {{{3, 4}, {7, 4}, {7, 2}}})
      .reference(attended({3, 2}, {.causal = true}))
      .error("is_causal", [] {
        const Variable x = ebb::ones({3, 4});
        ebb::scaled_dot_product_attention(x, x, x, ebb::ones({3, 3}), 0, true);
      });
  attention("scaled_dot_product_attention.allowed", {},
            {{{2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 1}, {2, 1, 5, 7}}})
      .booleans(3)
      .reference(attended({2, 3, 5, 1}, {}, true))
      .error("Bool, Float or query's", [] {
        const Variable x = ebb::ones({3, 4});
        ebb::scaled_dot_product_attention(x, x, x, ebb::ones({3, 3}, ebb::kLong));
      });
  attention("scaled_dot_product_attention.padded", {},
            {{{2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 1}, {2, 1, 1, 7}}})
      .booleans(3)
      .reference(attended({2, 3, 5, 1}, {}, true));
  const auto added = [](const char* name, Sizes mask) {
    attention(name, {}, {{{2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 6}, std::move(mask)}})
        .reference(attended({2, 3, 5, 6}));
  };
  added("scaled_dot_product_attention.added", {2, 3, 5, 7});
  added("scaled_dot_product_attention.added_keys", {7});
  added("scaled_dot_product_attention.added_queries", {3, 5, 1});
  added("scaled_dot_product_attention.added_samples", {2, 1, 1, 7});
  attention("scaled_dot_product_attention.added_five", {},
            {{{2, 3, 2, 3, 4}, {2, 3, 2, 5, 4}, {2, 3, 2, 5, 1}, {3, 1, 3, 5}}})
      .reference(attended({2, 3, 2, 3, 1}))
      .error("does not broadcast", [] {
        const Variable x = ebb::ones({3, 4});
        ebb::scaled_dot_product_attention(x, x, x, ebb::ones({2, 3}));
      });
}

void grouped() {
  attention("scaled_dot_product_attention.grouped", {.grouped = true},
            {{{3, 4, 5, 6}, {3, 2, 7, 6}, {3, 2, 7, 1}}})
      .reference(attended({3, 4, 5, 1}, {.grouped = true}))
      .error("heads of query",
             [] {
               ebb::scaled_dot_product_attention(ebb::ones({4, 3, 4}), ebb::ones({3, 3, 4}),
                                                 ebb::ones({3, 3, 4}), {}, 0, false, {}, true);
             })
      .error("3 or more dimensions", [] {
        const Variable x = ebb::ones({3, 4});
        ebb::scaled_dot_product_attention(x, x, x, {}, 0, false, {}, true);
      });
  attention("scaled_dot_product_attention.grouped_mask", {.grouped = true},
            {{{4, 5, 6}, {2, 7, 6}, {2, 7, 3}, {4, 5, 7}}})
      .reference(attended({4, 5, 3}, {.grouped = true}));
  row("scaled_dot_product_attention.dropout",
      [](In x) {
        ebb::manual_seed(11);
        return variable_list{attend(x, {.dropout = 0.3, .causal = true, .grouped = true})};
      })
      .shapes({{{2, 4, 5, 6}, {2, 1, 7, 6}, {2, 1, 7, 3}}})
      .roundings(8)
      .cpu_only("each device draws numbers of its own")
      .no_reference("which weights are dropped is held by tests/ops");
}

}  // namespace

void register_attention() {
  family("attention");
  plain();
  masked();
  grouped();
}

}  // namespace optable
