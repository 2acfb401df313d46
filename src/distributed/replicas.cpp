// make_replicas, messages_of and others: tensors that all ranks have, and messages of several tensors.
#include "distributed/replicas.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include <map>
#include <sstream>

namespace ebb::distributed::detail {

std::vector<std::vector<std::size_t>> messages_of(const Variables& tensors, std::int64_t limit,
                                                  std::int64_t first) {
  struct Last {
    std::size_t message;
    std::int64_t space;
  };
  std::vector<std::vector<std::size_t>> messages;
  std::map<std::string, Last> last;  // of each dtype and device
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string kind = ebb::detail::text(tensors[i].scalar_type(), tensors[i].device().str());
    Last& open = last.try_emplace(kind, Last{messages.size(), first}).first->second;
    if (open.space <= 0) open = {messages.size(), limit};
    if (open.message == messages.size()) messages.emplace_back();
    messages[open.message].push_back(i);
    open.space -= static_cast<std::int64_t>(tensors[i].nbytes());
  }
  return messages;
}

ReduceOp average_of(Variable& message, const ProcessGroup& group) {
  if (message.scalar_type() != kHalf) return ReduceOp::AVG;
  message = message / group.size();
  return ReduceOp::SUM;
}

void as_vectors(const Variables& tensors, const std::function<void(const Variable&)>& exchange) {
  for (const auto& message : messages_of(tensors)) {
    Variables parts;
    for (const std::size_t i : message) parts.push_back(tensors[i]);
    const Variable vector = flatten_dense_tensors(parts);
    exchange(vector);
    const Variables values = unflatten_dense_tensors(vector, parts);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].copy_(values[i]);
  }
}

Variables trainable(const nn::Module& net) {
  Variables parameters = net.parameters();
  std::erase_if(parameters, [](const Variable& parameter) { return !parameter.requires_grad(); });
  return parameters;
}

void broadcast_all(const Variables& tensors, int root, const ProcessGroup& group) {
  Variables data;
  for (const Variable& tensor : tensors) data.push_back(tensor.data());
  as_vectors(data, [&](const Variable& vector) { broadcast(vector, root, group); });
}

void make_replicas(const char* caller, const NamedTensors& tensors, const ProcessGroup& group) {
  EBB_CHECK(group.rank() >= 0, caller, ": this process is not in group ", group.id(),
            ". Construct it in the members of the group only.");
  std::string own;
  Variables values;
  for (const auto& [name, tensor] : tensors) {
    own += ebb::detail::text(name, ": ", tensor.dtype(), tensor.sizes(),
                             tensor.requires_grad() ? ", requires a gradient\n" : "\n");
    values.push_back(tensor);
  }
  const std::vector<std::string> all = all_gather_object(own, group);
  for (std::size_t r = 1; r < all.size(); ++r) {
    std::istringstream first(all[0]), other(all[r]);
    for (std::string a, b; first || other;) {
      if (!std::getline(first, a)) a = "nothing";
      if (!std::getline(other, b)) b = "nothing";
      EBB_CHECK(a == b, caller, ": rank 0 has \"", a, "\", but rank ", std::uint64_t{r}, " has \"", b,
                "\". Construct the same net on all ranks.");
    }
  }
  broadcast_all(values, 0, group);
}

void make_replicas(const char* caller, const nn::Module& net, const ProcessGroup& group) {
  NamedTensors tensors;
  for (const auto& state : {net.named_parameters(), net.named_buffers()})
    for (const auto& item : state) tensors.emplace_back(item.key(), item.value());
  make_replicas(caller, tensors, group);
}

void refuse_in_shard(const char* caller) {
  ebb::detail::fail(caller,
                    ": the loss of a virtual shard calls collectives, so results would depend on the number "
                    "of ranks. Use the net without DistributedDataParallel, and BatchNorm in place of "
                    "SyncBatchNorm.");
}

}  // namespace ebb::distributed::detail
