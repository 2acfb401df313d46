// Buckets: gradients that lie in one memory, and are reduced together.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/distributed/data_parallel.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "distributed/replicas.h"

#include <algorithm>
#include <utility>

namespace ebb::distributed::detail {

/// The gradients of parameters, in buckets of one dtype and device each. A bucket ends with one flag for each
/// parameter, which says whether this rank has used it. So the reduced flag says whether any rank has.
class Buckets {
 public:
  explicit Buckets(DistributedDataParallelOptions options) : options_(std::move(options)) {}

  /// Reduces the gradients of these parameters from now on.
  void assign(const Variables& parameters) {
    const std::vector<Slot> before = std::exchange(slots_, {});
    std::vector<std::int64_t> order;
    for (const Variable& parameter : parameters) {
      const bool touched = std::any_of(before.begin(), before.end(), [&](const Slot& slot) {
        return slot.touched && slot.parameter.impl() == parameter.impl();
      });
      order.insert(order.begin(), std::ssize(slots_));  // backward begins with the last layers
      slots_.push_back({parameter, {}, 0, touched});
    }
    sorted_ = false;
    lay_out(order);
  }

  const Variable& parameter(std::size_t i) const { return slots_[i].parameter; }

  /// Notes that a gradient of the parameter has been added since the last reduction.
  void touch(std::size_t i) { slots_[i].touched = true; }

  /// Notes that the gradient of the parameter is complete. Starts the reductions of complete buckets, in the
  /// order that all ranks have in common. Returns false if that of the parameter's bucket has started before.
  bool arrive(std::size_t i) {
    const NoGradGuard no_grad;
    Slot& slot = slots_[i];
    slot.touched = true;
    if (std::exchange(slot.arrived, true)) return slot.bucket >= next_;
    order_.push_back(static_cast<std::int64_t>(i));
    settle(slot);
    --buckets_[slot.bucket].waits_for;
    while (next_ < buckets_.size() && buckets_[next_].waits_for == 0) launch(buckets_[next_++]);
    return true;
  }

  /// Reduces the remaining buckets, and gives the averages to the parameters. The first time, sorts the
  /// parameters by the order of their arrival on rank 0.
  void finish() {
    const NoGradGuard no_grad;
    for (Slot& slot : slots_)
      if (!slot.arrived) settle(slot);
    for (; next_ < buckets_.size(); ++next_) launch(buckets_[next_]);
    for (Bucket& bucket : buckets_) collect(bucket);
    if (std::exchange(sorted_, true)) return reset();
    for (std::int64_t i = std::ssize(slots_); i-- > 0;)
      if (!slots_[static_cast<std::size_t>(i)].arrived) order_.push_back(i);
    const Variable common = tensor(order_, TensorOptions(kLong));
    broadcast(common, 0, options_.process_group());
    lay_out({common.data_ptr<std::int64_t>(), common.data_ptr<std::int64_t>() + common.numel()});
  }

  /// Forgets the arrivals since the last call of finish().
  void reset() {
    for (Slot& slot : slots_) slot.arrived = false;
    for (Bucket& bucket : buckets_) bucket.waits_for = bucket.slots.size();
    next_ = 0;
    order_.clear();
  }

  /// Returns whether a reduction has started since then.
  bool has_started() const { return next_ > 0; }

 private:
  static constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  static constexpr std::int64_t kAlignment = 64;  // of gradients, in bytes: registers and cache lines

  struct Slot {
    Variable parameter, view;
    std::size_t bucket = 0;
    bool touched = false, arrived = false;
  };
  struct Bucket {
    std::vector<std::size_t> slots;
    Variable flat, flags;  // flat has the gradients and then the flags
    Variable sent;         // flat, or its copy in the dtype of the message
    std::size_t waits_for = 0;
    Work work;
  };

  void lay_out(const std::vector<std::int64_t>& order) {
    const auto cap = static_cast<std::int64_t>(options_.bucket_cap_mb() * static_cast<double>(kMiB));
    Variables parameters;
    for (const std::int64_t i : order) parameters.push_back(parameter(static_cast<std::size_t>(i)));
    buckets_.clear();
    for (const auto& message : messages_of(parameters, cap, std::min(kMiB, cap))) {
      Bucket& bucket = buckets_.emplace_back();
      for (const std::size_t k : message) {
        bucket.slots.push_back(static_cast<std::size_t>(order[k]));
        slots_[bucket.slots.back()].bucket = buckets_.size() - 1;
      }
      allocate(bucket);
    }
    reset();
  }

  // Allocates the memory of a bucket. A gradient has the strides of its parameter if the parameter fills its
  // memory, so that optimizers run over both in the same order.
  void allocate(Bucket& bucket) {
    const NoGradGuard no_grad;
    const Variable& first = parameter(bucket.slots[0]);
    const std::int64_t step = kAlignment / first.element_size(), count = std::ssize(bucket.slots);
    const auto room_of = [step](const Variable& each) { return (each.numel() + step - 1) / step * step; };
    std::int64_t total = 0, at = 0;
    for (const std::size_t i : bucket.slots) total += room_of(parameter(i));
    bucket.flat = zeros({total + count}, first.options());
    bucket.flags = bucket.flat.narrow(0, total, count);
    for (const std::size_t i : bucket.slots) {
      const Variable& own = parameter(i);
      slots_[i].view = own.is_non_overlapping_and_dense()
                           ? bucket.flat.as_strided(own.sizes(), own.strides(), at).detach()
                           : bucket.flat.narrow(0, at, own.numel()).view(own.sizes()).detach();
      at += room_of(own);
      if (own.grad().defined()) own.mutable_grad() = slots_[i].view.copy_(own.grad());
    }
  }

  // Makes the bucket contain the gradient of a parameter. An undefined gradient counts as zero, and stays
  // undefined unless another rank has used the parameter.
  static void settle(Slot& slot) {
    const Variable& grad = slot.parameter.grad();
    if (!grad.defined()) {
      slot.touched = false;  // a gradient that was cleared is not used
      slot.view.zero_();
    } else if (grad.impl() != slot.view.impl()) {
      slot.parameter.mutable_grad() = slot.view.copy_(grad.detach());
    }
  }

  void launch(Bucket& bucket) {
    std::vector<double> used;
    for (const std::size_t i : bucket.slots) used.push_back(slots_[i].touched);
    bucket.flags.copy_(tensor(used));
    bucket.sent = options_.reduce_dtype() ? bucket.flat.to(*options_.reduce_dtype()) : bucket.flat;
    const ReduceOp average = average_of(bucket.sent, options_.process_group());
    bucket.work = all_reduce(bucket.sent, average, options_.process_group(), /*async_op=*/true);
  }

  // Waits for the reduction of a bucket, and gives the averages to parameters that only other ranks have
  // used.
  void collect(Bucket& bucket) {
    bucket.work.wait();
    if (bucket.sent.impl() != bucket.flat.impl()) bucket.flat.copy_(bucket.sent);
    bucket.sent = {};
    std::int64_t k = 0;
    for (const std::size_t i : bucket.slots) {
      const Variable flag = bucket.flags[k++];
      if (!std::exchange(slots_[i].touched, false) && !parameter(i).grad().defined() &&
          flag.item<double>() > 0)
        parameter(i).mutable_grad() = slots_[i].view;
    }
  }

  const DistributedDataParallelOptions options_;
  std::vector<Slot> slots_;
  std::vector<Bucket> buckets_;
  std::size_t next_ = 0;             // the first bucket whose reduction has not started
  std::vector<std::int64_t> order_;  // of arrival
  bool sorted_ = false;
};

}  // namespace ebb::distributed::detail
