// Records the gradients that a function reads, adds to, assigns or drops, the tensors whose properties it
// queries, and the tensors of which it keeps handles.

#include <ebb/autograd/grad_mode.h>

#include "autograd/meta.h"
#include "autograd/tensor_state.h"
#include "compile/record.h"

#include <algorithm>

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
    gradient.tensor = autograd::gradient_of(x).impl();
    if (gradient.tensor) gradient.geometry = autograd::geometry_of(*gradient.tensor);
    TapeLeaf& leaf = tape_->leaves.emplace_back();
    leaf.leaf = Borrowed(x);
    leaf.data = x.array().address();
    leaf.had_gradient = gradient.first.defined();
    leaf.added_at = static_cast<int>(tape_->calls.size());
  }
  return gradient;
}

// Called before the function replaces or drops the gradient of x. Notes the current gradient, if the function
// has set it and a call that throws could show it to the caller.
void Recording::note_stage(const Variable& x, const Gradient& gradient) {
  TapeLeaf& leaf = tape_->leaves[gradient.leaf];
  const Variable& now = autograd::gradient_of(x);
  if (leaf.added_at == static_cast<int>(tape_->calls.size())) return;
  const bool is_old = leaf.ignores_old ? !now.defined() : now.impl() == gradient.tensor;
  if (!is_old || !leaf.stages.empty()) leaf.stages.push_back({leaf.added_at, refer_to(now)});
}

// Only tensors from outside the function are recorded. Tensors that it creates have new gradients in every
// call.
void Recording::uses_gradient(const Variable& x, bool may_assign) {
  if (!found(x)) return;
  Gradient& used = gradient(x);
  if (!may_assign) return;
  note_stage(x, used);
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
  note_stage(x, dropped);
  leaf.added_at = static_cast<int>(tape_->calls.size());
  if (unseen) drop(dropped);
}

void Recording::accumulates(const Variable& x) {
  Gradient& added = gradient(x);
  TapeLeaf& leaf = tape_->leaves[added.leaf];
  leaf.adds = true;
  const bool in_place = autograd::gradient_of(x).defined() && !GradMode::is_enabled();
  if (!in_place || !added.accumulated) {
    note_stage(x, added);
    leaf.added_at = static_cast<int>(tape_->calls.size());
  }
  added.accumulated = true;
}

void Recording::finish_gradients() {
  // Drops the leaves that the function created and did not return: only the tape still refers to them.
  std::vector<TapeLeaf> kept;
  for (TapeLeaf& leaf : tape_->leaves) {
    const Gradient& gradient = gradients_.at(leaf.leaf->impl());
    if (leaf.leaf->use_count() == 1) continue;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].impl() == leaf.leaf->impl()) leaf.input = static_cast<int>(i);
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
    if (leaf.had_gradient && queried_.contains(gradient.tensor)) leaf.queried = gradient.geometry;
    sign(&leaf.queried, sizeof(leaf.queried));
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

void Recording::queries(const Variable& x) {
  if (!found(x)) return;
  queried_.try_emplace(x.impl(), x);
  if (autograd::may_join_graph_of_base(x))
    refuse(
        "a version counter decides whether a captured view is part of the graph of its base; make the view "
        "within the function");
}

bool Recording::is_argument(const Variable& x) const {
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const Variable& y) { return y.impl() == x.impl(); });
}

// The key contains which arguments are the same tensor or share memory.
void Recording::compares(const Variable& a, const Variable& b) {
  queries(a);
  queries(b);
  if (found(a) && found(b) && is_argument(a) != is_argument(b))
    refuse(
        "it compares an argument with a captured tensor (is_same(), is_alias_of()); pass both as arguments");
  else if (found(a) && found(b) && (seen_gradients_.contains(a.impl()) || seen_gradients_.contains(b.impl())))
    refuse("it compares a gradient with another tensor (is_same(), is_alias_of())");
}

void Recording::queries_memory(const Variable& x) {
  queries(x);
  if (is_argument(x))
    refuse("it reads the storage of an argument; pass what it needs as a number");
  else if (found(x) && seen_gradients_.contains(x.impl()))
    refuse("it reads the storage of a gradient");
}

// Watches the captured tensors that the function queried. It need not watch arguments, whose properties are
// in the key, tensors on memory that calls access, whose states are checked, and gradients of leaves.
void Recording::watch_queried() {
  const auto is_checked = [&](const Variable& x) {
    const int at = known(x.impl()->data.storage().get());
    if (at < 0) return false;
    const Buffer& buffer = tape_->buffers[static_cast<std::size_t>(at)];
    // A tape ignores the destruction of tensors in the memory of a gradient.
    return buffer.kind == Buffer::Kind::input ? is_argument(x) : buffer.first >= 0 && !buffer.is_gradient;
  };
  for (const auto& [impl, x] : queried_)
    if (!is_checked(x) && !seen_gradients_.contains(impl))
      tape_->queried.push_back(detail::watch(autograd::aged(*impl)));
  queried_.clear();
}

// Refuses a function if a tensor that it made is kept outside its results and gradients.
void Recording::refuse_escaping(const std::vector<Variable>& outputs) {
  for (const auto& [storage, k] : known_) {
    const Buffer& buffer = tape_->buffers[static_cast<std::size_t>(k.buffer)];
    if (k.serial == 0 || k.serial != detail::allocation_serial(*this, storage)) continue;
    const bool computed = (buffer.kind == Buffer::Kind::temporary && buffer.first >= 0) ||
                          (buffer.kind == Buffer::Kind::from_kernel && !buffer.returned);
    if (computed)
      refuse(detail::text(
          "a tensor that it made (", tape_->calls[static_cast<std::size_t>(buffer.first)].call->name(), ", ",
          std::uint64_t{buffer.bytes}, " bytes) is kept elsewhere than in its results and gradients"));
  }
  // The handles that results and gradients account for. A result has two: the one that the function returned,
  // and the one in `outputs`.
  std::unordered_map<const VariableImpl*, std::uint32_t> handles;
  const auto count = [&](const Variable& x, std::uint32_t more) {
    for (const Variable* at = &x; at->defined();) {
      const VariableImpl* const impl = at->impl();
      const bool seen = handles.contains(impl);
      handles[impl] += more;
      if (seen || !impl->meta) return;
      at = &impl->meta->base;  // the view has a handle of its base
      more = 1;
    }
  };
  for (const Variable& x : outputs) count(x, 2);
  for (const TapeLeaf& leaf : tape_->leaves)
    count(autograd::gradient_of(leaf.input < 0 ? *leaf.leaf : inputs_[static_cast<std::size_t>(leaf.input)]),
          1);
  for (const void* const tensor : detail::tensors_left(*this)) {
    const auto* const x = static_cast<const VariableImpl*>(tensor);
    const auto found = handles.find(x);
    if (found == handles.end() || x->use_count() > found->second)
      refuse("a handle of a tensor that it made is kept elsewhere than in its results and gradients");
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].defined()) continue;
    const VariableImpl* const x = inputs_[i].impl();
    if (x->use_count() > input_handles_[i] + handles[x] + queried_.count(x) + changed_.count(x))
      refuse("a handle of an argument is kept elsewhere than in its results");
  }
}

}  // namespace ebb::detail::compile
