// Rows of attention and multi-head attention with its projections.
#include <ebb/core/random.h>
#include <ebb/nn/functional/multi_head_attention.h>
#include <ebb/ops/attention.h>

#include "optable/reference.h"
#include "optable/table.h"

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

/// Returns the element of x at `place`, whose dimensions count from the last and broadcast; grouped heads
/// share keys and values.
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

/// The reference computes row by row with plain loops. Bool masks forbid elements below 0.5.
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
      .error(
          "last dimensions",
          [] { ebb::scaled_dot_product_attention(ebb::ones({3, 4}), ebb::ones({5, 3}), ebb::ones({5, 4})); })
      .error(
          "as many values",
          [] { ebb::scaled_dot_product_attention(ebb::ones({3, 4}), ebb::ones({5, 4}), ebb::ones({6, 4})); })
      .error("one floating-point dtype",
             [] {
               ebb::scaled_dot_product_attention(ebb::ones({3, 4}), ebb::ones({5, 4}),
                                                 ebb::ones({5, 4}, ebb::kF64));
             })
      .error("2 or more dimensions",
             [] { ebb::scaled_dot_product_attention(ebb::ones({4}), ebb::ones({5, 4}), ebb::ones({5, 4})); })
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
      .cpu_only("each device draws other numbers")
      .no_reference("tests/ops check which weights are dropped");
}

}  // namespace

void register_attention() {
  family("attention");
  plain();
  masked();
  grouped();
}

// Multi-head attention with its projections.

namespace {

namespace F = ebb::nn::functional;

constexpr std::int64_t kWidth = 4, kHeads = 2, kOfHead = kWidth / kHeads;

struct HeadsCall {
  bool weights = true, rows = false, causal = false;
};

F::MultiheadAttentionForwardFuncOptions options_of(In x, const HeadsCall& call) {
  const Variable none;
  auto options = F::MultiheadAttentionForwardFuncOptions(kWidth, kHeads, x[3], x[4], call.rows ? x[7] : none,
                                                         call.rows ? x[8] : none, call.rows, 0, x[5], x[6]);
  options.need_weights(call.weights);
  if (call.causal)
    options.is_causal(true).attn_mask(
        ebb::ones({x[0].size(0), x[1].size(0)}, x[0].options().dtype(ebb::kBool)).triu(1));
  return options;
}

/// Returns the projection of row (l, n) of x to a channel of a head by plain loops; the rows after the last
/// one are `learnt`, and then zeros.
double projected(const Arrays& in, std::size_t which, std::int64_t l, std::int64_t n, std::int64_t channel) {
  const Array& x = in[which];
  if (l == x.size(0)) return in[6 + which]({0, 0, channel});
  if (l > x.size(0)) return 0;
  const std::int64_t row = static_cast<std::int64_t>(which) * kWidth + channel;
  double sum = in[4]({row});
  for (std::int64_t e = 0; e < kWidth; ++e) sum += x({l, n, e}) * in[3]({row, e});
  return sum;
}

std::vector<double> weights_of(const Arrays& in, const HeadsCall& call, std::int64_t l, std::int64_t n,
                               std::int64_t head) {
  const std::int64_t keys = in[1].size(0) + (call.rows ? 2 : 0);
  std::vector<double> weights;
  double total = 0;
  for (std::int64_t s = 0; s < keys; ++s) {
    double score = 0;
    for (std::int64_t c = head * kOfHead; c < (head + 1) * kOfHead; ++c)
      score += projected(in, 0, l, n, c) * projected(in, 1, s, n, c);
    weights.push_back(call.causal && s > l ? 0 : std::exp(score / std::sqrt(double{kOfHead})));
    total += weights.back();
  }
  for (double& w : weights) w /= total;
  return weights;
}

Row::Reference heads_attended(const HeadsCall& call, Sizes sizes) {
  return built(std::move(sizes), [call](const Arrays& in, const Index& at) {
    double result = in[6]({at[2]});
    for (std::int64_t channel = 0; channel < kWidth; ++channel) {
      const std::vector<double> weights = weights_of(in, call, at[0], at[1], channel / kOfHead);
      double value = 0;
      for (std::size_t s = 0; s < weights.size(); ++s)
        value += weights[s] * projected(in, 2, static_cast<std::int64_t>(s), at[1], channel);
      result += value * in[5]({at[2], channel});
    }
    return result;
  });
}

Row& heads(const char* name, const HeadsCall& call, std::vector<Sizes> shapes) {
  return row(name,
             [call](In x) {
               return variable_list{
                   std::get<0>(F::multi_head_attention_forward(x[0], x[1], x[2], options_of(x, call)))};
             })
      .shapes({std::move(shapes)})
      .range(-0.7, 0.7)  // scores that do not saturate the softmax
      .reference(heads_attended(call, {3, 2, kWidth}))
      .roundings(16);
}

}  // namespace

void register_transformer() {
  family("nn");
  const std::vector<Sizes> plain = {{3, 2, 4}, {5, 2, 4}, {5, 2, 4}, {12, 4}, {12}, {4, 4}, {4}};
  std::vector<Sizes> longer = plain;
  longer.insert(longer.end(), {{1, 1, 4}, {1, 1, 4}});
  heads("multi_head_attention_forward", {}, plain).error("embed_dim", [] {
    const Variable x = ebb::ones({3, 2, 4});
    F::multi_head_attention_forward(
        x, x, x, F::MultiheadAttentionForwardFuncOptions(6, 2, {}, {}, {}, {}, false, 0, {}, {}));
  });
  heads("multi_head_attention_forward.fused", {.weights = false}, plain);
  heads("multi_head_attention_forward.rows", {.rows = true}, longer);
  heads("multi_head_attention_forward.causal", {.weights = false, .causal = true}, plain);
}

}  // namespace optable
