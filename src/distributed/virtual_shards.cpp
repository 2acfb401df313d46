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

namespace ebb::distributed {
namespace {

using Variables = std::vector<Variable>;

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

/// Sums over shards of gradients, buffers and losses. Gradients and buffers of one dtype and device are one
/// vector, a lane. It ends with a flag for each of them, which counts the shards that have changed it.
class Sums {
 public:
  explicit Sums(const nn::Module& net) : targets_(net.parameters()) {
    std::erase_if(targets_, [](const Variable& parameter) { return !parameter.requires_grad(); });
    parameters_ = targets_.size();
    EBB_CHECK(parameters_ > 0, "VirtualShards::backward: all parameters of the net are frozen.");
    for (const Variable& buffer : net.buffers())
      if (buffer.scalar_type() != kBool) targets_.push_back(buffer);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Variable& target = targets_[i];
      before_.push_back(is_parameter(i) ? target.grad() : target.detach().clone());
      versions_.push_back(target._version());
      lanes_[target.device().str() + ebb::detail::text(target.scalar_type())].push_back(i);
    }
    clear();
  }
  ~Sums() {
    clear();
    for (std::size_t i = 0; i < parameters_; ++i) targets_[i].mutable_grad() = before_[i];
  }
  Sums(const Sums&) = delete;

  const Variables& targets() const { return targets_; }

  /// Takes the gradients and buffers of the next shard from the net.
  void take(const Variable& loss) {
    Variables sums;
    for (const auto& [name, lane] : lanes_) {
      Variables parts;
      std::vector<double> flags;
      for (const std::size_t i : lane) {
        const Variable& target = targets_[i];
        const Variable value = is_parameter(i) ? target.grad() : target;
        flags.push_back(is_parameter(i) ? value.defined() : is_changed(i));
        parts.push_back(value.defined() ? value.detach().to(target.scalar_type()).reshape({-1})
                                        : zeros({target.numel()}, target.options()));
      }
      parts.push_back(tensor(flags, TensorOptions(kDouble)).to(targets_[lane[0]].options()));
      sums.push_back(cat(parts));
    }
    clear();
    const TensorOptions options = TensorOptions(kDouble).device(targets_[0].device());
    sums.push_back(loss.defined() ? loss.detach().to(options).reshape({1}) : zeros({1}, options));
    // Sums of equally many shards are added, as a binary counter carries.
    std::size_t level = 0;
    for (; !stack_.empty() && stack_.back().first == level; ++level) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add_(stack_.back().second[i]);
      stack_.pop_back();
    }
    stack_.emplace_back(level, std::move(sums));
  }

  /// Adds the sums of all ranks. Each rank adds one part, for all.
  void reduce(const ProcessGroup& group) {
    const std::int64_t n = group.size();
    if (n == 1) return;
    for (Variable& sum : stack_.back().second) {
      const std::int64_t size = sum.numel(), part = (size + n - 1) / n;
      const Variable all = zeros({n, part}, sum.options()), parts = empty_like(all);
      all.view({-1}).narrow(0, 0, size).copy_(sum);
      all_to_all_single(parts, all, {}, {}, group);
      for (std::int64_t width = 1; width < n; width *= 2)
        for (std::int64_t r = 0; r < n; r += 2 * width) parts[r].add_(parts[r + width]);
      all_gather_into_tensor(all, parts[0], group);
      sum = all.view({-1}).narrow(0, 0, size);
    }
  }

  /// Adds the means to the gradients, and copies them to the buffers. Returns the mean of the losses.
  Variable give(std::int64_t shards) {
    auto mean = stack_.back().second.begin();
    for (const auto& [name, lane] : lanes_) {
      const auto count = static_cast<std::int64_t>(lane.size());
      const Variable flags = mean->narrow(0, mean->numel() - count, count).to(TensorOptions(kDouble));
      is_floating(mean->scalar_type()) ? mean->div_(shards) : mean->div_(shards, "trunc");
      std::int64_t at = 0;
      const double* flag = flags.data_ptr<double>();
      for (const std::size_t i : lane) {
        const Variable own = mean->narrow(0, at, targets_[i].numel()).view(targets_[i].sizes());
        at += own.numel();
        if (*flag++ == 0) continue;
        if (!is_parameter(i))
          before_[i].copy_(own), versions_[i] = -1;
        else if (before_[i].defined())
          before_[i].add_(own);
        else
          before_[i] = own;
      }
      ++mean;
    }
    return mean->div_(shards)[0].to(TensorOptions(kDouble));
  }

 private:
  bool is_parameter(std::size_t i) const { return i < parameters_; }
  bool is_changed(std::size_t i) const { return targets_[i]._version() != versions_[i]; }
  // Drops the gradients, and restores the buffers.
  void clear() {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (is_parameter(i)) targets_[i].mutable_grad().reset();
      if (is_parameter(i) || !is_changed(i)) continue;
      targets_[i].detach().copy_(before_[i]);
      versions_[i] = targets_[i]._version();
    }
  }

  Variables targets_;  // parameters, then buffers
  std::size_t parameters_ = 0;
  Variables before_;                    // gradients and buffers without the shards
  std::vector<std::int64_t> versions_;  // of targets with the values before_
  std::map<std::string, std::vector<std::size_t>> lanes_;
  std::vector<std::pair<std::size_t, Variables>> stack_;  // sums of 2^first shards: lanes, then losses
};

}  // namespace

VirtualShards::VirtualShards(std::shared_ptr<nn::Module> net, VirtualShardsOptions options)
    : net_(std::move(net)), options_(std::move(options)) {
  EBB_CHECK(net_ != nullptr, "VirtualShards: the net is null. Construct it first.");
  options_.process_group(ProcessGroup(options_.process_group().checked()));
  const std::int64_t shards = options_.shards(), ranks = options_.process_group().size();
  EBB_CHECK(shards > 0 && std::has_single_bit(static_cast<std::uint64_t>(shards)) && shards % ranks == 0,
            "VirtualShards: ", ranks, " ranks cannot share ", shards,
            " shards. The number of shards must be a power of two, and the number of ranks must divide it.");
  detail::make_replicas("VirtualShards: parameter", net_->parameters(), options_.process_group());
  detail::make_replicas("VirtualShards: buffer", net_->buffers(), options_.process_group());
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
  {
    const SavedGenerators saved(sums.targets());
    const std::int64_t count = options_.shards() / group.size();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t shard = group.rank() * count + i;
      // Only the lower 32 bits of a seed count. This product distributes the seeds of users over them.
      manual_seed(options_.seed() * 0x9E3779B97F4A7C15u +
                  static_cast<std::uint64_t>(step * options_.shards() + shard));
      const std::int64_t before = group.checked()->submitted + ProcessGroup().checked()->submitted;
      const AutoGradMode recording(true);
      const Variable loss = loss_of(shard);
      if (loss.defined()) loss.backward();
      EBB_CHECK(group.checked()->submitted + ProcessGroup().checked()->submitted == before,
                "VirtualShards::backward: the loss of shard ", shard,
                " calls collectives, so results would depend on the number of ranks. Use the net without "
                "DistributedDataParallel, and BatchNorm in place of SyncBatchNorm.");
      const NoGradGuard not_recording;
      sums.take(loss);
    }
  }
  sums.reduce(group);
  return sums.give(options_.shards());
}

}  // namespace ebb::distributed
