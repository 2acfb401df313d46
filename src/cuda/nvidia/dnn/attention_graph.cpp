// The operations of attention graphs. Each function adds the descriptors of one operation.
#include "cuda/nvidia/dnn/attention_graph.h"

#include <utility>

namespace ebb::cuda::dnn {
namespace {

Lengths dense(const Lengths& sizes) {
  const DimVector strides = contiguous_strides(sizes);
  return {strides.begin(), strides.end()};
}

}  // namespace

Operand exchanged(const Operand& x) {
  Operand y{nullptr, x.sizes, x.strides};
  std::swap(y.sizes[2], y.sizes[3]);
  std::swap(y.strides[2], y.strides[3]);
  return y;
}

Operand AttentionGraph::array(Uid uid, const Lengths& sizes, const Lengths& strides,
                              std::optional<cudnnDataType_t> type) {
  const Descriptor& t = build_.tensor(uid, sizes, strides, type.value_or(build_.data_type()), Held::memory);
  return {&t, sizes, strides};
}

Operand AttentionGraph::array(Uid uid, const Lengths& sizes, std::optional<cudnnDataType_t> type) {
  return array(uid, sizes, dense(sizes), type);
}

Operand AttentionGraph::sum_in_memory(Uid uid, const Lengths& sizes) {
  const Lengths strides = dense(sizes);
  return {&build_.tensor(uid, sizes, strides, CUDNN_DATA_FLOAT, Held::memory, CUDNN_TENSOR_REORDERING_F16x16),
          sizes, strides};
}

Operand AttentionGraph::number(Uid uid) {
  const Lengths ones(4, 1);
  return {&build_.tensor(uid, ones, ones, CUDNN_DATA_FLOAT, Held::host), ones, ones};
}

Operand AttentionGraph::between(const Lengths& sizes, const Lengths& strides, cudnnDataType_t type) {
  const auto uid = static_cast<Uid>(next_++);
  return {&build_.tensor(uid, sizes, strides, type, Held::nowhere), sizes, strides};
}

Operand AttentionGraph::between(const Lengths& sizes, cudnnDataType_t type) {
  return between(sizes, dense(sizes), type);
}

Operand AttentionGraph::matmul(const Operand& a, const Operand& b, const std::optional<Operand>& out) {
  Descriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  const Descriptor& kept = build_.keep(std::move(how));
  const Operand y = out ? *out : between({a.sizes[0], a.sizes[1], a.sizes[2], b.sizes[3]});
  Descriptor op(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, *a.descriptor);
  op.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, *b.descriptor);
  op.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, *y.descriptor);
  op.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, kept);
  add(std::move(op));
  return y;
}

const Descriptor& AttentionGraph::kind(cudnnPointwiseMode_t mode, cudnnDataType_t type,
                                       std::optional<std::int64_t> axis) {
  Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, type);
  if (axis) how.set(CUDNN_ATTR_POINTWISE_AXIS, *axis);
  return build_.keep(std::move(how));
}

Operand AttentionGraph::pointwise(cudnnPointwiseMode_t mode, const Operand& x,
                                  const std::optional<Operand>& b, const std::optional<Operand>& out) {
  const Operand y = out ? *out : between(x.sizes);
  const Descriptor& how = kind(mode, CUDNN_DATA_FLOAT);
  Descriptor op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *x.descriptor);
  if (b) op.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b->descriptor);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y.descriptor);
  add(std::move(op));
  return y;
}

Operand AttentionGraph::reduce(cudnnReduceTensorOp_t what, const Operand& x, const Operand& out) {
  Descriptor how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_REDUCTION_OPERATOR, what).set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  const Descriptor& kept = build_.keep(std::move(how));
  Descriptor op(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, *x.descriptor);
  op.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, *out.descriptor);
  op.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, kept);
  add(std::move(op));
  return out;
}

Operand AttentionGraph::transpose(const Operand& x) {
  const Operand shape = exchanged(x);
  const Operand y = between(shape.sizes, shape.strides, build_.data_type());
  Descriptor op(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, *x.descriptor);
  op.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, *y.descriptor);
  add(std::move(op));
  return y;
}

Operand AttentionGraph::index(const Operand& like, std::int64_t axis) {
  const Operand y = between(like.sizes, CUDNN_DATA_INT32);
  const Descriptor& how = kind(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, axis);
  Descriptor op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *like.descriptor);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y.descriptor);
  add(std::move(op));
  return y;
}

Operand AttentionGraph::causal(const Operand& scores, const Operand& never) {
  const Operand row = index(scores, 2), column = index(scores, 3),
                seen = between(scores.sizes, CUDNN_DATA_BOOLEAN);
  const Descriptor& compares = kind(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN);
  Descriptor comparison(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  comparison.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, compares);
  comparison.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *row.descriptor);
  comparison.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *column.descriptor);
  comparison.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *seen.descriptor);
  add(std::move(comparison));
  const Operand out = between(scores.sizes);
  const Descriptor& selects = kind(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT);
  Descriptor choice(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  choice.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, selects);
  choice.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *scores.descriptor);
  choice.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *never.descriptor);
  choice.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *seen.descriptor);
  choice.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *out.descriptor);
  add(std::move(choice));
  return out;
}

}  // namespace ebb::cuda::dnn
