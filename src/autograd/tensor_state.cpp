// Hashes of tensors' states.
#include "autograd/tensor_state.h"

#include "autograd/meta.h"
#include "core/tape_state.h"

namespace ebb::autograd {

namespace {

void add(std::uint64_t& hash, std::uint64_t part) { hash = detail::mixed(hash + 0x9e3779b97f4a7c15u) + part; }

}  // namespace

std::uint64_t geometry_of(const VariableImpl& x, std::uint64_t seed) noexcept {
  std::uint64_t hash = seed;
  const bool requires_grad = x.requires_grad || x.grad_fn;
  add(hash, static_cast<std::uint64_t>(x.data.dtype()) << 1 | static_cast<std::uint64_t>(requires_grad));
  add(hash, static_cast<std::uint64_t>(x.data.offset()));
  for (const std::int64_t size : x.data.sizes()) add(hash, static_cast<std::uint64_t>(size));
  for (const std::int64_t stride : x.data.strides()) add(hash, static_cast<std::uint64_t>(stride));
  return hash;
}

std::uint64_t state_of(const VariableImpl& x) noexcept {
  std::uint64_t state = geometry_of(x, reinterpret_cast<std::uintptr_t>(&x));
  add(state, reinterpret_cast<std::uintptr_t>(x.grad_fn.get()));
  if (x.grad_fn) {
    add(state, x.grad_fn->sequence_nr());
    if (const NodeExtras* const extras = x.grad_fn->extras_or_null()) {
      add(state, extras->next_handle);
      add(state, extras->tensor_hooks.size() + extras->retained.size());
    }
  }
  if (x.meta)
    for (const LeafHook& hook : x.meta->hooks) add(state, hook.serial);
  return detail::mixed(state);
}

void StateChange::begin(const Variable& x) {
  if (detail::Recorder* recorder = detail::recorder()) recorder->changes(x);
  x_ = x;
  storage_ = x.array().storage();
  before_ = state_of(*x.impl());
}

void StateChange::end() noexcept {
  const VariableImpl& x = *x_.impl();
  detail::tensor_changed(aged(x), *storage_, before_, *x.data.storage(), state_of(x));
}

namespace {

// Returns a hash of the properties of an array that a node assumes of a tensor that it saved.
std::uint32_t hash_of_form(const NdArray& array) {
  auto form = static_cast<std::uint64_t>(array.dtype());
  const auto add = [&form](std::int64_t part) {
    form = detail::mixed(form + static_cast<std::uint64_t>(part));
  };
  add(static_cast<std::int64_t>(array.device().type()));
  add(array.device().index());
  for (const std::int64_t size : array.sizes()) add(size);
  return static_cast<std::uint32_t>(form);
}

}  // namespace

void replace_array(const Variable& x, NdArray array, Saved saved) {
  const StateChange change(x);
  NdArray& data = x.impl()->data;
  const std::uint32_t changed = saved == Saved::lost ? static_cast<std::uint32_t>(detail::new_state())
                                                     : hash_of_form(data) ^ hash_of_form(array);
  if (changed != 0) meta_of(x).form ^= changed;
  if (array.storage() != data.storage() || array.offset() != data.offset() ||
      array.strides() != data.strides())
    ++meta_of(x).arrays;
  data = std::move(array);
}

const Variable& gradient_of(const Variable& x) noexcept {
  static const Variable none;
  const AutogradMeta* const meta = meta_or_null(x);
  return meta ? meta->grad : none;
}

void drop_gradient(const Variable& x) {
  if (detail::Recorder* recorder = detail::recorder()) recorder->drops_gradient(x);
  if (AutogradMeta* const meta = meta_or_null(x)) meta->grad.reset();
}

}  // namespace ebb::autograd
