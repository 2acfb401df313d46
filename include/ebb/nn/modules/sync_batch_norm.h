// Batch norm over the samples of all processes, as a module.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/functional/norm.h>

namespace ebb::nn {

/// torch.nn.SyncBatchNorm in a program of one process, whose batch is the whole batch: BatchNorm of (N, C,
/// ...) with any number of dimensions, at least 2. Parameters, buffers and their names are BatchNorm's.
class EBB_API SyncBatchNormImpl : public Cloneable<SyncBatchNormImpl> {
 public:
  explicit SyncBatchNormImpl(BatchNormOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  void reset_parameters();
  void reset_running_stats();

  BatchNormOptions options;
  Variable weight;
  Variable bias;
  Variable running_mean;
  Variable running_var;
  Variable num_batches_tracked;
};
EBB_LIBRARY_MODULE(SyncBatchNorm);

}  // namespace ebb::nn
