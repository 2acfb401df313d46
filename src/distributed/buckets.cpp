// Buckets: layout, reduction and averages of gradients.
#include "distributed/buckets.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include <algorithm>
#include <utility>

namespace ebb::distributed::detail {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kAlignment =
    64;  // of gradients in a bucket, in bytes: whole registers and cache lines

bool fit_together(const Variable& a, const Variable& b) {
  return a.scalar_type() == b.scalar_type() && a.device() == b.device();
}

}  // namespace

void broadcast_all(const std::vector<Variable>& tensors, int root, const ProcessGroup& group) {
  const NoGradGuard no_grad;
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < tensors.size(); begin = end) {
    std::vector<Variable> parts;
    std::size_t bytes = 0;
    for (; end < tensors.size() && fit_together(tensors[begin], tensors[end]) && bytes < 25 * kMiB; ++end) {
      parts.push_back(tensors[end].detach().reshape({-1}));
      bytes += tensors[end].nbytes();
    }
    const Variable all = parts.size() == 1 ? parts[0].clone() : cat(parts);
    broadcast(all, root, group);
    if (group.rank() == root) continue;
    std::int64_t at = 0;
    for (std::size_t i = begin; i < end; at += tensors[i++].numel())
      tensors[i].data().copy_(all.narrow(0, at, tensors[i].numel()).view(tensors[i].sizes()));
  }
}

Buckets::Buckets(std::vector<Variable> parameters, DistributedDataParallelOptions options)
    : options_(std::move(options)) {
  std::vector<std::size_t> order;  // backward begins with the last layers
  for (Variable& parameter : parameters) {
    order.insert(order.begin(), slots_.size());
    slots_.emplace_back().parameter = std::move(parameter);
  }
  lay_out(order);
}

void Buckets::lay_out(const std::vector<std::size_t>& order) {
  const auto cap = static_cast<std::int64_t>(options_.bucket_cap_mb() * static_cast<double>(kMiB));
  struct Open {
    Variable like;  // a parameter of the same dtype and device
    std::int64_t limit;
    Bucket bucket;
  };
  std::vector<Open> open;
  buckets_.clear();
  const auto close = [&](Open& each) {
    if (!each.bucket.slots.empty()) buckets_.push_back(std::exchange(each.bucket, {}));
    each.limit = cap;
  };
  for (const std::size_t i : order) {
    const Variable& parameter = slots_[i].parameter;
    auto at = std::find_if(open.begin(), open.end(),
                           [&](const Open& each) { return fit_together(each.like, parameter); });
    if (at == open.end()) at = open.insert(at, {parameter, std::min(kMiB, cap), {}});
    at->bucket.slots.push_back(i);
    at->bucket.bytes += static_cast<std::int64_t>(parameter.nbytes());
    if (at->bucket.bytes >= at->limit) close(*at);
  }
  for (Open& each : open) close(each);
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    for (const std::size_t i : buckets_[b].slots) slots_[i].bucket = b;
    allocate(buckets_[b]);
  }
  reset();
}

// Allocates the memory of a bucket. A gradient has the strides of its parameter if the parameter fills its
// memory, so that optimizers run over both in the same order.
void Buckets::allocate(Bucket& bucket) {
  const NoGradGuard no_grad;
  const Variable& first = slots_[bucket.slots[0]].parameter;
  const std::int64_t step = kAlignment / first.element_size();
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
  for (const std::size_t i : bucket.slots) {
    offsets.push_back(total);
    total += (slots_[i].parameter.numel() + step - 1) / step * step;
  }
  const auto count = static_cast<std::int64_t>(bucket.slots.size());
  bucket.flat = zeros({total + count}, first.options());
  bucket.flags = bucket.flat.narrow(0, total, count);
  for (std::size_t k = 0; k < bucket.slots.size(); ++k) {
    Slot& slot = slots_[bucket.slots[k]];
    const Variable& parameter = slot.parameter;
    const Variable place = bucket.flat.narrow(0, offsets[k], parameter.numel());
    const Variable view = parameter.is_non_overlapping_and_dense()
                              ? place.as_strided(parameter.sizes(), parameter.strides(), offsets[k])
                              : place.view(parameter.sizes());
    slot.view = view.detach();
    if (!parameter.grad().defined()) continue;
    slot.view.copy_(parameter.grad());
    parameter.mutable_grad() = slot.view;
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
  const NoGradGuard no_grad;
  const Variable& grad = slot.parameter.grad();
  if (!grad.defined()) {
    slot.touched = false;  // a gradient that was cleared is not used
    slot.view.zero_();
  } else if (!grad.is_same(slot.view)) {
    slot.view.copy_(grad.detach());
    slot.parameter.mutable_grad() = slot.view;
  }
}

void Buckets::arrive(std::size_t i) {
  Slot& slot = slots_[i];
  slot.touched = true;
  if (std::exchange(slot.arrived, true)) return;
  order_.push_back(i);
  settle(slot);
  --buckets_[slot.bucket].waits_for;
  launch_complete();
}

// Starts the reductions of complete buckets, in the order that all ranks have in common.
void Buckets::launch_complete() {
  while (next_ < buckets_.size() && buckets_[next_].waits_for == 0) launch(buckets_[next_++]);
}

void Buckets::launch(Bucket& bucket) {
  const NoGradGuard no_grad;
  bucket.flags.fill_(1);
  for (std::size_t k = 0; k < bucket.slots.size(); ++k)
    if (!slots_[bucket.slots[k]].touched) bucket.flags[static_cast<std::int64_t>(k)].fill_(0);
  bucket.sent = options_.reduce_dtype() ? bucket.flat.to(*options_.reduce_dtype()) : bucket.flat;
  // Half overflows easily, so its sum is kept small.
  const bool small = bucket.sent.scalar_type() == kHalf;
  if (small) bucket.sent.div_(options_.process_group().size());
  bucket.work = all_reduce(bucket.sent, small ? ReduceOp::SUM : ReduceOp::AVG, options_.process_group(),
                           /*async_op=*/true);
}

// Waits for the reduction of a bucket, and gives the averages to parameters that only other ranks have used.
void Buckets::collect(Bucket& bucket) {
  const NoGradGuard no_grad;
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
  for (Slot& slot : slots_)
    if (!slot.arrived) settle(slot);
  for (; next_ < buckets_.size(); ++next_) launch(buckets_[next_]);
  for (Bucket& bucket : buckets_) collect(bucket);
  if (!std::exchange(sorted_, true)) sort_by_arrival();
  reset();
}

void Buckets::sort_by_arrival() {
  if (slots_.empty()) return;
  std::vector<std::int64_t> order(order_.begin(), order_.end());
  for (std::size_t i = slots_.size(); i-- > 0;)
    if (!slots_[i].arrived) order.push_back(static_cast<std::int64_t>(i));
  Variable common = tensor(order, TensorOptions(kLong)).to(slots_[0].parameter.device());
  broadcast(common, 0, options_.process_group());
  common = common.to(kCPU);
  const std::int64_t* const first = common.data_ptr<std::int64_t>();
  lay_out(std::vector<std::size_t>(first, first + common.numel()));
}

}  // namespace ebb::distributed::detail
