// VirtualShards: gradients of shards, added in one binary tree.
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/rng_state.h>
#include <ebb/core/deterministic.h>
#include <ebb/core/random.h>
#include <ebb/distributed/virtual_shards.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
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

/// The scope of shards: collectives are errors, and random generators of the CPU and of the devices of
/// tensors are restored at its end.
struct ShardScope {
  explicit ShardScope(const Variables& tensors) {
    detail::in_shard = true;
    states.emplace("cpu", get_rng_state());
    for (const Variable& tensor : tensors)
      if (!tensor.device().is_cpu()) states.emplace(tensor.device().str(), get_rng_state(tensor.device()));
  }
  ~ShardScope() {
    detail::in_shard = false;
    for (const auto& [device, state] : states) set_rng_state(state, Device(device));
  }
  ShardScope(const ShardScope&) = delete;
  std::map<std::string, Variable> states;
};

/// Sums over shards of gradients, buffers and losses.
class Sums {
 public:
  explicit Sums(const nn::Module& net) : saved_(detail::trainable(net)), buffers_(net.buffers()) {
    EBB_CHECK(!saved_.parameters.empty(),
              "VirtualShards::backward: all parameters of the net are frozen. Unfreeze some.");
    for (const Variable& buffer : buffers_) {
      before_.push_back(buffer.detach().clone());
      versions_.push_back(buffer._version());
    }
    clear();
  }
  ~Sums() { clear(); }
  Sums(const Sums&) = delete;

  /// Takes the gradients and buffers of the next shard from the net. The last value has the loss, and then
  /// how many shards have used each parameter and changed each buffer.
  void take(const Variable& loss) {
    std::vector<double> numbers{loss.defined() ? loss.item<double>() : 0};
    Variables sums;
    for (const Variable& parameter : saved_.parameters) {
      const Variable& grad = parameter.grad();
      numbers.push_back(grad.defined());
      sums.push_back(grad.defined() ? grad.to(parameter.scalar_type(), false, /*copy=*/true)
                                    : zeros_like(parameter));
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      numbers.push_back(is_changed(i));
      sums.push_back(
          buffers_[i].to(buffers_[i].is_floating_point() ? buffers_[i].scalar_type() : kLong, false, true));
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

  /// Adds the sums of all ranks. Each rank adds one part, for all.
  void reduce(const ProcessGroup& group) {
    const std::int64_t n = group.size();
    if (n == 1) return;
    detail::as_vectors(stack_.back().second, [&](Variable vector) {
      const std::int64_t size = vector.numel(), part = (size + n - 1) / n;
      const Variable all = zeros({n, part}, vector.options()), parts = empty_like(all);
      all.view({-1}).narrow(0, 0, size).copy_(vector);
      all_to_all_single(parts, all, {}, {}, group);
      for (std::int64_t width = 1; width < n; width *= 2)
        for (std::int64_t r = 0; r < n; r += 2 * width) parts[r].add_(parts[r + width]);
      all_gather_into_tensor(all, parts[0], group);
      vector.copy_(all.view({-1}).narrow(0, 0, size));
    });
  }

  /// Adds the means to the gradients, and copies them to the buffers. Returns the mean of the losses.
  Variable give(std::int64_t shards) {
    const Variables& sums = stack_.back().second;
    const double* number = sums.back().data_ptr<double>();
    const double loss = *number++ / static_cast<double>(shards);
    auto sum = sums.begin();
    for (Variable& gradient : saved_.gradients) {
      const Variable mean = *sum++ / shards;
      if (*number++ > 0) gradient = gradient.defined() ? gradient.add_(mean) : mean;
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i, ++sum)
      if (*number++ > 0) {
        before_[i].copy_(sum->is_floating_point() ? *sum / shards : sum->div(shards, "trunc"));
        versions_[i] = -1;
      }
    return full({}, loss, TensorOptions(kDouble));
  }

 private:
  bool is_changed(std::size_t i) const { return buffers_[i]._version() != versions_[i]; }
  // Drops the gradients, and restores the buffers.
  void clear() {
    for (const Variable& parameter : saved_.parameters) parameter.mutable_grad().reset();
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!is_changed(i)) continue;
      buffers_[i].copy_(before_[i]);
      versions_[i] = buffers_[i]._version();
    }
  }

  detail::SavedGradients saved_;                          // gradients without the shards
  Variables buffers_, before_;                            // before_: their values without the shards
  std::vector<std::int64_t> versions_;                    // of buffers with the values before_
  std::vector<std::pair<std::size_t, Variables>> stack_;  // sums of 2^first shards
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
    const ShardScope scope(net_->parameters());
    const std::int64_t count = options_.shards() / group.size();
    for (std::int64_t shard = group.rank() * count; shard < (group.rank() + 1) * count; ++shard) {
      // Only the lower 32 bits of a seed count. This product distributes the seeds of users over them.
      manual_seed(options_.seed() * 0x9E3779B97F4A7C15u +
                  static_cast<std::uint64_t>(step * options_.shards() + shard));
      const std::int64_t before = collectives();
      Variable loss;
      {
        const AutoGradMode recording(true);
        loss = loss_of(shard);
        if (loss.defined()) loss.backward();
      }
      if (collectives() != before) detail::refuse_in_shard("VirtualShards::backward");
      sums.take(loss);
    }
  }
  sums.reduce(group);
  return sums.give(options_.shards());
}

}  // namespace ebb::distributed
