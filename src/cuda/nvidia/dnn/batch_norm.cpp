// Batch normalisation with the batch's statistics, and its gradients. cuDNN does not compute the running
// statistics here, because its documentation does not say whether it averages the biased or the unbiased
// variance.
#include "cuda/nvidia/dnn/graph_builder.h"

namespace ebb::cuda::dnn {
namespace {

constexpr std::int64_t kOne[5] = {1, 1, 1, 1, 1};

const Descriptor& statistic(GraphBuilder& build, Uid uid) { return build.per_channel(uid, CUDNN_DATA_FLOAT); }

Graph forward_graph(const Problem& p, const Target& target) {
  GraphBuilder build(p);
  Descriptor op(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_BATCH_NORM);
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING);
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, build.tensor(kIn, p.in));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, build.tensor(kOut, p.out));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, statistic(build, kMean));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, statistic(build, kRstd));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, statistic(build, kWeight));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, statistic(build, kBias));
  op.set(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, build.tensor(kEps, kOne, CUDNN_DATA_FLOAT, Held::host));
  const Descriptor& norm = build.keep(std::move(op));
  return std::move(build).finish({norm.raw()}, target);
}

Graph backward_graph(const Problem& p, const Target& target) {
  GraphBuilder build(p);
  Descriptor op(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_BATCH_NORM);
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, build.tensor(kIn, p.in));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, build.tensor(kOutGrad, p.out));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, build.tensor(kInGrad, p.in));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, statistic(build, kMean));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, statistic(build, kRstd));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, statistic(build, kWeight));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, statistic(build, kWeightGrad));
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, statistic(build, kBiasGrad));
  const Descriptor& norm = build.keep(std::move(op));
  return std::move(build).finish({norm.raw()}, target);
}

void add(Task& task, Uid uid, const NdArray& x) {
  task.problem.take(x);
  task.bind(uid, x);
}

}  // namespace

Task task_of(const DnnBatchNorm& n) {
  Task task{Problem(Operation::batch_norm, n.in, n.out), &forward_graph, {}, {}};
  // An array (rows, channels) is both contiguous and channels-last. cuDNN's kernels need it described as
  // channels-last.
  if (n.in.numel() == n.in.sizes()[0] * n.in.sizes()[1]) task.problem.channels_last = true;
  add(task, kIn, n.in);
  add(task, kOut, n.out);
  add(task, kMean, n.mean);
  add(task, kRstd, n.rstd);
  add(task, kWeight, n.weight);
  add(task, kBias, n.bias);
  task.bind(kEps, const_cast<float*>(&n.eps));
  return task;
}

Task task_of(const DnnBatchNormBackward& n) {
  Task task{Problem(Operation::batch_norm_backward, n.in, n.dout), &backward_graph, {}, {}};
  if (n.in.numel() == n.in.sizes()[0] * n.in.sizes()[1]) task.problem.channels_last = true;
  add(task, kIn, n.in);
  add(task, kOutGrad, n.dout);
  add(task, kInGrad, n.din);
  add(task, kMean, n.mean);
  add(task, kRstd, n.rstd);
  add(task, kWeight, n.weight);
  add(task, kWeightGrad, n.dweight);
  add(task, kBiasGrad, n.dbias);
  return task;
}

}  // namespace ebb::cuda::dnn
