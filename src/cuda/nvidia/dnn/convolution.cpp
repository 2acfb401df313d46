// Convolutions and their transposes, with fused bias and ReLU.
#include <ebb/cuda/cuda.h>

#include "cuda/nvidia/dnn/graph_builder.h"

namespace ebb::cuda::dnn {
namespace {

// Sets alpha = 1 and beta = 0, as double if the problem computes in double, and otherwise as float.
void set_scales(Descriptor& operation, const GraphBuilder& build, cudnnBackendAttributeName_t alpha,
                cudnnBackendAttributeName_t beta) {
  if (build.compute_type() == CUDNN_DATA_DOUBLE)
    operation.set(alpha, 1.0).set(beta, 0.0);
  else
    operation.set(alpha, 1.0F).set(beta, 0.0F);
}

const Descriptor& geometry(const Problem& p, GraphBuilder& build) {
  Descriptor c(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  c.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<std::int64_t>(p.axes));
  c.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, build.compute_type());
  c.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  c.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, p.stride, p.axes);
  c.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, p.dilation, p.axes);
  c.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, p.padding, p.axes);
  std::int64_t reach[3];
  for (int a = 0; a < p.axes; ++a) reach[a] = (p.window[2 + a] - 1) * p.dilation[a] + 1;
  c.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, build.post_padding(reach));
  return build.keep(std::move(c));
}

const Descriptor& convolution(const Problem& p, GraphBuilder& build, const Descriptor& out) {
  const Descriptor& c = geometry(p, build);
  switch (p.operation) {
    case Operation::conv_input: {
      Descriptor op(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, c);
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, out);
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, build.tensor(kWeight, p.window));
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, build.tensor(kIn, p.in));
      set_scales(op, build, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
      return build.keep(std::move(op));
    }
    case Operation::conv_weight: {
      Descriptor op(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, c);
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, out);
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, build.tensor(kIn, p.in));
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, build.tensor(kWeight, p.window));
      set_scales(op, build, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
      return build.keep(std::move(op));
    }
    default: {
      Descriptor op(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, c);
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, build.tensor(kIn, p.in));
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, build.tensor(kWeight, p.window));
      op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, out);
      set_scales(op, build, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                 CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
      return build.keep(std::move(op));
    }
  }
}

Graph graph_of(const Problem& p, const Target& target) {
  GraphBuilder build(p);
  if (!p.bias)
    return std::move(build).finish({convolution(p, build, build.tensor(kOut, p.out)).raw()}, target);
  const auto between = [&](Uid uid) -> const Descriptor& {
    return build.tensor(uid, p.out, build.compute_type(), Held::nowhere);
  };
  std::vector<cudnnBackendDescriptor_t> operations;
  const Descriptor& sum = between(kSum);
  operations.push_back(convolution(p, build, sum).raw());
  const Descriptor& bias = build.per_channel(kBias);
  const Descriptor& shifted = p.relu ? between(kShifted) : build.tensor(kOut, p.out);
  operations.push_back(build.pointwise(CUDNN_POINTWISE_ADD, sum, &bias, shifted).raw());
  if (p.relu) {
    const Descriptor& out = build.tensor(kOut, p.out);
    operations.push_back(build.pointwise(CUDNN_POINTWISE_RELU_FWD, shifted, nullptr, out).raw());
  }
  return std::move(build).finish(operations, target);
}

}  // namespace

Task task_of(const DnnConvolution& c) {
  constexpr Operation kOperations[] = {Operation::conv_forward, Operation::conv_input,
                                       Operation::conv_weight};
  Problem p(kOperations[static_cast<std::size_t>(c.kind)], c.in, c.out);
  p.set_window(c.weight.sizes());
  p.set_steps(c.stride, c.padding);
  p.set_dilation(c.dilation);
  p.channels_last = p.channels_last || !c.weight.is_contiguous();
  p.bias = c.bias != nullptr;
  p.relu = c.relu;
  p.tf32 = c.in.dtype() == kFloat && is_tf32_allowed();
  p.benchmarked = are_convolutions_benchmarked();
  p.take(c.weight);
  if (c.bias) p.take(*c.bias);

  Task task{p, &graph_of, {}, {}};
  task.bind(kIn, c.in);
  task.bind(kWeight, c.weight);
  task.bind(kOut, c.out);
  if (c.bias) task.bind(kBias, *c.bias);
  return task;
}

}  // namespace ebb::cuda::dnn
