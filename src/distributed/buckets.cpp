// Buckets: layout, reduction and averages of gradients.
#include "distributed/buckets.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include <algorithm>
#include <utility>

namespace ebb::distributed::detail {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kAlignment = 64;  // of gradients, in bytes: whole registers and cache lines

void Buckets::assign(const Variables& parameters) {
  const std::vector<Slot> before = std::exchange(slots_, {});
  std::vector<std::int64_t> order;
  for (const Variable& parameter : parameters) {
    const bool touched = std::any_of(before.begin(), before.end(), [&](const Slot& slot) {
      return slot.touched && slot.parameter.is_same(parameter);
    });
    order.insert(order.begin(), std::ssize(slots_));  // backward begins with the last layers
    slots_.push_back({parameter, {}, 0, touched});
  }
  sorted_ = false;
  lay_out(order);
}

void Buckets::lay_out(const std::vector<std::int64_t>& order) {
  const auto cap = static_cast<std::int64_t>(options_.bucket_cap_mb() * static_cast<double>(kMiB));
  Variables parameters;
  for (const std::int64_t i : order) parameters.push_back(slots_[static_cast<std::size_t>(i)].parameter);
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
void Buckets::allocate(Bucket& bucket) {
  const NoGradGuard no_grad;
  const Variable& first = slots_[bucket.slots[0]].parameter;
  const std::int64_t step = kAlignment / first.element_size(), count = std::ssize(bucket.slots);
  const auto room_of = [step](const Variable& each) { return (each.numel() + step - 1) / step * step; };
  std::int64_t total = 0, at = 0;
  for (const std::size_t i : bucket.slots) total += room_of(slots_[i].parameter);
  bucket.flat = zeros({total + count}, first.options());
  bucket.flags = bucket.flat.narrow(0, total, count);
  for (const std::size_t i : bucket.slots) {
    const Variable& parameter = slots_[i].parameter;
    slots_[i].view = parameter.is_non_overlapping_and_dense()
                         ? bucket.flat.as_strided(parameter.sizes(), parameter.strides(), at).detach()
                         : bucket.flat.narrow(0, at, parameter.numel()).view(parameter.sizes()).detach();
    at += room_of(parameter);
    if (parameter.grad().defined()) parameter.mutable_grad() = slots_[i].view.copy_(parameter.grad());
  }
}

void Buckets::reset() {
  for (Slot& slot : slots_) slot.arrived = false;
  for (Bucket& bucket : buckets_) bucket.waits_for = bucket.slots.size();
  next_ = 0;
  order_.clear();
}

// Makes the bucket contain the gradient of a parameter. An undefined gradient counts as zero, and stays
// undefined unless another rank has used the parameter.
void Buckets::settle(Slot& slot) const {
  const Variable& grad = slot.parameter.grad();
  if (!grad.defined()) {
    slot.touched = false;  // a gradient that was cleared is not used
    slot.view.zero_();
  } else if (!grad.is_same(slot.view)) {
    slot.parameter.mutable_grad() = slot.view.copy_(grad.detach());
  }
}

bool Buckets::arrive(std::size_t i) {
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

void Buckets::launch(Bucket& bucket) {
  std::vector<double> used;
  for (const std::size_t i : bucket.slots) used.push_back(slots_[i].touched);
  bucket.flags.copy_(tensor(used));
  bucket.sent = options_.reduce_dtype() ? bucket.flat.to(*options_.reduce_dtype()) : bucket.flat;
  const ReduceOp average = average_of(bucket.sent, options_.process_group());
  bucket.work = all_reduce(bucket.sent, average, options_.process_group(), /*async_op=*/true);
}

// Waits for the reduction of a bucket, and gives the averages to parameters that only other ranks have used.
void Buckets::collect(Bucket& bucket) {
  bucket.work.wait();
  if (!bucket.sent.is_same(bucket.flat)) bucket.flat.copy_(bucket.sent);
  bucket.sent = {};
  for (std::size_t k = 0; k < bucket.slots.size(); ++k) {
    Slot& slot = slots_[bucket.slots[k]];
    if (!std::exchange(slot.touched, false) && !slot.parameter.grad().defined() &&
        bucket.flags[static_cast<std::int64_t>(k)].item<double>() > 0)
      slot.parameter.mutable_grad() = slot.view;
  }
}

void Buckets::finish() {
  const NoGradGuard no_grad;
  for (Slot& slot : slots_)
    if (!slot.arrived) settle(slot);
  for (; next_ < buckets_.size(); ++next_) launch(buckets_[next_]);
  for (Bucket& bucket : buckets_) collect(bucket);
  std::vector<std::int64_t> order = order_;
  reset();
  if (std::exchange(sorted_, true) || slots_.empty()) return;
  for (std::int64_t i = std::ssize(slots_); i-- > 0;)
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  const Variable common = tensor(order, TensorOptions(kLong));
  broadcast(common, 0, options_.process_group());
  lay_out({common.data_ptr<std::int64_t>(), common.data_ptr<std::int64_t>() + common.numel()});
}

}  // namespace ebb::distributed::detail
