// Batch norm over the samples of all processes, as a module.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/nn/modules/norm.h>

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
extern template class Cloneable<SyncBatchNormImpl>;

/// Handle of SyncBatchNormImpl.
class SyncBatchNorm : public ModuleHolder<SyncBatchNormImpl> {
 public:
  using ModuleHolder<SyncBatchNormImpl>::ModuleHolder;

  /// Puts a SyncBatchNorm with the same tensors, options and mode in the place of each BatchNorm1d, 2d and 3d
  /// that a Sequential, ModuleList or ModuleDict at or below the module holds, and returns the module; of a
  /// batch norm itself what stands for it. One that is a member of a class keeps its type, which in a program
  /// of one process computes the same (torch.nn.SyncBatchNorm.convert_sync_batchnorm).
  static EBB_API std::shared_ptr<Module> convert_sync_batchnorm(const std::shared_ptr<Module>& module);
  template <class Handle>
    requires detail::Holder<Handle>
  static Handle convert_sync_batchnorm(const Handle& module) {
    convert_sync_batchnorm(std::shared_ptr<Module>(module.ptr()));
    return module;
  }
  template <std::size_t D>
  static SyncBatchNorm convert_sync_batchnorm(const ModuleHolder<BatchNormImpl<D>>& norm) {
    return std::dynamic_pointer_cast<SyncBatchNormImpl>(
        convert_sync_batchnorm(std::shared_ptr<Module>(norm.ptr())));
  }
};

}  // namespace ebb::nn
