// Attention and its gradients, as operation graphs that cuDNN's engines recognise.
#include "cuda/nvidia/dnn/attention_graph.h"

#include <limits>

namespace ebb::cuda::dnn {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity(), kUnit = 1;

// An index into Problem::steps.
enum Which : std::uint8_t { kOfQuery, kOfKey, kOfValue };

Lengths lengths(const std::int64_t (&x)[5]) { return {x, x + 4}; }

Lengths strides_of(const Problem& p, Which which) {
  const std::int64_t* const s = p.steps[which];
  return {s[0], s[1], s[2], 1};
}

Lengths value_sizes(const Problem& p) { return {p.window[0], p.window[1], p.window[2], p.out[3]}; }

// Returns (N, H, L, 1): one value per query.
Lengths row_sizes(const Problem& p) { return {p.in[0], p.in[1], p.in[2], 1}; }

// Adds an input with its last two dimensions exchanged, for use as the right operand of a product with
// queries.
Operand as_right(AttentionGraph& graph, Uid uid, const Lengths& sizes, const Lengths& strides) {
  const Operand turned = exchanged({nullptr, sizes, strides});
  return graph.array(uid, turned.sizes, turned.strides);
}

Graph forward_graph(const Problem& p, const Target& target) {
  AttentionGraph g(p);
  const Operand query = g.array(kQuery, lengths(p.in), strides_of(p, kOfQuery)),
                key = as_right(g, kKey, lengths(p.window), strides_of(p, kOfKey)),
                value = g.array(kValue, value_sizes(p), strides_of(p, kOfValue));
  Operand scores = g.pointwise(CUDNN_POINTWISE_MUL, g.matmul(query, key), g.number(kScale));
  if (p.causal) scores = g.causal(scores, g.number(kNever));
  const Operand top = g.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, g.between(row_sizes(p)));
  const Operand weights = g.pointwise(CUDNN_POINTWISE_EXP, g.pointwise(CUDNN_POINTWISE_SUB, scores, top));
  const Operand sum = g.reduce(CUDNN_REDUCE_TENSOR_ADD, weights, g.between(row_sizes(p)));
  g.pointwise(CUDNN_POINTWISE_ADD, top, g.pointwise(CUDNN_POINTWISE_LOG, sum),
              g.array(kLogSum, row_sizes(p), CUDNN_DATA_FLOAT));
  const Operand shares = g.pointwise(CUDNN_POINTWISE_DIV, weights, sum, g.rounded(weights.sizes));
  g.matmul(shares, value, g.array(kOut, lengths(p.out)));
  return std::move(g).finish(target);
}

// Computes the gradient of key or value, the product of `turned` (N, H, S, L) and x (N, H, L, .). If several
// query heads share a head of `out`, their products are summed.
void by_keys(AttentionGraph& g, const Operand& turned, const Operand& x, const Operand& out) {
  if (turned.sizes[1] == out.sizes[1]) {
    g.matmul(turned, x, out);
    return;
  }
  const Operand apart = g.rounded({turned.sizes[0], turned.sizes[1], turned.sizes[2], x.sizes[3]});
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, g.matmul(turned, x, apart), out);
}

Graph backward_graph(const Problem& p, const Target& target) {
  AttentionGraph g(p);
  const Operand query = g.array(kQuery, lengths(p.in), strides_of(p, kOfQuery)),
                key = as_right(g, kKey, lengths(p.window), strides_of(p, kOfKey)),
                value = as_right(g, kValue, value_sizes(p), strides_of(p, kOfValue)),
                result = g.array(kOut, lengths(p.out)), grad = g.array(kOutGrad, lengths(p.out)),
                log_sum = g.array(kLogSum, row_sizes(p), CUDNN_DATA_FLOAT), scale = g.number(kScale);

  const Operand product = g.pointwise(CUDNN_POINTWISE_MUL, grad, result);
  const Operand delta =
      g.pointwise(CUDNN_POINTWISE_MUL, g.reduce(CUDNN_REDUCE_TENSOR_ADD, product, g.between(row_sizes(p))),
                  g.number(kOne), g.array(kDelta, row_sizes(p), CUDNN_DATA_FLOAT));

  Operand scores = g.pointwise(CUDNN_POINTWISE_MUL, g.matmul(query, key), scale);
  scores = g.pointwise(CUDNN_POINTWISE_SUB, scores, log_sum);
  if (p.causal) scores = g.causal(scores, g.number(kNever));
  const Operand weights = g.pointwise(CUDNN_POINTWISE_EXP, scores);
  by_keys(g, g.transpose(weights), grad, g.array(kValueGrad, value_sizes(p)));

  Operand score_grads = g.pointwise(CUDNN_POINTWISE_SUB, g.matmul(grad, value), delta);
  score_grads = g.pointwise(CUDNN_POINTWISE_MUL, score_grads, weights);
  score_grads = g.pointwise(CUDNN_POINTWISE_MUL, score_grads, scale);
  by_keys(g, g.transpose(score_grads), query, g.array(kKeyGrad, lengths(p.window)));

  const Operand sum = g.sum_in_memory(kQuerySum, lengths(p.in));
  g.matmul(score_grads, g.transpose(key), sum);
  g.pointwise(CUDNN_POINTWISE_IDENTITY, sum, {}, g.array(kQueryGrad, lengths(p.in)));
  return std::move(g).finish(target);
}

// The stride of a dimension of size 1 is arbitrary. It is replaced by the stride of a contiguous array, so
// that equal problems have equal keys.
void read_steps(std::int64_t (&to)[3], const NdArray& x) {
  std::int64_t within = x.sizes()[3];
  for (std::size_t d = 3; d-- > 0;) {
    to[d] = x.sizes()[d] == 1 ? within : x.strides()[d];
    within = to[d] * x.sizes()[d];
  }
}

Task task(Operation operation, Graph (*graph)(const Problem&, const Target&), const DnnAttention& a) {
  Problem p(operation, a.query, a.result);
  p.channels_last = false;
  p.set_window(a.key.sizes());
  read_steps(p.steps[kOfQuery], a.query);
  read_steps(p.steps[kOfKey], a.key);
  read_steps(p.steps[kOfValue], a.value);
  p.causal = a.causal;
  Task made{p, graph, {}, {}};
  made.bind(kScale, const_cast<float*>(&a.scale));
  if (a.causal) made.bind(kNever, const_cast<float*>(&kMinusInfinity));
  return made;
}

void add(Task& to, Uid uid, const NdArray& x) {
  to.problem.take(x);
  to.bind(uid, x);
}

}  // namespace

Task task_of(const DnnAttention& a) {
  Task made = task(Operation::attention, &forward_graph, a);
  add(made, kQuery, a.query);
  add(made, kKey, a.key);
  add(made, kValue, a.value);
  add(made, kOut, a.result);
  add(made, kLogSum, a.log_sum);
  return made;
}

Task task_of(const DnnAttentionBackward& b) {
  const DnnAttention& a = b.forward;
  Task made = task(Operation::attention_backward, &backward_graph, a);
  made.bind(kOne, const_cast<float*>(&kUnit));
  add(made, kQuery, a.query);
  add(made, kKey, a.key);
  add(made, kValue, a.value);
  add(made, kOut, a.result);
  add(made, kLogSum, a.log_sum);
  add(made, kOutGrad, b.grad);
  add(made, kQueryGrad, b.dquery);
  add(made, kKeyGrad, b.dkey);
  add(made, kValueGrad, b.dvalue);
  add(made, kQuerySum, b.query_sum);
  add(made, kDelta, b.delta);
  return made;
}

}  // namespace ebb::cuda::dnn
