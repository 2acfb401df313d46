// Poolings by windows, and the gradients of means.
#include "cuda/nvidia/dnn/graph_builder.h"

namespace ebb::cuda::dnn {
namespace {

cudnnResampleMode_t mode_of(Operation operation) {
  switch (operation) {
    case Operation::pool_mean:
    case Operation::pool_mean_backward:
      return CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING;
    case Operation::pool_mean_inside:
    case Operation::pool_mean_inside_backward:
      return CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING;
    default:
      return CUDNN_RESAMPLE_MAXPOOL;
  }
}

const Descriptor& windows(const Problem& p, GraphBuilder& build) {
  Descriptor r(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
  const cudnnResampleMode_t mode = mode_of(p.operation);
  r.set(CUDNN_ATTR_RESAMPLE_MODE, mode);
  r.set(CUDNN_ATTR_RESAMPLE_COMP_TYPE, build.compute_type());
  r.set(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, static_cast<std::int64_t>(p.axes));
  r.set(CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
  r.set(CUDNN_ATTR_RESAMPLE_PADDING_MODE,
        mode == CUDNN_RESAMPLE_MAXPOOL ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD);
  r.set(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, p.window + 2, p.axes);
  r.set(CUDNN_ATTR_RESAMPLE_STRIDES, p.stride, p.axes);
  r.set(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, p.padding, p.axes);
  r.set(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, build.post_padding(p.window + 2));
  return build.keep(std::move(r));
}

Graph forward_graph(const Problem& p, const Target& target) {
  GraphBuilder build(p);
  Descriptor op(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, windows(p, build));
  op.set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, build.tensor(kIn, p.in));
  op.set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, build.tensor(kOut, p.out));
  const Descriptor& pool = build.keep(std::move(op));
  return std::move(build).finish({pool.raw()}, target);
}

Graph backward_graph(const Problem& p, const Target& target) {
  GraphBuilder build(p);
  Descriptor op(CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, windows(p, build));
  op.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, build.tensor(kIn, p.in));
  op.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, build.tensor(kOut, p.out));
  const Descriptor& pool = build.keep(std::move(op));
  return std::move(build).finish({pool.raw()}, target);
}

Operation operation_of(const DnnPooling& pooling) {
  switch (pooling.kind) {
    case DnnPool::mean:
      return pooling.transposed ? Operation::pool_mean_backward : Operation::pool_mean;
    case DnnPool::mean_inside:
      return pooling.transposed ? Operation::pool_mean_inside_backward : Operation::pool_mean_inside;
    default:
      return Operation::pool_max;
  }
}

}  // namespace

Task task_of(const DnnPooling& pooling) {
  Problem p(operation_of(pooling), pooling.in, pooling.out);
  DimVector window{1, 1};
  for (const std::int64_t size : pooling.window) window.push_back(size);
  p.set_window(window);
  p.set_steps(pooling.stride, pooling.padding);
  Task task{p, pooling.transposed ? &backward_graph : &forward_graph, {}, {}};
  task.bind(kIn, pooling.in);
  task.bind(kOut, pooling.out);
  return task;
}

}  // namespace ebb::cuda::dnn
