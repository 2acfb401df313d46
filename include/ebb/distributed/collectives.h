// all_reduce, broadcast, all_gather and others: collectives (torch.distributed).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/distributed/process_group.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ebb::distributed {

/// AVG divides the sum by the size of the group; it needs a floating dtype. For Bool, SUM and MAX mean "or",
/// PRODUCT and MIN mean "and". Half and BFloat16 are reduced in float, rounded after each pair of ranks.
enum class ReduceOp : std::uint8_t { SUM, AVG, PRODUCT, MIN, MAX };

// All ranks of the group call the same collectives in the same order, with the same dtypes and shapes.
// Tensors may have any dtype, any strides, no elements, and any device. A tensor that receives a result must
// not require a gradient while gradients are recorded: pass x.detach(), or use functional::.
//
// With `async_op`, a function returns before the collective is complete. Until Work::wait(), the caller must
// neither write its inputs nor use its outputs. `dst` and `src` are ranks of the group.

/// Replaces `tensor` by its reduction over all ranks.
EBB_API Work all_reduce(const Variable& tensor, ReduceOp op = ReduceOp::SUM, const ProcessGroup& group = {},
                        bool async_op = false);
/// Does the same only on rank `dst`. The tensor of other ranks stays as it is.
EBB_API Work reduce(const Variable& tensor, int dst, ReduceOp op = ReduceOp::SUM,
                    const ProcessGroup& group = {}, bool async_op = false);
/// Replaces `tensor` by the one of rank `src`.
EBB_API Work broadcast(const Variable& tensor, int src, const ProcessGroup& group = {},
                       bool async_op = false);

/// Writes the tensor of rank i to outputs[i]. The shapes may differ from rank to rank; outputs[i] has the
/// shape of the tensor of rank i.
EBB_API Work all_gather(const std::vector<Variable>& outputs, const Variable& tensor,
                        const ProcessGroup& group = {}, bool async_op = false);
/// Writes the tensors of all ranks, one after the other, to `output`, whose number of elements is that of all
/// together; each rank has the same number.
EBB_API Work all_gather_into_tensor(const Variable& output, const Variable& input,
                                    const ProcessGroup& group = {}, bool async_op = false);
/// Writes the reduction of all ranks' inputs[rank] to `output`. The shapes of the inputs may differ.
EBB_API Work reduce_scatter(const Variable& output, const std::vector<Variable>& inputs,
                            ReduceOp op = ReduceOp::SUM, const ProcessGroup& group = {},
                            bool async_op = false);
/// Reduces `input` and writes the part with the number of this rank to `output`. All parts have the same
/// size.
EBB_API Work reduce_scatter_tensor(const Variable& output, const Variable& input, ReduceOp op = ReduceOp::SUM,
                                   const ProcessGroup& group = {}, bool async_op = false);
/// Sends inputs[i] to rank i, and writes what rank i sends to outputs[i].
EBB_API Work all_to_all(const std::vector<Variable>& outputs, const std::vector<Variable>& inputs,
                        const ProcessGroup& group = {}, bool async_op = false);
/// Does the same with the parts of two tensors. The splits are sizes along dimension 0; without them all
/// parts have the same size.
EBB_API Work all_to_all_single(const Variable& output, const Variable& input,
                               const std::vector<std::int64_t>& output_splits = {},
                               const std::vector<std::int64_t>& input_splits = {},
                               const ProcessGroup& group = {}, bool async_op = false);
/// Writes the tensor of rank i to outputs[i] on rank `dst`. Other ranks pass an empty list.
EBB_API Work gather(const Variable& tensor, const std::vector<Variable>& outputs, int dst,
                    const ProcessGroup& group = {}, bool async_op = false);
/// Writes inputs[i] of rank `src` to the tensor of rank i. Other ranks pass an empty list.
EBB_API Work scatter(const Variable& tensor, const std::vector<Variable>& inputs, int src,
                     const ProcessGroup& group = {}, bool async_op = false);
/// Returns when all ranks have called it.
EBB_API Work barrier(const ProcessGroup& group = {}, bool async_op = false);

/// The source of a message from any rank.
inline constexpr int kAnySource = -1;
/// Sends a tensor to rank `dst`, which receives it with the same `tag` (0 to 32767). isend() and irecv() do
/// not wait.
EBB_API void send(const Variable& tensor, int dst, const ProcessGroup& group = {}, int tag = 0);
EBB_API Work isend(const Variable& tensor, int dst, const ProcessGroup& group = {}, int tag = 0);
/// Receives a tensor of the same dtype and number of elements from rank `src`, or from any rank. Returns the
/// rank of the source.
EBB_API int recv(const Variable& tensor, int src = kAnySource, const ProcessGroup& group = {}, int tag = 0);
EBB_API Work irecv(const Variable& tensor, int src = kAnySource, const ProcessGroup& group = {}, int tag = 0);

/// Tensors with names, as in a file of safetensors.
using NamedTensors = std::vector<std::pair<std::string, Variable>>;
/// Replace `object`, a string of any bytes or tensors on the CPU with names, by the one of rank `src`
/// (torch: broadcast_object_list).
EBB_API void broadcast_object(std::string& object, int src, const ProcessGroup& group = {});
EBB_API void broadcast_object(NamedTensors& object, int src, const ProcessGroup& group = {});
/// Return the objects of all ranks, in the order of ranks.
EBB_API std::vector<std::string> all_gather_object(const std::string& object, const ProcessGroup& group = {});
EBB_API std::vector<NamedTensors> all_gather_object(const NamedTensors& object,
                                                    const ProcessGroup& group = {});

}  // namespace ebb::distributed
