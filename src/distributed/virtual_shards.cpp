// VirtualShards: gradients of shards, added in one binary tree.
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/rng_state.h>
#include <ebb/core/deterministic.h>
#include <ebb/core/random.h>
#include <ebb/distributed/virtual_shards.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "distributed/engine.h"
#include "distributed/replicas.h"

#include <bit>
#include <map>
#include <utility>

namespace ebb::distributed {
namespace {

using detail::Variables;

/// Random generators of the CPU and of the devices of tensors, which are restored at the end of the scope.
struct SavedGenerators {
  explicit SavedGenerators(const Variables& tensors) {
    states.emplace("cpu", get_rng_state());
    for (const Variable& tensor : tensors)
      if (!tensor.device().is_cpu()) states.emplace(tensor.device().str(), get_rng_state(tensor.device()));
  }
  ~SavedGenerators() {
    for (const auto& [device, state] : states) set_rng_state(state, Device(device));
  }
  SavedGenerators(const SavedGenerators&) = delete;
  std::map<std::string, Variable> states;
};

/// Sums over shards of gradients, buffers and losses.
class Sums {
 public:
  explicit Sums(const nn::Module& net) : targets_(net.parameters()) {
    std::erase_if(targets_, [](const Variable& parameter) { return !parameter.requires_grad(); });
    parameters_ = targets_.size();
    EBB_CHECK(parameters_ > 0, "VirtualShards::backward: all parameters of the net are frozen.");
    for (const Variable& buffer : net.buffers()) targets_.push_back(buffer);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      before_.push_back(is_parameter(i) ? targets_[i].grad() : targets_[i].detach().clone());
      versions_.push_back(targets_[i]._version());
    }
    clear();
  }
  ~Sums() {
    clear();
    for (std::size_t i = 0; i < parameters_; ++i) targets_[i].mutable_grad() = before_[i];
  }
  Sums(const Sums&) = delete;

  const Variables& targets() const { return targets_; }

  /// Takes the gradients and buffers of the next shard from the net. The last value has the loss, and then
  /// how many shards have changed each target.
  void take(const Variable& loss) {
    std::vector<double> numbers{loss.defined() ? loss.item<double>() : 0};
    Variables sums;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Variable& value = is_parameter(i) ? targets_[i].grad() : targets_[i];
      const bool changed = is_parameter(i) ? value.defined() : targets_[i]._version() != versions_[i];
      const DType dtype = is_floating(targets_[i].scalar_type()) ? targets_[i].scalar_type() : kLong;
      sums.push_back(value.defined() ? value.detach().to(dtype, /*non_blocking=*/false, /*copy=*/true)
                                     : zeros_like(targets_[i]));
      numbers.push_back(changed);
    }
    sums.push_back(tensor(numbers, TensorOptions(kDouble)));
    clear();
    // Sums of equally many shards are added, as a binary counter carries.
    std::size_t level = 0;
    for (; !stack_.empty() && stack_.back().first == level; ++level) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add_(stack_.back().second[i]);
      stack_.pop_back();
    }
    stack_.emplace_back(level, std::move(sums));
  }

  /// Adds the sums of all ranks. Each rank adds one part, for all. The results have the same places in
  /// memory on any number of ranks, because the order of sums in kernels may depend on them.
  void reduce(const ProcessGroup& group) {
    const std::int64_t n = group.size();
    Variables& sums = stack_.back().second;
    for (const auto& message : detail::messages_of(sums)) {
      Variables values;
      for (const std::size_t i : message) values.push_back(sums[i]);
      const Variable flat = flatten_dense_tensors(values);
      const std::int64_t size = flat.numel(), part = (size + n - 1) / n;
      const Variable all = zeros({n, part}, flat.options()), parts = empty_like(all);
      all.view({-1}).narrow(0, 0, size).copy_(flat);
      all_to_all_single(parts, all, {}, {}, group);
      for (std::int64_t width = 1; width < n; width *= 2)
        for (std::int64_t r = 0; r < n; r += 2 * width) parts[r].add_(parts[r + width]);
      all_gather_into_tensor(all, parts[0], group);
      values = unflatten_dense_tensors(all.view({-1}), values);
      for (std::size_t k = 0; k < message.size(); ++k) sums[message[k]] = values[k];
    }
  }

  /// Adds the means to the gradients, and copies them to the buffers. Returns the mean of the losses.
  Variable give(std::int64_t shards) {
    Variables& sums = stack_.back().second;
    const double* const numbers = sums.back().data_ptr<double>();
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (numbers[i + 1] == 0) continue;
      is_floating(sums[i].scalar_type()) ? sums[i].div_(shards) : sums[i].div_(shards, "trunc");
      if (!is_parameter(i))
        before_[i].copy_(sums[i]), versions_[i] = -1;
      else if (before_[i].defined())
        before_[i].add_(sums[i]);
      else
        before_[i] = sums[i];
    }
    return full({}, numbers[0] / static_cast<double>(shards), TensorOptions(kDouble));
  }

 private:
  bool is_parameter(std::size_t i) const { return i < parameters_; }
  // Drops the gradients, and restores the buffers.
  void clear() {
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (is_parameter(i)) {
        targets_[i].mutable_grad().reset();
      } else if (targets_[i]._version() != versions_[i]) {
        targets_[i].detach().copy_(before_[i]);
        versions_[i] = targets_[i]._version();
      }
  }

  Variables targets_;  // parameters, then buffers
  std::size_t parameters_ = 0;
  Variables before_;                                      // gradients and buffers without the shards
  std::vector<std::int64_t> versions_;                    // of targets with the values before_
  std::vector<std::pair<std::size_t, Variables>> stack_;  // sums of 2^first shards
};

/// Makes collectives an error for a scope.
struct ShardScope {
  ShardScope() { detail::in_shard = true; }
  ~ShardScope() { detail::in_shard = false; }
  ShardScope(const ShardScope&) = delete;
};

}  // namespace

VirtualShards::VirtualShards(std::shared_ptr<nn::Module> net, VirtualShardsOptions options)
    : net_(std::move(net)), options_(std::move(options)) {
  EBB_CHECK(net_ != nullptr, "VirtualShards: the net is null. Construct it first.");
  const std::int64_t shards = options_.shards(), ranks = options_.process_group().size();
  EBB_CHECK(shards > 0 && std::has_single_bit(static_cast<std::uint64_t>(shards)) && shards % ranks == 0,
            "VirtualShards: ", ranks, " ranks cannot share ", shards,
            " shards. The number of shards must be a power of two, and the number of ranks must divide it.");
  detail::make_replicas("VirtualShards", *net_, options_.process_group());
}

Variable VirtualShards::backward(std::int64_t step, const std::function<Variable(std::int64_t)>& loss_of) {
  ebb::detail::not_replayed("VirtualShards exchanges gradients");
  EBB_CHECK(
      are_deterministic_algorithms_enabled(),
      "VirtualShards::backward: call ebb::use_deterministic_algorithms(true) first. Without it, results "
      "depend on the processor.");
  EBB_CHECK(step >= 0, "VirtualShards::backward: the step is ", step, ", but must not be negative.");
  const ProcessGroup& group = options_.process_group();
  const NoGradGuard no_grad;
  Sums sums(*net_);
  const auto collectives = [&] { return group.checked()->submitted + ProcessGroup().checked()->submitted; };
  {
    const SavedGenerators saved(sums.targets());
    const ShardScope scope;
    const std::int64_t count = options_.shards() / group.size();
    for (std::int64_t shard = group.rank() * count; shard < (group.rank() + 1) * count; ++shard) {
      // Only the lower 32 bits of a seed count. This product distributes the seeds of users over them.
      manual_seed(options_.seed() * 0x9E3779B97F4A7C15u +
                  static_cast<std::uint64_t>(step * options_.shards() + shard));
      const std::int64_t before = collectives();
      const AutoGradMode recording(true);
      const Variable loss = loss_of(shard);
      if (loss.defined()) loss.backward();
      if (collectives() != before) detail::refuse_in_shard("VirtualShards::backward");
      const NoGradGuard not_recording;
      sums.take(loss);
    }
  }
  sums.reduce(group);
  return sums.give(options_.shards());
}

}  // namespace ebb::distributed
