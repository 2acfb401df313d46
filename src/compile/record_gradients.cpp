// Records the gradients that a function reads, adds to, assigns or drops.

#include <ebb/autograd/grad_mode.h>

#include "autograd/tensor_state.h"
#include "compile/record.h"

namespace ebb::detail::compile {
namespace {

bool same_array(const NdArray& a, const NdArray& b) {
  return a.defined() == b.defined() &&
         (!a.defined() || (a.storage() == b.storage() && a.offset() == b.offset() && a.dtype() == b.dtype() &&
                           a.sizes() == b.sizes() && a.strides() == b.strides()));
}

NdArray array_of_gradient(const Variable& x) {
  const Variable& grad = autograd::gradient_of(x);
  return grad.defined() ? grad.array() : NdArray();
}

}  // namespace

Recording::Gradient& Recording::gradient(const Variable& x) {
  const auto [found, fresh] = gradients_.try_emplace(x.impl());
  Gradient& gradient = found->second;
  seen_gradients_.insert(autograd::gradient_of(x).impl());
  if (fresh) {
    gradient.leaf = tape_->leaves.size();
    gradient.first = array_of_gradient(x);
    TapeLeaf& leaf = tape_->leaves.emplace_back();
    leaf.leaf = Borrowed(x);
    leaf.data = x.array().address();
    leaf.had_gradient = gradient.first.defined();
    leaf.added_at = static_cast<int>(tape_->calls.size());
  }
  return gradient;
}

// Only tensors from outside the function are recorded. Tensors that it creates have new gradients in every
// call.
void Recording::uses_gradient(const Variable& x, bool may_assign) {
  if (!found(x)) return;
  Gradient& used = gradient(x);
  if (may_assign && !used.accumulated)
    tape_->leaves[used.leaf].added_at = static_cast<int>(tape_->calls.size());
}

void Recording::drop(Gradient& gradient) {
  TapeLeaf& leaf = tape_->leaves[gradient.leaf];
  if (leaf.ignores_old) return;
  leaf.ignores_old = true;
  leaf.dropped_at = leaf.added_at = static_cast<int>(tape_->calls.size());
  gradient.first = NdArray();
}

void Recording::drops_gradient(const Variable& x) {
  if (!found(x)) return;
  const bool unseen = !gradients_.contains(x.impl());
  Gradient& dropped = gradient(x);
  TapeLeaf& leaf = tape_->leaves[dropped.leaf];
  dropped.accumulated = false;
  leaf.added_at = static_cast<int>(tape_->calls.size());
  if (unseen) drop(dropped);
}

void Recording::accumulates(const Variable& x) {
  Gradient& added = gradient(x);
  TapeLeaf& leaf = tape_->leaves[added.leaf];
  leaf.adds = true;
  const bool in_place = autograd::gradient_of(x).defined() && !GradMode::is_enabled();
  if (!in_place || !added.accumulated) leaf.added_at = static_cast<int>(tape_->calls.size());
  added.accumulated = true;
}

void Recording::finish_gradients() {
  // Drops the leaves that the function created and did not return: only the tape still refers to them.
  std::vector<TapeLeaf> kept;
  for (TapeLeaf& leaf : tape_->leaves) {
    const Gradient& gradient = gradients_.at(leaf.leaf->impl());
    if (leaf.leaf->use_count() == 1) continue;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].is_same(*leaf.leaf)) leaf.input = static_cast<int>(i);
    const VariableImpl* const which = leaf.input < 0 ? leaf.leaf->impl() : nullptr;
    sign(&which, sizeof(which));
    sign(&leaf.input, sizeof(leaf.input));
    sign(&leaf.ignores_old, sizeof(leaf.ignores_old));
    leaf.had_gradient = leaf.had_gradient && !leaf.ignores_old;
    sign(&leaf.had_gradient, sizeof(leaf.had_gradient));

    leaf.sets_gradient =
        leaf.adds || leaf.ignores_old || !same_array(gradient.first, array_of_gradient(*leaf.leaf));
    sign(&leaf.sets_gradient, sizeof(leaf.sets_gradient));
    if (leaf.sets_gradient) leaf.after = refer_to(autograd::gradient_of(*leaf.leaf));
    const int before = leaf.had_gradient ? known(gradient.first.storage().get()) : -1;
    if (before >= 0) {
      Buffer& buffer = tape_->buffers[static_cast<std::size_t>(before)];
      buffer.is_gradient = true;
      sign(&before, sizeof(before));
      sign_geometry(gradient.first, buffer);
      leaf.before = {before, on_placeholder(before, gradient.first)};
    }
    if (leaf.input >= 0)
      leaf.leaf = {};
    else
      release_if_noticed(leaf.leaf);
    kept.push_back(std::move(leaf));
  }
  tape_->leaves = std::move(kept);
}

}  // namespace ebb::detail::compile
