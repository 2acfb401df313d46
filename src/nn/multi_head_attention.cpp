// multi_head_attention_forward and MultiheadAttention.
#include <ebb/nn/functional/linear.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/multi_head_attention.h>
#include <ebb/ops/attention.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/module_tools.h"

#include <array>
#include <cmath>
#include <limits>

namespace ebb::nn {

namespace functional {

namespace {

constexpr char kName[] = "multi_head_attention_forward";

/// Queries, keys and values. Their shape is (L, N, E) or (N, L, E) before split() and (N, heads, L, E /
/// heads) after it.
using Streams = std::array<Variable, 3>;

/// The masks of the scores. Both broadcast to (N, heads, L, S).
struct Masks {
  Variable attention, padding;  // Bool (true masks the score), floating (added to the score) or undefined
};

struct Sizes {
  std::int64_t batch, queries, keys, heads, width;  // `width` is the width of one head
  bool batch_first;
};

void check_inputs(const Streams& x, const Sizes& sizes, const MultiheadAttentionForwardFuncOptions& o) {
  const auto& [query, key, value] = x;
  EBB_CHECK(query.size(2) == o.embed_dim_to_check(), kName,
            ": the query's last dimension must be embed_dim, ", o.embed_dim_to_check(), ", got ",
            query.sizes(), ".");
  EBB_CHECK(sizes.heads > 0 && sizes.width * sizes.heads == query.size(2), kName, ": embed_dim (",
            query.size(2), ") must be divisible by num_heads (", sizes.heads, ").");
  EBB_CHECK(key.size(0) == value.size(0) && key.size(1) == value.size(1), kName,
            ": keys and values must have the same length and batch size, got ", key.sizes(), " and ",
            value.sizes(), ".");
  EBB_CHECK(key.size(sizes.batch_first ? 0 : 1) == sizes.batch, kName,
            ": the batch sizes of query and key differ: ", sizes.batch, " and ",
            key.size(sizes.batch_first ? 0 : 1), " (shapes ", query.sizes(), " and ", key.sizes(), ").");
}

void check_mask(const Variable& mask, const char* name) {
  EBB_CHECK(mask.dtype() == kBool || mask.is_floating_point(), kName, ": ", name,
            " must be Bool or floating, got ", mask.dtype(), ". Convert it with .to(ebb::kBool).");
}

/// Returns the masks with four dimensions.
Masks prepared(Variable attention, Variable padding, const Sizes& s) {
  if (attention.defined()) {
    check_mask(attention, "attn_mask");
    const std::vector<std::int64_t> each{s.queries, s.keys}, all{s.batch * s.heads, s.queries, s.keys};
    if (attention.dim() == 3) {
      EBB_CHECK(attention.sizes() == IntArrayRef(all), kName, ": the shape of the 3D attn_mask is ",
                attention.sizes(), ", but should be ", IntArrayRef(all), " (batch * heads, L, S).");
      attention = attention.reshape({s.batch, s.heads, s.queries, s.keys});
    } else {
      EBB_CHECK(attention.dim() == 2 && attention.sizes() == IntArrayRef(each), kName, ": the shape of the ",
                attention.dim(), "D attn_mask is ", attention.sizes(), ", but should be ", IntArrayRef(each),
                " (L, S) or ", IntArrayRef(all), " (batch * heads, L, S).");
      attention = attention.unsqueeze(0).unsqueeze(0);
    }
  }
  if (padding.defined()) {
    check_mask(padding, "key_padding_mask");
    const std::vector<std::int64_t> shape{s.batch, s.keys};
    EBB_CHECK(padding.sizes() == IntArrayRef(shape), kName, ": the shape of key_padding_mask is ",
              padding.sizes(), ", but should be ", IntArrayRef(shape), " (batch, keys).");
    padding = padding.unsqueeze(1).unsqueeze(1);
  }
  return {std::move(attention), std::move(padding)};
}

/// Adds a column for one more key, which is not masked.
void admit_one_more(Masks& masks) {
  for (Variable* mask : {&masks.attention, &masks.padding}) {
    if (!mask->defined()) continue;
    std::vector<std::int64_t> column = mask->sizes().vec();
    column.back() = 1;
    *mask = cat({*mask, zeros(column, mask->options())}, -1);
  }
}

Variable added(const Variable& mask, DType dtype) {
  if (mask.dtype() != kBool) return mask.to(dtype);
  return zeros(mask.sizes(), mask.options().dtype(dtype))
      .masked_fill(mask, -std::numeric_limits<double>::infinity());
}

/// Merges both masks. The result is Bool if all defined masks are Bool, and undefined if none is defined.
Variable merged(const Masks& masks, DType dtype) {
  const auto& [a, b] = masks;
  if (!a.defined() || !b.defined()) {
    const Variable& one = a.defined() ? a : b;
    return one.defined() && one.dtype() != kBool ? one.to(dtype) : one;
  }
  if (a.dtype() == kBool && b.dtype() == kBool) return a.logical_or(b);
  return added(a, dtype) + added(b, dtype);
}

/// Returns the three projections. Equal inputs are projected by one matrix product.
Streams projected(const Streams& x, const MultiheadAttentionForwardFuncOptions& o) {
  const std::int64_t e = o.embed_dim_to_check();
  const Variable& bias = o.in_proj_bias();
  const auto part = [&](std::int64_t first, std::int64_t count) {
    return bias.defined() ? bias.narrow(0, first * e, count * e) : bias;
  };
  if (o.use_separate_proj_weight()) {
    const std::array<const Variable*, 3> weights = {&o.q_proj_weight(), &o.k_proj_weight(),
                                                    &o.v_proj_weight()};
    Streams out;
    for (std::size_t i = 0; i < 3; ++i) {
      EBB_CHECK(weights[i]->defined(), kName,
                ": use_separate_proj_weight needs q_proj_weight, k_proj_weight and v_proj_weight.");
      out[i] = linear(x[i], *weights[i], part(static_cast<std::int64_t>(i), 1));
    }
    return out;
  }
  const Variable& weight = o.in_proj_weight();
  EBB_CHECK(weight.defined(), kName, ": in_proj_weight is undefined, and use_separate_proj_weight is false.");
  EBB_CHECK(weight.dim() == 2 && weight.size(0) == 3 * e, kName, ": in_proj_weight must be of shape ",
            IntArrayRef({3 * e, e}), ", got ", weight.sizes(), ".");
  EBB_CHECK(x[1].sizes() == x[2].sizes(), kName, ": key shape ", x[1].sizes(), " does not match value shape ",
            x[2].sizes(), ".");
  const auto project = [&](const Variable& input, std::int64_t first, std::int64_t count) {
    return linear(input, count == 3 ? weight : weight.narrow(0, first * e, count * e),
                  count == 3 ? bias : part(first, count));
  };
  const bool one_memory = x[1].impl() == x[2].impl();
  if (one_memory && x[0].impl() == x[1].impl()) {
    const std::vector<Variable> all = project(x[0], 0, 3).chunk(3, -1);
    return {all[0], all[1], all[2]};
  }
  const Variable query = project(x[0], 0, 1);
  if (one_memory) {
    const std::vector<Variable> both = project(x[1], 1, 2).chunk(2, -1);
    return {query, both[0], both[1]};
  }
  return {query, project(x[1], 1, 1), project(x[2], 2, 1)};
}

Variable with_row(const Variable& x, const Variable& row, const Sizes& s) {
  const std::int64_t sequence = s.batch_first ? 1 : 0;
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape[static_cast<std::size_t>(sequence)] = 1;
  return cat({x, row.expand(shape)}, sequence);
}

/// Splits the heads: (L, N, E) or (N, L, E) to (N, heads, L, E / heads).
Variable split(const Variable& x, const Sizes& s) {
  const Variable heads = x.reshape({x.size(0), x.size(1), s.heads, s.width});
  return s.batch_first ? heads.permute({0, 2, 1, 3}) : heads.permute({1, 2, 0, 3});
}

/// Joins the heads: the inverse of split().
Variable joined(const Variable& x, const Sizes& s) {
  if (s.batch_first) return x.permute({0, 2, 1, 3}).reshape({s.batch, s.queries, s.heads * s.width});
  return x.permute({2, 0, 1, 3}).reshape({s.queries, s.batch, s.heads * s.width});
}

Variable fixed(const Variable& x, const Sizes& s, const char* name) {
  EBB_CHECK(x.dim() == 3 && x.size(0) == s.batch * s.heads && x.size(2) == s.width, kName, ": ", name,
            " must be of shape [", s.batch * s.heads, ", S, ", s.width,
            "] (batch * heads, S, E / heads), got ", x.sizes(), ".");
  return x.reshape({s.batch, s.heads, x.size(1), s.width});
}

struct Attended {
  Variable values, weights;
};

Attended weighed(const Streams& x, const Variable& mask, double dropout_p) {
  const auto& [q, k, v] = x;
  Variable scores = matmul(q * std::sqrt(1.0 / static_cast<double>(q.size(-1))), k.transpose(-2, -1));
  // True for queries whose keys are all masked. Their result is 0, as in scaled_dot_product_attention, and
  // not NaN.
  Variable fully_masked;
  if (mask.defined()) {
    constexpr double kMasked = -std::numeric_limits<double>::infinity();
    scores = mask.dtype() == kBool ? scores.masked_fill(mask, kMasked) : scores + mask;
    fully_masked = mask.dtype() == kBool ? mask.all(-1, true) : mask.detach().eq(kMasked).all(-1, true);
    scores = scores.masked_fill(fully_masked, 0);
  }
  Variable weights = ebb::softmax(scores, -1);
  if (fully_masked.defined()) weights = weights.masked_fill(fully_masked, 0);
  if (dropout_p > 0) weights = ebb::dropout(weights, dropout_p, /*train=*/true);
  return {matmul(weights, v), weights};
}

std::tuple<Variable, Variable> attend(const Streams& inputs, const MultiheadAttentionForwardFuncOptions& o,
                                      bool batch_first) {
  for (const Variable& x : inputs) {
    EBB_CHECK(x.defined(), kName, ": query, key and value must be defined.");
    EBB_CHECK((x.dim() == 2 || x.dim() == 3) && x.dim() == inputs[0].dim(), kName,
              ": query, key and value must all be of 3 dimensions (batched) or all of 2, got shapes ",
              inputs[0].sizes(), ", ", inputs[1].sizes(), " and ", inputs[2].sizes(), ".");
  }
  if (inputs[0].dim() == 2) {
    const Variable query = inputs[0].unsqueeze(0);
    const Variable key = inputs[1].impl() == inputs[0].impl() ? query : inputs[1].unsqueeze(0);
    const Variable value = inputs[2].impl() == inputs[1].impl() ? key : inputs[2].unsqueeze(0);
    auto batched = o;
    const Variable& padding = o.key_padding_mask();
    if (padding.defined()) {
      EBB_CHECK(padding.dim() == 1, kName,
                ": for unbatched inputs key_padding_mask must be of 1 dimension, got ", padding.sizes(), ".");
      batched.key_padding_mask(padding.unsqueeze(0));
    }
    const auto [result, weights] = attend({query, key, value}, batched, /*batch_first=*/true);
    return {result.squeeze(0), weights.defined() ? weights.squeeze(0) : weights};
  }

  const Variable &query = inputs[0], &key = inputs[1];
  const std::int64_t heads = o.num_heads(), batch_dim = batch_first ? 0 : 1;
  const Sizes sizes{
      query.size(batch_dim),
      query.size(1 - batch_dim),
      o.static_k().defined() && o.static_k().dim() == 3 ? o.static_k().size(1) : key.size(1 - batch_dim),
      heads,
      heads > 0 ? query.size(2) / heads : 0,
      batch_first};
  check_inputs(inputs, sizes, o);
  EBB_CHECK(!o.is_causal() || o.attn_mask().defined(), kName,
            ": is_causal is a hint about attn_mask, which is missing. "
            "Transformer's generate_square_subsequent_mask creates the causal mask.");
  const bool by_hint = o.is_causal() && !o.key_padding_mask().defined() && !o.need_weights();
  Masks masks = prepared(by_hint ? Variable() : o.attn_mask(), o.key_padding_mask(), sizes);

  Streams x = projected(inputs, o);
  EBB_CHECK(o.bias_k().defined() == o.bias_v().defined(), kName,
            ": bias_k and bias_v must be given both or neither.");
  if (o.bias_k().defined()) {
    EBB_CHECK(!o.static_k().defined() && !o.static_v().defined(), kName,
              ": bias_k and bias_v cannot be added to static_k and static_v.");
    x[1] = with_row(x[1], o.bias_k(), sizes);
    x[2] = with_row(x[2], o.bias_v(), sizes);
    admit_one_more(masks);
  }
  x[0] = split(x[0], sizes);
  x[1] = o.static_k().defined() ? fixed(o.static_k(), sizes, "static_k") : split(x[1], sizes);
  x[2] = o.static_v().defined() ? fixed(o.static_v(), sizes, "static_v") : split(x[2], sizes);
  if (o.add_zero_attn()) {
    const Variable row = zeros({sizes.batch, heads, 1, sizes.width}, x[1].options());
    x[1] = cat({x[1], row}, 2);
    x[2] = cat({x[2], row}, 2);
    admit_one_more(masks);
  }

  const double dropout_p = o.training() ? o.dropout_p() : 0.0;
  const Variable mask = merged(masks, query.dtype());
  Attended out;
  if (o.need_weights()) {
    out = weighed(x, mask, dropout_p);
    if (o.average_attn_weights()) out.weights = out.weights.mean(1);
  } else {
    optional<Variable> sdpa_mask;  // here true means that a query may attend to a key
    if (mask.defined()) sdpa_mask = mask.dtype() == kBool ? mask.logical_not() : mask;
    out.values = scaled_dot_product_attention(x[0], x[1], x[2], sdpa_mask, dropout_p, by_hint);
  }
  return {linear(joined(out.values, sizes), o.out_proj_weight(), o.out_proj_bias()), out.weights};
}

}  // namespace

std::tuple<Variable, Variable> multi_head_attention_forward(
    const Variable& query, const Variable& key, const Variable& value,
    const MultiheadAttentionForwardFuncOptions& options) {
  return attend({query, key, value}, options, /*batch_first=*/false);
}

}  // namespace functional

namespace F = functional;

MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_)
    : Cloneable(handle_name(typeid(MultiheadAttentionImpl))), options(options_) {
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  const std::int64_t e = options.embed_dim();
  EBB_CHECK(e > 0 && options.num_heads() > 0 && e % options.num_heads() == 0,
            "MultiheadAttention: embed_dim must be divisible by num_heads, both above 0, got ", e, " and ",
            options.num_heads(), ".");
  EBB_CHECK(options.dropout() >= 0 && options.dropout() <= 1,
            "MultiheadAttention: dropout must be between 0 and 1, got ", options.dropout(), ".");
  head_dim = e / options.num_heads();
  _qkv_same_embed_dim = options.kdim() == e && options.vdim() == e;
  const auto parameter = [&](const char* name, bool wanted, std::vector<std::int64_t> sizes) {
    return register_parameter(name, wanted ? ebb::empty(sizes) : Variable(), wanted);
  };
  in_proj_weight = parameter("in_proj_weight", _qkv_same_embed_dim, {3 * e, e});
  q_proj_weight = parameter("q_proj_weight", !_qkv_same_embed_dim, {e, e});
  k_proj_weight = parameter("k_proj_weight", !_qkv_same_embed_dim, {e, options.kdim()});
  v_proj_weight = parameter("v_proj_weight", !_qkv_same_embed_dim, {e, options.vdim()});
  in_proj_bias = parameter("in_proj_bias", options.bias(), {3 * e});
  bias_k = parameter("bias_k", options.add_bias_kv(), {1, 1, e});
  bias_v = parameter("bias_v", options.add_bias_kv(), {1, 1, e});
  out_proj = register_module("out_proj", Linear(LinearOptions(e, e).bias(options.bias())));
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (Variable* weight : {&in_proj_weight, &q_proj_weight, &k_proj_weight, &v_proj_weight})
    if (weight->defined()) init::xavier_uniform_(*weight);
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  for (Variable* row : {&bias_k, &bias_v})
    if (row->defined()) init::xavier_normal_(*row);
}

std::tuple<Variable, Variable> MultiheadAttentionImpl::forward(const Variable& query, const Variable& key,
                                                               const Variable& value,
                                                               const Variable& key_padding_mask,
                                                               bool need_weights, const Variable& attn_mask,
                                                               bool average_attn_weights, bool is_causal) {
  return at_path(*this, [&] {
    return F::attend({query, key, value},
                     F::MultiheadAttentionForwardFuncOptions(
                         options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k,
                         bias_v, options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias)
                         .training(is_training())
                         .key_padding_mask(key_padding_mask)
                         .need_weights(need_weights)
                         .attn_mask(attn_mask)
                         .use_separate_proj_weight(!_qkv_same_embed_dim)
                         .q_proj_weight(q_proj_weight)
                         .k_proj_weight(k_proj_weight)
                         .v_proj_weight(v_proj_weight)
                         .average_attn_weights(average_attn_weights)
                         .is_causal(is_causal),
                     options.batch_first());
  });
}

template class Cloneable<MultiheadAttentionImpl>;

}  // namespace ebb::nn
