// SyncBatchNorm: batch norm over the samples of all processes.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/nn/modules/norm.h>

namespace ebb::nn {

/// torch.nn.SyncBatchNorm for a program with one process, which contains the whole batch. The input (N, C,
/// ...) has at least 2 dimensions. The result equals that of BatchNorm. Parameters, buffers and their names
/// are those of BatchNorm.
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

  /// Replaces each BatchNorm1d, 2d and 3d of a Sequential, ModuleList or ModuleDict in the module tree by a
  /// SyncBatchNorm with the same tensors, options and mode. Returns the module, or the replacement if the
  /// module itself is a batch norm. A batch norm that is a member of a class is not replaced. In a program
  /// with one process, it computes the same result as a SyncBatchNorm
  /// (torch.nn.SyncBatchNorm.convert_sync_batchnorm).
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
