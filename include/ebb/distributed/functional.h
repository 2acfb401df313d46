// functional::all_reduce and others: differentiable collectives (torch.distributed.nn.functional).
#pragma once

#include <ebb/distributed/collectives.h>

namespace ebb::distributed::functional {

// These return new tensors and record the graph. backward() computes the gradient of the sum of all ranks'
// losses, by collectives. Therefore all ranks must call backward(), and on all ranks or on none the input
// must require a gradient. Derivatives of any order work.

/// Returns the reduction of `x` over all ranks. The gradient of SUM is the sum of all ranks' gradients, that
/// of AVG their mean. MIN, MAX and PRODUCT gather all tensors first; the gradient of MIN and MAX is divided
/// equally among ranks with the same value.
EBB_API Variable all_reduce(const Variable& x, ReduceOp op = ReduceOp::SUM, const ProcessGroup& group = {});
/// Returns the tensors of all ranks. Their sizes along dimension 0 may differ.
EBB_API std::vector<Variable> all_gather(const Variable& x, const ProcessGroup& group = {});
/// Returns the same tensors as one, joined along dimension 0.
EBB_API Variable all_gather_into_tensor(const Variable& x, const ProcessGroup& group = {});
/// Returns the sum or mean of all ranks' inputs[rank]. The shapes of the inputs may differ.
EBB_API Variable reduce_scatter(const std::vector<Variable>& inputs, ReduceOp op = ReduceOp::SUM,
                                const ProcessGroup& group = {});
/// Returns this rank's part of the sum or mean of `x`, of equal parts along dimension 0.
EBB_API Variable reduce_scatter_tensor(const Variable& x, ReduceOp op = ReduceOp::SUM,
                                       const ProcessGroup& group = {});
/// Sends the parts of `x` along dimension 0 to the ranks in turn, and returns the parts that arrive, joined.
/// Without `splits` all parts have the same size.
EBB_API Variable all_to_all_single(const Variable& x, const std::vector<std::int64_t>& splits = {},
                                   const ProcessGroup& group = {});
/// Sends inputs[i] to rank i, and returns the tensors that arrive. All have one shape, except for dimension
/// 0.
EBB_API std::vector<Variable> all_to_all(const std::vector<Variable>& inputs, const ProcessGroup& group = {});

}  // namespace ebb::distributed::functional
