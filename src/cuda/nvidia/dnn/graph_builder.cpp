// GraphBuilder: converts a problem to a cuDNN operation graph.
#include "cuda/nvidia/dnn/graph_builder.h"

#include <algorithm>

namespace ebb::cuda::dnn {

cudnnDataType_t GraphBuilder::data_type() const {
  switch (p_.type()) {
    case kDouble:
      return CUDNN_DATA_DOUBLE;
    case kHalf:
      return CUDNN_DATA_HALF;
    case kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

const Descriptor& GraphBuilder::keep(Descriptor part) {
  part.finalize();
  return graph_.parts.emplace_back(std::move(part));
}

const Descriptor& GraphBuilder::tensor(Uid uid, const std::int64_t* sizes, cudnnDataType_t type, Held held) {
  const std::size_t dims = static_cast<std::size_t>(p_.axes) + 2;
  const std::vector<std::int64_t> shape(sizes, sizes + dims);
  const DimVector strides = p_.channels_last ? channels_last_strides(shape) : contiguous_strides(shape);
  return tensor(uid, shape, {strides.begin(), strides.end()}, type, held);
}

const Descriptor& GraphBuilder::tensor(Uid uid, const std::vector<std::int64_t>& sizes,
                                       const std::vector<std::int64_t>& strides, cudnnDataType_t type,
                                       Held held, cudnnBackendTensorReordering_t order) {
  Descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<std::int64_t>(uid));
  t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
        static_cast<std::int64_t>(held == Held::memory ? p_.alignment : kMostAligned));
  t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes);
  t.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  t.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, held == Held::nowhere);
  t.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, held == Held::host);
  if (order != CUDNN_TENSOR_REORDERING_NONE) t.set(CUDNN_ATTR_TENSOR_REORDERING_MODE, order);
  return keep(std::move(t));
}

const Descriptor& GraphBuilder::per_channel(Uid uid, cudnnDataType_t type) {
  const std::int64_t channels[5] = {1, p_.out[1], 1, 1, 1};
  return tensor(uid, channels, type, Held::memory);
}

const Descriptor& GraphBuilder::pointwise(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b,
                                          const Descriptor& y) {
  Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, compute_type());
  // Propagates NaN. Otherwise ReLU would replace NaN by 0.
  if (mode == CUDNN_POINTWISE_RELU_FWD) how.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
  const Descriptor& kept = keep(std::move(how));
  Descriptor op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kept);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b) op.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  return keep(std::move(op));
}

std::vector<std::int64_t> GraphBuilder::post_padding(const std::int64_t* reach) const {
  std::vector<std::int64_t> post;
  for (int a = 0; a < p_.axes; ++a) {
    const std::int64_t end = (p_.out[2 + a] - 1) * p_.stride[a] + reach[a];
    post.push_back(std::max(p_.padding[a], end - p_.padding[a] - p_.in[2 + a]));
  }
  return post;
}

Graph GraphBuilder::finish(const std::vector<cudnnBackendDescriptor_t>& operations, const Target& target) && {
  if (target.handle) graph_.operations.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle);
  graph_.operations.set_descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph_.operations.finalize();
  return std::move(graph_);
}

}  // namespace ebb::cuda::dnn
