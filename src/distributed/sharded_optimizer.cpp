// ShardedOptimizer: the division of parameters and states, and the collectives of a step.
#include <ebb/autograd/grad_mode.h>
#include <ebb/distributed/sharded_optimizer.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "distributed/replicas.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace ebb::distributed::detail {
namespace {

using optim::Optimizer;
using Variables = std::vector<Variable>;

constexpr std::size_t kMessageBytes = std::size_t{25} << 20;

// Returns the parameters of all groups. Those of a group that lists them twice occur twice.
Variables listed(const Optimizer& optimizer) {
  Variables all;
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}
Variables each_once(Variables parameters) {
  std::unordered_set<const void*> known;
  std::erase_if(parameters, [&](const Variable& each) { return !known.insert(each.impl()).second; });
  return parameters;
}

// Returns the number of a parameter from the name of an entry of its state, "3.exp_avg".
std::size_t number_of(const std::string& name) {
  std::size_t number = SIZE_MAX;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

/// The gradients of parameters, which are restored at the end of the scope.
struct SavedGradients {
  explicit SavedGradients(Variables all) : parameters(std::move(all)) {
    for (const Variable& parameter : parameters) gradients.push_back(parameter.grad());
  }
  ~SavedGradients() {
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].mutable_grad() = gradients[i];
  }
  SavedGradients(const SavedGradients&) = delete;
  Variables parameters, gradients;
};

/// Parameters of one dtype and device, by owner, whose gradients and values are sent together.
struct Message {
  std::vector<Variables> of_rank;
  TensorOptions options;
  std::size_t bytes = 0;

  // Returns the tensors `of(parameter)` of one rank as a vector.
  template <class F>
  Variable joined(std::size_t rank, const F& of) const {
    Variables parts{empty({0}, options)};
    for (const Variable& parameter : of_rank[rank]) parts.push_back(of(parameter).reshape({-1}));
    return cat(parts);
  }
  // Calls f(parameter, part) for each parameter of one rank, and for its part of a vector.
  template <class F>
  void divide(std::size_t rank, const Variable& vector, const F& f) const {
    std::int64_t at = 0;
    for (const Variable& parameter : of_rank[rank]) {
      f(parameter, vector.narrow(0, at, parameter.numel()).view(parameter.sizes()));
      at += parameter.numel();
    }
  }
};

}  // namespace

class Shards {
 public:
  explicit Shards(const ShardedOptimizerOptions& options)
      : averages_(options.average_gradients()),
        group_(options.process_group().checked()),
        bytes_(static_cast<std::size_t>(group_.size())) {}

  // Gives new parameters to the ranks with the fewest bytes, large ones first.
  void adopt(const Optimizer& optimizer) {
    Variables fresh = each_once(listed(optimizer));
    std::erase_if(fresh, [&](const Variable& each) { return owners_.contains(each.impl()); });
    if (fresh.empty()) return;
    make_replicas("ShardedOptimizer: parameter", fresh, group_);
    // Frozen parameters have no state, so they do not count.
    const auto load = [](const Variable& each) { return each.requires_grad() ? each.nbytes() : 0; };
    std::stable_sort(fresh.begin(), fresh.end(),
                     [&](const Variable& a, const Variable& b) { return load(a) > load(b); });
    for (const Variable& parameter : fresh) {
      const auto least = std::min_element(bytes_.begin(), bytes_.end());
      *least += load(parameter);
      owners_.emplace(parameter.impl(), std::pair(parameter, static_cast<int>(least - bytes_.begin())));
    }
  }

  int owner(const Variable& parameter) const {
    const auto found = owners_.find(parameter.impl());
    EBB_CHECK(found != owners_.end(), "ShardedOptimizer::owner: a tensor of shape ", parameter.sizes(),
              " is not a parameter of the optimizer, or step() has not run since it was added.");
    return found->second.second;
  }

  void step(const Optimizer& optimizer, const std::function<void()>& update) {
    ebb::detail::not_replayed("ShardedOptimizer exchanges parameters");
    const NoGradGuard no_grad;
    adopt(optimizer);
    const Variables parameters = each_once(listed(optimizer));
    EBB_CHECK(!parameters.empty(), "ShardedOptimizer: there are no parameters. Give it net->parameters().");
    const SavedGradients saved(parameters);
    const std::vector<Message> messages = divided(used_by_any_rank(parameters));
    if (averages_) average(messages, parameters);
    for (const Variable& parameter : parameters)
      if (owner(parameter) != group_.rank()) parameter.mutable_grad().reset();
    update();
    exchange(messages);
  }

  // Adds the states of other ranks to those of this rank, in the order of parameters.
  void complete(const Optimizer& optimizer, Optimizer::StateDict& state) const {
    const int receiver = StateReceiver::current(), own = group_.rank();
    if (receiver == StateReceiver::kNone) return;
    NamedTensors headers;  // dtype and sizes of each entry
    for (const auto& [name, value] : state) {
      std::vector<std::int64_t> header{static_cast<std::int64_t>(value.scalar_type())};
      header.insert(header.end(), value.sizes().begin(), value.sizes().end());
      headers.emplace_back(name, tensor(header, TensorOptions(kLong)));
    }
    const std::vector<NamedTensors> all = all_gather_object(headers, group_);
    const NoGradGuard no_grad;
    const Variables parameters = listed(optimizer);
    std::map<std::string, Variable> values(state.begin(), state.end());
    state.clear();
    for (int r = 0; r < group_.size(); ++r)
      for (const auto& [name, header] : all[static_cast<std::size_t>(r)]) {
        const auto* const first = header.data_ptr<std::int64_t>();
        // Backends for GPUs send no CPU tensors, so counters of steps are sent from the device.
        const TensorOptions options =
            TensorOptions(static_cast<DType>(first[0])).device(parameters.at(number_of(name)).device());
        Variable value = r == own ? values.at(name).to(options).contiguous() : Variable();
        if (r != own && (receiver == StateReceiver::kAll || receiver == own))
          value = empty({first + 1, first + header.numel()}, options);
        if (receiver == StateReceiver::kAll)
          broadcast(value, r, group_);
        else if (r != receiver && r == own)
          send(value, receiver, group_);
        else if (r != receiver && receiver == own)
          recv(value, r, group_);
        if (value.defined()) state.emplace_back(name, r == own ? values.at(name) : value.to(kCPU));
      }
    std::stable_sort(state.begin(), state.end(),
                     [](const auto& a, const auto& b) { return number_of(a.first) < number_of(b.first); });
  }

  void keep_own(const Optimizer& optimizer, Optimizer::StateDict& state) const {
    const Variables parameters = listed(optimizer);
    std::erase_if(state, [&](const auto& entry) {
      const std::size_t number = number_of(entry.first);
      return number < parameters.size() && owner(parameters[number]) != group_.rank();
    });
  }

 private:
  Variables used_by_any_rank(Variables parameters) const {
    std::vector<std::int64_t> flags;
    for (const Variable& parameter : parameters) flags.push_back(parameter.grad().defined());
    Variable used = tensor(flags, TensorOptions(kLong)).to(parameters[0].device());
    all_reduce(used, ReduceOp::MAX, group_);
    used = used.to(kCPU);
    const std::int64_t* flag = used.data_ptr<std::int64_t>();
    std::erase_if(parameters, [&](const Variable&) { return *flag++ == 0; });
    return parameters;
  }

  std::vector<Message> divided(const Variables& parameters) const {
    std::vector<Message> messages;
    std::map<std::string, std::size_t> last;  // dtype and device -> the message that is not full
    for (const Variable& parameter : parameters) {
      const auto found =
          last.emplace(ebb::detail::text(parameter.dtype(), parameter.device().str()), messages.size());
      if (found.second || messages[found.first->second].bytes >= kMessageBytes) {
        found.first->second = messages.size();
        messages.push_back({std::vector<Variables>(bytes_.size()), parameter.options()});
      }
      Message& message = messages[found.first->second];
      message.of_rank[static_cast<std::size_t>(owner(parameter))].push_back(parameter);
      message.bytes += parameter.nbytes();
    }
    return messages;
  }

  // Makes the gradients of this rank's parameters the averages. While a message is on its way, the next one
  // is prepared.
  void average(const std::vector<Message>& messages, const Variables& parameters) const {
    Variables averages;
    Work running;
    for (const Message& message : messages) {
      const bool small = message.options.dtype() == kHalf;  // it overflows easily, so its sum is kept small
      Variables inputs;
      for (std::size_t r = 0; r < bytes_.size(); ++r) {
        inputs.push_back(message.joined(r, [](const Variable& parameter) {
          const Variable& gradient = parameter.grad();
          return gradient.defined() ? gradient.to(parameter.scalar_type()) : zeros_like(parameter);
        }));
        if (small) inputs[r].div_(group_.size());
      }
      averages.push_back(empty_like(inputs[own()]));
      Work next = reduce_scatter(averages.back(), inputs, small ? ReduceOp::SUM : ReduceOp::AVG, group_,
                                 /*async_op=*/true);
      running.wait();
      running = std::move(next);
    }
    running.wait();
    for (const Variable& parameter : parameters) parameter.mutable_grad().reset();
    for (std::size_t i = 0; i < messages.size(); ++i)
      messages[i].divide(own(), averages[i], [](const Variable& parameter, const Variable& part) {
        parameter.mutable_grad() = part;
      });
  }

  // Sends the parameters of each rank to all others.
  void exchange(const std::vector<Message>& messages) const {
    std::function<void()> finish = [] {};
    for (const Message& message : messages) {
      Variables outputs;
      for (const Variables& parameters : message.of_rank) {
        std::int64_t count = 0;
        for (const Variable& parameter : parameters) count += parameter.numel();
        outputs.push_back(empty({count}, message.options));
      }
      const Variable input = message.joined(own(), [](const Variable& each) { return each.detach(); });
      Work work = all_gather(outputs, input, group_, /*async_op=*/true);
      finish();
      finish = [this, &message, work, outputs]() mutable {
        work.wait();
        for (std::size_t r = 0; r < outputs.size(); ++r)
          if (r != own())
            message.divide(r, outputs[r], [](const Variable& parameter, const Variable& part) {
              parameter.detach().copy_(part);
            });
      };
    }
    finish();
  }

  std::size_t own() const { return static_cast<std::size_t>(group_.rank()); }

  const bool averages_;
  const ProcessGroup group_;
  std::unordered_map<const void*, std::pair<Variable, int>> owners_;  // the Variable keeps its address in use
  std::vector<std::size_t> bytes_;                                    // of each rank
};

int& StateReceiver::current() {
  thread_local int receiver = kAll;
  return receiver;
}

std::shared_ptr<Shards> make_shards(Optimizer& optimizer, const ShardedOptimizerOptions& options) {
  const auto shards = std::make_shared<Shards>(options);
  shards->adopt(optimizer);
  optimizer.register_state_dict_post_hook(
      [shards](const Optimizer& self, Optimizer::StateDict& state) { shards->complete(self, state); });
  optimizer.register_load_state_dict_pre_hook([shards](Optimizer& self, Optimizer::StateDict& state) {
    shards->adopt(self);
    shards->keep_own(self, state);
  });
  return shards;
}

void step_sharded(Shards& shards, Optimizer& optimizer, const std::function<void()>& update) {
  shards.step(optimizer, update);
}

int owner_of(const Shards& shards, const Variable& parameter) { return shards.owner(parameter); }

}  // namespace ebb::distributed::detail
