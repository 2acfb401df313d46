// Attention of several heads, with its projections.
#include "optable/reference.h"
#include "optable/table.h"

#include <ebb/nn/functional/multi_head_attention.h>

#include <cmath>

namespace optable {
namespace {

namespace F = ebb::nn::functional;

constexpr std::int64_t kWidth = 4, kHeads = 2, kOfHead = kWidth / kHeads;

struct Call {
  bool weights = true, rows = false, causal = false;
};

F::MultiheadAttentionForwardFuncOptions options_of(In x, const Call& call) {
  const Variable none;
  auto options = F::MultiheadAttentionForwardFuncOptions(kWidth, kHeads, x[3], x[4], call.rows ? x[7] : none,
                                                         call.rows ? x[8] : none, call.rows, 0, x[5], x[6]);
  options.need_weights(call.weights);
  if (call.causal)
    options.is_causal(true).attn_mask(
        ebb::ones({x[0].size(0), x[1].size(0)}, x[0].options().dtype(ebb::kBool)).triu(1));
  return options;
}

/// The projection of row (l, n) of x to a head's channel, by plain loops; rows after the last are `learnt`,
/// and then zeros.
double projected(const Arrays& in, std::size_t which, std::int64_t l, std::int64_t n, std::int64_t channel) {
  const Array& x = in[which];
  if (l == x.size(0)) return in[6 + which]({0, 0, channel});
  if (l > x.size(0)) return 0;
  const std::int64_t row = static_cast<std::int64_t>(which) * kWidth + channel;
  double sum = in[4]({row});
  for (std::int64_t e = 0; e < kWidth; ++e) sum += x({l, n, e}) * in[3]({row, e});
  return sum;
}

std::vector<double> weights_of(const Arrays& in, const Call& call, std::int64_t l, std::int64_t n,
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

Row::Reference attended(const Call& call, Sizes sizes) {
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

Row& attention(const char* name, const Call& call, std::vector<Sizes> shapes) {
  return row(name,
             [call](In x) {
               return variable_list{
                   std::get<0>(F::multi_head_attention_forward(x[0], x[1], x[2], options_of(x, call)))};
             })
      .shapes({std::move(shapes)})
      .range(-0.7, 0.7)  // scores that the softmax does not saturate at
      .reference(attended(call, {3, 2, kWidth}))
      .roundings(16);
}

}  // namespace

void register_transformer() {
  family("nn");
  const std::vector<Sizes> plain = {{3, 2, 4}, {5, 2, 4}, {5, 2, 4}, {12, 4}, {12}, {4, 4}, {4}};
  std::vector<Sizes> longer = plain;
  longer.insert(longer.end(), {{1, 1, 4}, {1, 1, 4}});
  attention("multi_head_attention_forward", {}, plain).error("embed_dim", [] {
    const Variable x = ebb::ones({3, 2, 4});
    F::multi_head_attention_forward(
        x, x, x, F::MultiheadAttentionForwardFuncOptions(6, 2, {}, {}, {}, {}, false, 0, {}, {}));
  });
  attention("multi_head_attention_forward.fused", {.weights = false}, plain);
  attention("multi_head_attention_forward.rows", {.rows = true}, longer);
  attention("multi_head_attention_forward.causal", {.weights = false, .causal = true}, plain);
}

}  // namespace optable
