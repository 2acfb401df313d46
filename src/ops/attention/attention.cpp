// scaled_dot_product_attention: argument checks, shapes and the graph node. If the backward pass is recorded
// (for second derivatives), the node computes the gradients with differentiable ops, with all scores in
// memory. Otherwise it calls kernels.
#include <ebb/autograd/node.h>
#include <ebb/ops/attention.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/attention/kernels.h"
#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/dropout.h"
#include "ops/common/record.h"
#include "ops/common/views.h"

#include <cmath>
#include <limits>

namespace ebb {

namespace ops {
namespace {

/// The inputs of a call, each with four dimensions. The mask may be undefined, and its sizes may be 1.
struct AttentionInputs {
  Variable query, key, value, mask;
};

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Returns the weights (N, H, L, S), the softmax of the masked scores. A row without any visible key has
/// weights and gradients of zero.
Variable weights_of(Variable scores, const Variable& mask, const AttentionRule& rule) {
  if (mask.defined()) {
    scores = mask.dtype() == kBool ? scores.masked_fill(mask.logical_not(), kNone)
                                   : scores + mask.to(scores.dtype());
    const Variable blind = scores.detach().eq(kNone).all(-1, true);
    return scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0);
  }
  if (rule.causal) {
    const TensorOptions options = TensorOptions(scores.device()).dtype(kLong);
    const Variable query = arange(scores.size(2), options).unsqueeze(1),
                   key = arange(scores.size(3), options);
    scores = scores.masked_fill(key.gt(query), kNone);
  }
  return scores.softmax(-1);
}

/// Returns the gradients of query, key, value and mask that `node` needs; `grad` is the gradient of the
/// result. The mask's gradient has the shape of the scores. The mask is read from `in`; `rule.mask` is
/// ignored.
autograd::GradList composed_attention_backward(const autograd::Node& node, const Variable& grad,
                                               const AttentionInputs& in, const AttentionRule& rule) {
  const DType dtype = in.query.dtype() == kDouble ? kDouble : kFloat;
  const Variable key = in.key.to(dtype), value = in.value.to(dtype);
  const std::int64_t batch = in.query.size(0), heads = in.query.size(1), queries = in.query.size(2),
                     keys = key.size(2);
  // If several query heads share one key head, their rows are joined into one matrix.
  const auto joined = [&](const Variable& x) {
    const std::int64_t rows = key.size(1) == 0 ? 0 : heads / key.size(1) * queries;
    return x.reshape({batch, key.size(1), rows, x.size(3)});
  };
  const auto parted = [&](const Variable& x) { return x.reshape({batch, heads, queries, x.size(3)}); };
  const Variable query = joined(in.query.to(dtype)), g = joined(grad.to(dtype));

  const Variable weights = weights_of(parted(matmul(query, key.transpose(2, 3)) * rule.scale), in.mask, rule);
  Variable kept = weights, weight_grads = parted(matmul(g, value.transpose(2, 3)));
  if (rule.dropout) {
    NdArray factors = NdArray::empty({batch, heads, queries, keys}, dtype, in.query.device());
    kernels::attention_dropout(factors.device(), factors, *rule.dropout);
    const Variable m(std::move(factors));
    kept = weights * m;
    weight_grads = weight_grads * m;
  }
  const Variable scores = weights * (weight_grads - (weight_grads * weights).sum(-1, true)),
                 rows = joined(scores);
  autograd::GradList out(4);
  if (node.needs(0)) out[0] = parted(matmul(rows, key) * rule.scale);
  if (node.needs(1)) out[1] = matmul(rows.transpose(2, 3), query) * rule.scale;
  if (node.needs(2)) out[2] = matmul(joined(kept).transpose(2, 3), g);
  if (node.needs(3)) out[3] = scores;
  return out;
}

}  // namespace
}  // namespace ops

namespace {

using ops::AttentionGrads;
using ops::AttentionInputs;
using ops::AttentionRule;
using ops::AttentionSaved;

const char* const kOp = "scaled_dot_product_attention";

/// Returns x if its last dimension is contiguous, otherwise a contiguous copy.
NdArray rows_array(const NdArray& x) {
  return x.strides()[3] == 1 || x.sizes()[3] == 1 ? x : ops::contiguous_array(x);
}

/// Returns the arguments of a kernel call. `result` and `log_sum` are undefined.
AttentionSaved call_of(const AttentionInputs& in, const AttentionRule& rule) {
  AttentionSaved call{rows_array(in.query.array()),
                      rows_array(in.key.array()),
                      rows_array(in.value.array()),
                      NdArray(),
                      NdArray(),
                      rule};
  if (in.mask.defined())
    call.rule.mask =
        in.mask.array().expand({in.query.size(0), in.query.size(1), in.query.size(2), in.key.size(2)});
  return call;
}

struct AttentionBackward : autograd::Node {
  autograd::SavedVariable query{this}, key{this}, value{this}, mask{this}, result{this};
  NdArray log_sum;
  AttentionRule rule;

  std::string name() const override { return "ScaledDotProductFlashAttentionBackward0"; }
  void release_variables() override {
    Node::release_variables();
    log_sum = NdArray();
  }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const AttentionInputs in{query.unpack(), key.unpack(), value.unpack(), mask.unpack()};
    if (GradMode::is_enabled()) return ops::composed_attention_backward(*this, grads[0], in, rule);
    AttentionSaved call = call_of(in, rule);
    call.result = result.unpack().array();
    call.log_sum = log_sum;
    const NdArray grad = ops::contiguous_array(grads[0].array());
    const bool nothing = grad.numel() == 0;  // the kernels write no gradients for an empty grad
    const auto fresh = [&](std::size_t i, const Variable& x) {
      if (!needs(i)) return NdArray();
      return nothing ? ops::zeros_array(x.sizes(), x.dtype(), x.device())
                     : NdArray::empty(x.sizes(), x.dtype(), x.device());
    };
    AttentionGrads found{fresh(0, in.query), fresh(1, in.key), fresh(2, in.value)};
    NdArray of_mask = fresh(3, in.mask);
    const Device device = grad.device();
    if (!nothing && (needs(0) || needs(1) || needs(2)))
      kernels::attention_backward(device, found, grad, call);
    if (!nothing && needs(3)) kernels::attention_mask_backward(device, of_mask, grad, call);
    autograd::GradList out(4);
    std::size_t i = 0;
    for (NdArray* const array : {&found.query, &found.key, &found.value, &of_mask}) {
      if (array->defined()) out[i] = Variable(std::move(*array));
      ++i;
    }
    return out;
  }
};

/// Runs the op on inputs of four dimensions.
Variable attend(const AttentionInputs& in, const AttentionRule& rule) {
  AttentionSaved call = call_of(in, rule);
  const DType dtype = in.query.dtype();
  const Device device = in.query.device();
  const IntArrayRef sizes = in.query.sizes();
  call.result = NdArray::empty({sizes[0], sizes[1], sizes[2], in.value.size(3)}, dtype, device);
  call.log_sum = NdArray::empty({sizes[0], sizes[1], sizes[2]}, dtype == kDouble ? kDouble : kFloat, device);
  kernels::attention_forward(device, call);
  Variable out(call.result);
  if (const auto node = ops::record_results<AttentionBackward>({&out}, in.query, in.key, in.value, in.mask)) {
    node->query.save(in.query);
    node->key.save(in.key);
    node->value.save(in.value);
    node->mask.save(in.mask);
    node->log_sum = call.log_sum;
    node->rule = rule;
    node->result.save_output(out);
  }
  return out;
}

/// Returns the sizes of x without the last `count` dimensions.
IntArrayRef leading(const Variable& x, std::size_t count) {
  return x.sizes().slice(0, x.sizes().size() - count);
}

/// The common shape of the inputs after broadcasting.
struct Shape {
  DimVector batch;  // all dimensions except the last two
  std::int64_t key_heads = 1;
  bool grouped = false;

  Shape(const Variable& query, const Variable& key, const Variable& value, bool enable_gqa) {
    const auto broadcast = [&](std::size_t count) {
      return broadcast_shapes(kOp, broadcast_shapes(kOp, leading(query, count), leading(key, count)),
                              leading(value, count));
    };
    grouped = enable_gqa && query.dim() > 2 && key.dim() > 2 && value.dim() > 2 &&
              (query.size(-3) != key.size(-3) || query.size(-3) != value.size(-3));
    EBB_CHECK(!enable_gqa || (query.dim() > 2 && key.dim() > 2 && value.dim() > 2), kOp,
              ": enable_gqa needs inputs (..., H, L, E) of 3 or more dimensions, got shapes ", query.sizes(),
              ", ", key.sizes(), " and ", value.sizes(), ". Add a dimension of heads with unsqueeze(-3).");
    if (!grouped) {
      batch = broadcast(2);
      key_heads = batch.empty() ? 1 : batch.back();
      return;
    }
    key_heads = key.size(-3);
    EBB_CHECK(key_heads > 0 && key_heads == value.size(-3) && query.size(-3) % key_heads == 0, kOp,
              ": with enable_gqa, key and value must have the same number of heads, and it must divide "
              "query's; got ",
              query.size(-3), " heads of query, ", key_heads, " of key and ", value.size(-3), " of value.");
    batch = broadcast(3);
    batch.push_back(query.size(-3));
  }

  /// Returns x as (N, heads, rows, width), broadcast to the batch.
  Variable four(const Variable& x, std::int64_t heads) const {
    DimVector full = ops::sizes_with(batch, {x.size(-2), x.size(-1)});
    if (full.size() > 2) full[full.size() - 3] = heads;
    const Variable wide = x.sizes() == IntArrayRef(full) ? x : x.expand(full);
    return batch.size() == 2 ? wide : wide.reshape({samples(), heads, x.size(-2), x.size(-1)});
  }
  std::int64_t samples() const {
    std::int64_t n = 1;
    for (std::size_t d = 0; d + 1 < batch.size(); ++d) n *= batch[d];
    return n;
  }
  /// Returns the mask as (N, H, L, S), where each size may also be 1.
  Variable mask(const Variable& x, std::int64_t queries, std::int64_t keys) const {
    const DimVector full = ops::sizes_with(batch, {queries, keys});
    DimVector own;
    const std::size_t missing = full.size() - std::min(full.size(), x.sizes().size());
    bool fits = x.sizes().size() <= full.size(), whole = false;
    for (std::size_t d = 0; fits && d < full.size(); ++d) {
      own.push_back(d < missing ? 1 : x.sizes()[d - missing]);
      fits = own[d] == 1 || own[d] == full[d];
      whole |= d + 3 < full.size() && own[d] != 1;
    }
    EBB_CHECK(fits, kOp, ": attn_mask of shape ", x.sizes(), " does not broadcast to the scores' shape ",
              full, ". Each size of attn_mask must be equal to that of the scores, or 1.");
    Variable wide = x.sizes() == IntArrayRef(own) ? x : x.reshape(own);
    if (full.size() == 4) return wide;
    for (std::size_t d = 0; whole && d + 3 < full.size(); ++d) own[d] = full[d];
    if (whole) wide = wide.expand(own);
    const std::int64_t heads = full.size() > 2 ? own[full.size() - 3] : 1;
    return wide.reshape({whole ? samples() : 1, heads, own[full.size() - 2], own[full.size() - 1]});
  }
};

void check_inputs(const Variable& query, const Variable& key, const Variable& value) {
  EBB_CHECK(is_floating(query.dtype()) && query.dtype() == key.dtype() && query.dtype() == value.dtype(), kOp,
            ": expected query, key and value in one floating-point dtype, got ", query.dtype(), ", ",
            key.dtype(), " and ", value.dtype(), ". Convert with .to(dtype).");
  EBB_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2, kOp,
            ": expected query, key and value of 2 or more dimensions, got shapes ", query.sizes(), ", ",
            key.sizes(), " and ", value.sizes(), ".");
  EBB_CHECK(query.size(-1) == key.size(-1), kOp, ": the last dimensions of query and key differ, in shapes ",
            query.sizes(), " and ", key.sizes(), ".");
  EBB_CHECK(key.size(-2) == value.size(-2), kOp, ": there are not as many values as keys, in shapes ",
            value.sizes(), " and ", key.sizes(), ".");
}

void check_mask(const Variable& query, const Variable& mask, bool is_causal) {
  if (!mask.defined()) return;
  EBB_CHECK(!is_causal, kOp, ": Explicit attn_mask should not be set when is_causal=True. Give one of them.");
  EBB_CHECK(mask.dtype() == kBool || mask.dtype() == kFloat || mask.dtype() == query.dtype(), kOp,
            ": expected attn_mask of dtype Bool, Float or query's, ", query.dtype(), ", got ", mask.dtype(),
            ". Convert it with .to(dtype).");
}

}  // namespace

Variable scaled_dot_product_attention(const Variable& query, const Variable& key, const Variable& value,
                                      const optional<Variable>& attn_mask, double dropout_p, bool is_causal,
                                      optional<double> scale, bool enable_gqa) {
  EBB_AUTOCAST(scaled_dot_product_attention, query, key, value, attn_mask, dropout_p, is_causal, scale,
               enable_gqa);
  const Variable mask = attn_mask.value_or(Variable());
  ops::check_defined(kOp, query, key, value);
  const Device device = ops::common_device(kOp, query, key, value, mask);
  check_inputs(query, key, value);
  check_mask(query, mask, is_causal);
  EBB_CHECK(dropout_p >= 0 && dropout_p <= 1, kOp,
            ": dropout probability has to be between 0 and 1, but got ", dropout_p, ".");
  const Shape shape(query, key, value, enable_gqa);
  const std::int64_t heads = shape.batch.empty() ? 1 : shape.batch.back();
  const AttentionInputs in{shape.four(query, heads), shape.four(key, shape.key_heads),
                           shape.four(value, shape.key_heads),
                           mask.defined() ? shape.mask(mask, query.size(-2), key.size(-2)) : Variable()};
  AttentionRule rule;
  const std::int64_t width = std::max<std::int64_t>(query.size(-1), 1);
  rule.scale = scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  rule.causal = is_causal;
  if (dropout_p > 0) rule.dropout = ops::draw_dropout(device, query.dtype(), dropout_p);
  Variable out = attend(in, rule);
  if (shape.batch.size() == 2) return out;
  return out.view(ops::sizes_with(shape.batch, {query.size(-2), value.size(-1)}));
}

}  // namespace ebb
