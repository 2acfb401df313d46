// make_replicas, messages_of and others: tensors that all ranks have, and messages of several tensors.
#pragma once

#include <ebb/distributed/collectives.h>
#include <ebb/nn/module.h>

namespace ebb::distributed::detail {

using Variables = std::vector<Variable>;

/// Divides tensors among messages of one dtype and device, in their order. A message is full with `limit`
/// bytes, the first one of each dtype and device with `first` bytes. Returns the numbers of its tensors.
std::vector<std::vector<std::size_t>> messages_of(const Variables& tensors, std::int64_t limit = 25 << 20,
                                                  std::int64_t first = 25 << 20);
/// Calls `exchange` with the elements of each message as a vector, and copies the vector back to the tensors.
void as_vectors(const Variables& tensors, const std::function<void(const Variable& vector)>& exchange);

/// Returns the reduction that averages a message. Half overflows easily, so its message becomes a quotient,
/// which is then added.
ReduceOp average_of(Variable& message, const ProcessGroup& group);

/// Returns the parameters that require a gradient.
Variables trainable(const nn::Module& net);

/// Copies tensors of rank `root` to all ranks.
void broadcast_all(const Variables& tensors, int root, const ProcessGroup& group);

/// Copies tensors of rank 0 to all ranks. Throws on all ranks if those of two ranks differ in name, dtype,
/// shape or requires_grad. `caller` begins the error message.
void make_replicas(const char* caller, const NamedTensors& tensors, const ProcessGroup& group);
/// Copies parameters and buffers.
void make_replicas(const char* caller, const nn::Module& net, const ProcessGroup& group);

/// The gradients of parameters, which are restored at the end of the scope.
struct SavedGradients {
  explicit SavedGradients(Variables all) : parameters(std::move(all)) {
    for (const Variable& parameter : parameters) gradients.push_back(parameter.grad());
  }
  ~SavedGradients() {
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].mutable_grad() = gradients[i];
  }
  SavedGradients(const SavedGradients&) = delete;
  const Variables parameters;
  Variables gradients;
};

/// Whether the loss of a virtual shard is computed, which must not depend on other ranks.
inline thread_local bool in_shard = false;
/// Throws the error of a collective in a virtual shard.
[[noreturn]] void refuse_in_shard(const char* caller);

/// The treatment of states of other ranks by state_dict() of a ShardedOptimizer: it adds them, it only sends
/// its own, or it needs no other rank.
enum class OtherStates : std::uint8_t { keep, drop, skip };
inline thread_local OtherStates other_states = OtherStates::keep;

}  // namespace ebb::distributed::detail
