// ShardedOptimizer: the division of parameters and states, and the collectives of a step.
#include <ebb/autograd/grad_mode.h>
#include <ebb/distributed/sharded_optimizer.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "distributed/replicas.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

namespace ebb::distributed::detail {
namespace {

using optim::Optimizer;

// Returns the parameters of all groups. Those of a group that lists them twice occur twice.
Variables listed(const Optimizer& optimizer) {
  Variables all;
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

// Returns the number of a parameter from the name of an entry of its state, "3.exp_avg".
std::size_t number_of(const std::string& name) {
  std::size_t number = SIZE_MAX;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

class Shards {
 public:
  explicit Shards(const ShardedOptimizerOptions& options)
      : averages_(options.average_gradients()),
        group_(options.process_group().checked()),
        rank_(static_cast<std::size_t>(group_.rank())),
        loads_(static_cast<std::size_t>(group_.size())) {}

  // Gives new parameters to the ranks with the fewest bytes, large ones first. Returns all parameters.
  Variables adopt(const Optimizer& optimizer) {
    Variables all = listed(optimizer), fresh;
    std::unordered_set<const void*> known;
    std::erase_if(all, [&](const Variable& each) { return !known.insert(each.impl()).second; });
    NamedTensors named;
    for (const Variable& each : all) {
      if (owners_.contains(each.impl())) continue;
      named.emplace_back(ebb::detail::text("parameter ", std::uint64_t{fresh.size()}), each);
      fresh.push_back(each);
    }
    if (fresh.empty()) return all;
    make_replicas("ShardedOptimizer", named, group_);
    // Frozen parameters have no state, so they do not count.
    const auto load = [](const Variable& each) { return each.requires_grad() ? each.nbytes() : 0; };
    std::stable_sort(fresh.begin(), fresh.end(),
                     [&](const Variable& a, const Variable& b) { return load(a) > load(b); });
    for (const Variable& parameter : fresh) {
      const auto least = std::min_element(loads_.begin(), loads_.end());
      *least += load(parameter);
      owners_.emplace(parameter.impl(), std::pair(parameter, least - loads_.begin()));
    }
    return all;
  }

  void step(const Optimizer& optimizer, const std::function<void()>& update) {
    ebb::detail::not_replayed("ShardedOptimizer exchanges parameters");
    const NoGradGuard no_grad;
    const Variables parameters = adopt(optimizer);
    EBB_CHECK(!parameters.empty(), "ShardedOptimizer: there are no parameters. Give it net->parameters().");
    const SavedGradients saved(parameters);
    const std::vector<Variables> messages = divided(parameters);
    if (averages_)
      for (const Variables& message : messages) average(message);
    for (const Variable& parameter : parameters)
      if (!is_own(parameter)) parameter.mutable_grad().reset();
    update();
    for (const Variables& message : messages) exchange(message);
  }

  // Adds the states of other ranks to those of this rank, in the order of parameters.
  void complete(Optimizer::StateDict& state) const {
    if (other_states == OtherStates::skip) return;
    const Optimizer::StateDict own = std::exchange(state, {});
    for (int r = 0; r < group_.size(); ++r) {
      std::string count = std::to_string(own.size());
      broadcast_object(count, r, group_);
      for (std::size_t i = 0; i < std::stoul(count); ++i) {  // one at a time, because states are large
        NamedTensors entry;
        if (r == group_.rank()) entry.emplace_back(own[i].first, own[i].second.to(kCPU));
        broadcast_object(entry, r, group_);
        if (r == group_.rank())
          state.push_back(own[i]);
        else if (other_states == OtherStates::keep)
          state.push_back(std::move(entry[0]));
      }
    }
    std::stable_sort(state.begin(), state.end(),
                     [](const auto& a, const auto& b) { return number_of(a.first) < number_of(b.first); });
  }

  void keep_own(const Optimizer& optimizer, Optimizer::StateDict& state) {
    adopt(optimizer);
    const Variables parameters = listed(optimizer);
    std::erase_if(state, [&](const auto& entry) {
      const std::size_t number = number_of(entry.first);
      return number < parameters.size() && !is_own(parameters[number]);
    });
  }

 private:
  std::int64_t owner(const Variable& parameter) const { return owners_.at(parameter.impl()).second; }
  bool is_own(const Variable& parameter) const { return owner(parameter) == group_.rank(); }

  // Returns the parameters that any rank has used, by messages, in which they are sorted by owner.
  std::vector<Variables> divided(const Variables& parameters) const {
    std::vector<std::int64_t> flags;
    for (const Variable& parameter : parameters) flags.push_back(parameter.grad().defined());
    const Variable used = tensor(flags, TensorOptions(kLong));
    all_reduce(used, ReduceOp::MAX, group_);
    Variables sent;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (used.data_ptr<std::int64_t>()[i]) sent.push_back(parameters[i]);
    std::vector<Variables> messages;
    for (const auto& numbers : messages_of(sent)) {
      Variables& message = messages.emplace_back();
      for (const std::size_t i : numbers) message.push_back(sent[i]);
      std::stable_sort(message.begin(), message.end(),
                       [this](const Variable& a, const Variable& b) { return owner(a) < owner(b); });
    }
    return messages;
  }

  // Divides the vector of a message into the parts of the ranks.
  Variables parts_of(const Variables& message, const Variable& vector) const {
    std::vector<std::int64_t> sizes(loads_.size());
    for (const Variable& each : message) sizes[static_cast<std::size_t>(owner(each))] += each.numel();
    return vector.split_with_sizes(sizes);
  }

  // Makes the gradients of this rank's parameters the averages.
  void average(const Variables& message) const {
    Variables gradients, own = message;
    for (const Variable& each : message)
      gradients.push_back(each.grad().defined() ? each.grad().to(each.scalar_type()) : zeros_like(each));
    Variable vector = flatten_dense_tensors(gradients);
    const ReduceOp op = average_of(vector, group_);
    const Variables parts = parts_of(message, vector);
    const Variable result = empty_like(parts[rank_]);
    reduce_scatter(result, parts, op, group_);
    std::erase_if(own, [this](const Variable& each) { return !is_own(each); });
    const Variables averages = unflatten_dense_tensors(result, own);
    for (std::size_t i = 0; i < own.size(); ++i) own[i].mutable_grad() = averages[i];
  }

  // Sends the parameters of each rank to all others.
  void exchange(const Variables& message) const {
    std::int64_t size = 0;
    for (const Variable& each : message) size += each.numel();
    const Variable vector = empty({size}, message[0].options());
    const Variables values = unflatten_dense_tensors(vector, message), parts = parts_of(message, vector);
    for (std::size_t i = 0; i < message.size(); ++i)
      if (is_own(message[i])) Variable(values[i]).copy_(message[i]);
    all_gather(parts, parts[rank_], group_);
    for (std::size_t i = 0; i < message.size(); ++i)
      if (!is_own(message[i])) message[i].detach().copy_(values[i]);
  }

  const bool averages_;
  const ProcessGroup group_;
  const std::size_t rank_;
  std::unordered_map<const void*, std::pair<Variable, std::int64_t>> owners_;  // Variables keep addresses
  std::vector<std::size_t> loads_;                                             // bytes of each rank
};

}  // namespace

ShardedStep make_sharded_step(Optimizer& optimizer, const ShardedOptimizerOptions& options) {
  const auto shards = std::make_shared<Shards>(options);
  shards->adopt(optimizer);
  optimizer.register_state_dict_post_hook(
      [shards](const Optimizer&, Optimizer::StateDict& state) { shards->complete(state); });
  optimizer.register_load_state_dict_pre_hook(
      [shards](Optimizer& self, Optimizer::StateDict& state) { shards->keep_own(self, state); });
  return [shards](const Optimizer& self, const std::function<void()>& update) { shards->step(self, update); };
}

}  // namespace ebb::distributed::detail
