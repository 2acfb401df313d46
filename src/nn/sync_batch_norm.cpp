// Batch norm over the samples of all processes, of which there is one.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/sync_batch_norm.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/tensor_data.h>

#include "nn/fields.h"
#include "nn/module_tools.h"

namespace ebb::nn {

SyncBatchNormImpl::SyncBatchNormImpl(BatchNormOptions options_) : options(options_) {
  SyncBatchNormImpl::reset();
}

void SyncBatchNormImpl::reset() {
  const std::int64_t features = options.num_features();
  const bool affine = options.affine(), track = options.track_running_stats();
  weight = register_parameter("weight", affine ? empty({features}) : Variable(), affine);
  bias = register_parameter("bias", affine ? empty({features}) : Variable(), affine);
  running_mean = register_buffer("running_mean", track ? zeros({features}) : Variable());
  running_var = register_buffer("running_var", track ? ones({features}) : Variable());
  num_batches_tracked =
      register_buffer("num_batches_tracked", track ? zeros({}, TensorOptions(kLong)) : Variable());
  reset_parameters();
}

void SyncBatchNormImpl::reset_running_stats() {
  if (!running_mean.defined()) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

void SyncBatchNormImpl::reset_parameters() {
  reset_running_stats();
  if (!weight.defined()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  Fields(stream, typeid(SyncBatchNormImpl))(options.num_features())("eps", options.eps())(
      "momentum", options.momentum())("affine", options.affine())("track_running_stats",
                                                                  options.track_running_stats());
}

Variable SyncBatchNormImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    EBB_CHECK(input.defined() && input.dim() >= 2, "expected at least 2D input (got ",
              input.defined() ? input.dim() : 0, "D input)");
    double momentum = options.momentum().value_or(0.0);
    if (is_training() && options.track_running_stats() && num_batches_tracked.defined()) {
      NoGradGuard no_grad;
      num_batches_tracked.add_(1);
      if (!options.momentum()) momentum = 1.0 / num_batches_tracked.item<double>();
    }
    return functional::batch_norm(input, running_mean, running_var,
                                  functional::BatchNormFuncOptions()
                                      .weight(weight)
                                      .bias(bias)
                                      .training(is_training() || !options.track_running_stats())
                                      .momentum(momentum)
                                      .eps(options.eps()));
  });
}

template class Cloneable<SyncBatchNormImpl>;

}  // namespace ebb::nn
