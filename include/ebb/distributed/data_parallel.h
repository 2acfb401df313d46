// DistributedDataParallel: a net of which each process has a copy, with averaged gradients.
#pragma once

#include <ebb/core/dtype.h>
#include <ebb/core/options.h>
#include <ebb/distributed/process_group.h>
#include <ebb/nn/module.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ebb::distributed {

/// The options of DistributedDataParallel. Names and defaults are torch's. Two options of torch are always on
/// and have no name here: gradient_as_bucket_view and find_unused_parameters.
struct DistributedDataParallelOptions {
  /// The processes that have a copy of the net.
  EBB_ARG(ProcessGroup, process_group);
  /// The size of a bucket in MiB. The first bucket has at most 1 MiB, so that its reduction begins early.
  EBB_ARG(double, bucket_cap_mb) = 25;
  /// Copies the buffers of rank 0, for example running statistics, to all ranks at the end of each averaged
  /// backward(). Then forward() is the same on all ranks and needs no communication in evaluation.
  EBB_ARG(bool, broadcast_buffers) = true;
  /// Sends gradients in this floating dtype, for example kBFloat16, which halves the bytes of float gradients
  /// (torch: bf16_compress_hook).
  EBB_ARG(optional<DType>, reduce_dtype);
  /// Allows another number of batches on each rank; see DistributedDataParallelImpl::join(). Each averaged
  /// backward() then begins with one more small collective.
  EBB_ARG(bool, uneven_inputs) = false;
};

namespace detail {

class Reducer;

/// The part of DistributedDataParallelImpl that does not depend on the type of the net.
class EBB_API DataParallelModule : public nn::Module {
 public:
  ~DataParallelModule() override;

  /// While the result exists, calls of this module are not averaged: backward() through their outputs only
  /// adds to the gradients of this rank. The next averaged backward() reduces the whole sum, also of
  /// parameters that it does not use itself (torch: no_sync).
  [[nodiscard]] std::shared_ptr<void> no_sync();

  /// Ends a loop over batches whose number differs from rank to rank; needs the option uneven_inputs. Each
  /// rank calls it after its last batch. Until all ranks have called it, it takes part in the backward passes
  /// of the others with gradients of zero, and calls `step` after each, in which the caller updates the
  /// parameters: `net->join([&] { optimizer.step(); })`. So parameters and states of optimizers stay equal on
  /// all ranks. Averages still divide by the size of the group (torch: join, divide_by_initial_world_size).
  void join(const std::function<void()>& step);

  const ProcessGroup& process_group() const;

 protected:
  DataParallelModule(const std::shared_ptr<nn::Module>& net, const DistributedDataParallelOptions& options);
  void before_forward();
  void after_forward(const std::vector<Variable*>& outputs);

 private:
  std::shared_ptr<Reducer> reducer_;
};

}  // namespace detail

/// Wraps a net of which each rank has a copy. The constructor copies the parameters and buffers of rank 0 to
/// all ranks, and throws if the nets differ in names, shapes or dtypes. backward() through an output of
/// forward() averages the gradients of all parameters over the ranks, while it goes on: parameters lie in
/// buckets in the order in which the first backward() completes their gradients, and a bucket is reduced when
/// it is complete. Gradients are views of the buckets (torch.nn.parallel.DistributedDataParallel).
///
/// - All ranks must run the same number of such backward passes; see join() for other loops.
/// - A parameter that no rank has used since the last reduction keeps its gradient, also an undefined one. A
///   parameter that some rank has used gets the average on all ranks.
/// - Parameters may be frozen, unfrozen, converted or replaced between two calls, on all ranks alike. The net
///   of rank 0 then counts again.
/// - autograd::grad with respect to an input works, and so does backward() through its result. With respect
///   to a parameter it throws, as do backward() with create_graph or with a list of inputs, because such
///   gradients would not be averaged. `module`, called directly, computes gradients of this rank alone.
/// - state_dict() has the names of the net; load_state_dict() accepts them with or without "module.".
template <class M>
class DistributedDataParallelImpl : public detail::DataParallelModule {
 public:
  explicit DistributedDataParallelImpl(std::shared_ptr<M> net, DistributedDataParallelOptions options = {})
      : DataParallelModule(net, options), module(std::move(net)) {}

  /// Returns the result of the net for these arguments.
  template <class... Args>
  auto forward(Args&&... args)
      -> std::remove_cvref_t<decltype(std::declval<M&>().forward(std::forward<Args>(args)...))> {
    using Result = decltype(forward(std::forward<Args>(args)...));
    static_assert(nn::detail::carries_tensors<Result>,
                  "DistributedDataParallel must see the tensors of the result: let the net return a tensor, "
                  "or a vector, array, optional, pair or tuple of tensors.");
    before_forward();
    Result result = nn::detail::call_module(*module, std::forward<Args>(args)...);
    std::vector<Variable*> outputs;
    nn::detail::gather(result, outputs);
    after_forward(outputs);
    return result;
  }

  /// The wrapped net.
  const std::shared_ptr<M> module;
};

/// Handle of DistributedDataParallelImpl: `DistributedDataParallel net(nn::Linear(3, 4)); net(x)`.
template <class M>
class DistributedDataParallel : public nn::ModuleHolder<DistributedDataParallelImpl<M>> {
 public:
  using Base = nn::ModuleHolder<DistributedDataParallelImpl<M>>;
  DistributedDataParallel(std::nullptr_t) : Base(nullptr) {}
  explicit DistributedDataParallel(std::shared_ptr<M> net, DistributedDataParallelOptions options = {})
      : Base(std::make_shared<DistributedDataParallelImpl<M>>(std::move(net), std::move(options))) {}
  explicit DistributedDataParallel(const nn::ModuleHolder<M>& net,
                                   DistributedDataParallelOptions options = {})
      : DistributedDataParallel(net.ptr(), std::move(options)) {}
};

}  // namespace ebb::distributed
