// ShardedOptimizer: an optimizer whose states are divided among the ranks (ZeRO, stage 1).
#pragma once

#include <ebb/distributed/process_group.h>
#include <ebb/optim/optimizer.h>

#include <functional>
#include <type_traits>
#include <utility>

namespace ebb::optim {
class LBFGS;
}

namespace ebb::distributed {

/// The options of ShardedOptimizer.
struct ShardedOptimizerOptions {
  /// The processes that have a copy of the parameters.
  EBB_ARG(ProcessGroup, process_group);
  /// Averages the gradients of all ranks in step(). Set it to false if they are equal on all ranks already,
  /// because DistributedDataParallel or VirtualShards has averaged them.
  EBB_ARG(bool, average_gradients) = true;
};

namespace detail {
using ShardedStep = std::function<void(const optim::Optimizer&, const std::function<void()>& update)>;
EBB_API ShardedStep make_sharded_step(optim::Optimizer& optimizer, const ShardedOptimizerOptions& options);
}  // namespace detail

/// An optimizer of class `Opt` of which each rank updates a part of the parameters, and has the states of
/// this part alone (Rajbhandari et al. 2020, ZeRO; torch: ZeroRedundancyOptimizer):
///
///     ShardedOptimizer<optim::AdamW> optimizer(net->parameters(), optim::AdamWOptions(1e-3));
///     loss.backward();   // of this rank's batch
///     optimizer.step();  // averages gradients, updates this rank's part, and exchanges parameters
///
/// step() needs one reduce_scatter and one all_gather, in messages of 25 MiB. Parameters are not cut, so that
/// any optimizer works that updates one parameter at a time and skips parameters without a gradient. The
/// result is that of `Opt` with averaged gradients. A parameter that no rank has used is not updated.
///
/// - All ranks must call the constructor, step(), state_dict(), load_state_dict(), save() and load(). The
///   constructor copies the parameters of rank 0 to all ranks.
/// - step() leaves the gradients of this rank as they were. Its hooks see the averages, and only those of
///   this rank's parameters. Therefore clip_grad_norm_ and amp::GradScaler, which must see all averages, need
///   DistributedDataParallel and average_gradients(false).
/// - state() has the parameters of this rank. state_dict() and save() have all parameters, as in `Opt`. Any
///   number of ranks, or an `Opt`, can load them, and the other way round. distributed::save writes files.
template <class Opt>
class ShardedOptimizer : public Opt {
  static_assert(std::is_base_of_v<optim::Optimizer, Opt>, "ShardedOptimizer takes a class of optimizers.");
  static_assert(!std::is_base_of_v<optim::LBFGS, Opt>,
                "LBFGS updates all parameters together, so ranks cannot share its work.");

 public:
  /// `parameters` and `options` are the arguments of the constructor of `Opt`.
  template <class Parameters, class Options>
  explicit ShardedOptimizer(Parameters parameters, Options options, ShardedOptimizerOptions sharding = {})
      : Opt(std::move(parameters), std::move(options)), step_(detail::make_sharded_step(*this, sharding)) {}

  /// A closure runs once, before the gradients are averaged. Returns its value, that of this rank.
  Variable step(optim::Optimizer::LossClosure closure = nullptr) override {
    Variable loss = Opt::run(closure);
    step_(*this, [this] { Opt::step(); });
    return loss;
  }

 private:
  detail::ShardedStep step_;
};

}  // namespace ebb::distributed
