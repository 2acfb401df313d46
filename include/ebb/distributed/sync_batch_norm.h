// convert_sync_batchnorm: batch norms over the batches of all ranks.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/distributed/process_group.h>
#include <ebb/nn/module.h>

namespace ebb::distributed {

/// Returns (x - mean) / sqrt(variance + eps) * weight + bias, where mean and variance are those of each
/// channel over the batches x of all ranks, (N, C, ...). N may differ from rank to rank and may be 0. The
/// arguments are those of ebb::batch_norm in training mode: the running statistics are updated if they are
/// defined. Statistics are computed in float for Half and BFloat16. Derivatives of any order work; the
/// gradients of weight and bias are those of this rank. All ranks must call it, and backward() or not alike.
EBB_API Variable sync_batch_norm(const Variable& x, const Variable& weight, const Variable& bias,
                                 const Variable& running_mean, const Variable& running_var, double momentum,
                                 double eps, const ProcessGroup& group = {});

/// Makes all BatchNorm1d, 2d, 3d and nn::SyncBatchNorm below `net`, and `net` itself, normalize by
/// sync_batch_norm in training mode. Their running statistics are then equal on all ranks. Types, members and
/// names in the net do not change, because hooks of the modules do it; so it applies to calls `norm(x)`, not
/// to `norm->forward(x)`. In evaluation mode nothing changes. A second call changes nothing. All ranks of the
/// group must call it (torch.nn.SyncBatchNorm.convert_sync_batchnorm).
EBB_API void convert_sync_batchnorm(nn::Module& net, const ProcessGroup& group = {});
template <class Net>
Net convert_sync_batchnorm(const Net& net, const ProcessGroup& group = {})
  requires requires { net->modules(); }
{
  convert_sync_batchnorm(const_cast<nn::Module&>(static_cast<const nn::Module&>(*net)), group);
  return net;
}

}  // namespace ebb::distributed
