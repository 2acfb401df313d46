// The gradients of attention as differentiable ops, with all scores in memory.
#include "ops/attention/composed.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include <limits>

namespace ebb::ops {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Returns the weights (N, H, L, S) of the scores. Rows without any visible key get weights and gradients of
/// zero.
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

}  // namespace

autograd::GradList composed_attention_backward(const autograd::Node& node, const Variable& grad,
                                               const AttentionInputs& in, const AttentionRule& rule) {
  const DType dtype = in.query.dtype() == kDouble ? kDouble : kFloat;
  const Variable key = in.key.to(dtype), value = in.value.to(dtype);
  const std::int64_t batch = in.query.size(0), heads = in.query.size(1), queries = in.query.size(2),
                     keys = key.size(2);
  // Heads that share keys become additional rows of one product.
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

}  // namespace ebb::ops
