// VirtualShards: gradients with the same bits for any number of ranks.
#pragma once

#include <ebb/distributed/process_group.h>
#include <ebb/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace ebb::distributed {

/// The options of VirtualShards.
struct VirtualShardsOptions {
  /// The processes that share the work. Their number must divide the number of shards.
  EBB_ARG(ProcessGroup, process_group);
  /// The number of parts of each global batch, a power of two. Results depend on it.
  EBB_ARG(std::int64_t, shards) = 8;
  /// The seed of all random numbers that forward() draws.
  EBB_ARG(std::uint64_t, seed) = 0;
};

/// Computes the gradient of a global batch so that its bits do not depend on the number of ranks or threads:
///
///     use_deterministic_algorithms(true);
///     VirtualShards shards(net, VirtualShardsOptions().seed(1));
///     for (; step < steps; ++step) {
///       const auto [x, y] = batch_of(step);  // the global batch, of 8 n rows
///       optimizer.zero_grad();
///       shards.backward(step, [&](std::int64_t s) {
///         return nn::functional::cross_entropy(net(x.chunk(8)[s]), y.chunk(8)[s]);
///       });
///       optimizer.step();
///     }
///
/// The batch is cut into a fixed number of shards. Each rank computes the gradients of some shards, one shard
/// at a time, with random numbers that depend on seed, step and shard. The gradients of all shards are added
/// in the order of one binary tree: ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)). So a run may continue from a
/// checkpoint on another number of ranks, and ends with the same weights. 1, 2, 4 and 8 ranks can share 8
/// shards.
///
/// Batch norms normalize each shard by its own statistics, as on 8 ranks of DistributedDataParallel. Buffers
/// that forward() changes, for example running statistics, become the mean over the shards, added in the same
/// tree; the mean of integers and flags is rounded toward zero. During backward() a rank has up to
/// log2(shards) + 2 copies of the gradients.
class EBB_API VirtualShards {
 public:
  /// Copies the parameters and buffers of rank 0 to all ranks. Throws if the nets of two ranks differ.
  explicit VirtualShards(std::shared_ptr<nn::Module> net, VirtualShardsOptions options = {});
  template <class M>
  explicit VirtualShards(const nn::ModuleHolder<M>& net, VirtualShardsOptions options = {})
      : VirtualShards(std::static_pointer_cast<nn::Module>(net.ptr()), std::move(options)) {}

  /// Adds the mean of the shards' gradients to the gradients of the net, and returns the mean of their
  /// losses, kDouble [], on all ranks. All ranks call it. `loss_of(s)` returns the loss of shard s, normally
  /// a mean over its rows, or an undefined tensor if the shard has no rows, which counts as zero. It is
  /// called for this rank's shards. A parameter that no shard uses keeps its gradient, also an undefined one.
  /// The random generators of the CPU and of the devices of the net are the same afterwards as before.
  ///
  /// Throws without use_deterministic_algorithms(true), and if `loss_of` calls collectives, because their
  /// result depends on the number of ranks: SyncBatchNorm, and nets in DistributedDataParallel.
  Variable backward(std::int64_t step, const std::function<Variable(std::int64_t shard)>& loss_of);

 private:
  std::shared_ptr<nn::Module> net_;
  VirtualShardsOptions options_;
};

}  // namespace ebb::distributed
