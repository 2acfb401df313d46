// Temporarily replaces the tensor that a handle refers to.
#include "autograd/swap_tensor.h"

#include <ebb/autograd/grad_mode.h>

#include <utility>

namespace ebb::autograd {

Variable current_tensor(const Variable& swapped) {
  const VariableImpl& from = *swapped.impl();
  Variable x(from.data);
  x.impl()->grad_fn = from.grad_fn;
  x.impl()->output_nr = from.output_nr;
  x.impl()->inference = from.inference;
  return x;
}

void swap_tensor(const Variable& target, const Variable& value) {
  // A leaf accumulates its gradient itself. The handle therefore refers to a view of the leaf, whose gradient
  // flows to the leaf.
  const bool leaf = value.requires_grad() && value.is_leaf() && GradMode::is_enabled();
  const Variable seen = leaf ? value.view(value.sizes()) : value;
  VariableImpl& to = *target.impl();
  AutogradMeta& meta = meta_of(target);
  to.data = seen.array();
  to.grad_fn = seen.grad_fn();
  to.output_nr = seen.output_nr();
  to.requires_grad = false;
  to.inference = seen.is_inference();
  meta.grad.reset();
  meta.base.reset();
  meta.swapped = true;
}

void restore_leaf(const Variable& target, const Variable& value, bool requires_grad) {
  VariableImpl& to = *target.impl();
  to.data = value.array();
  to.grad_fn.reset();
  to.output_nr = 0;
  to.inference = false;
  meta_of(target).swapped = false;
  target.set_requires_grad(requires_grad);
}

ScopedSwap::ScopedSwap(Variable target, const Variable& value) : target_(std::move(target)) {
  VariableImpl& to = *target_.impl();
  data_ = to.data;
  grad_fn_ = std::move(to.grad_fn);
  to.grad_fn.reset();
  meta_ = std::exchange(to.meta, nullptr);
  output_nr_ = to.output_nr;
  requires_grad_ = to.requires_grad;
  inference_ = to.inference;
  try {
    swap_tensor(target_, value);
    // Copies the pointer to the accumulator to the temporary metadata; restore() copies it back. If the
    // accumulator is destroyed during the swap, its destructor clears the pointer only in the temporary
    // metadata.
    if (meta_) to.meta->accumulator = meta_->accumulator;
  } catch (...) {
    restore();
    throw;
  }
}

ScopedSwap::~ScopedSwap() { restore(); }

void ScopedSwap::restore() {
  VariableImpl& to = *target_.impl();
  if (meta_ && to.meta) meta_->accumulator = to.meta->accumulator;
  to.data = std::move(data_);
  to.grad_fn = std::move(grad_fn_);
  delete std::exchange(to.meta, meta_);
  to.output_nr = output_nr_;
  to.requires_grad = requires_grad_;
  to.inference = inference_;
}

}  // namespace ebb::autograd
