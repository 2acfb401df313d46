// Autocast: casts the inputs of an op, and caches the casts of weights.
#include "ops/common/autocast.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/variable_impl.h>

#include "core/capture.h"

#include <memory>
#include <unordered_map>

namespace ebb::ops {

using autograd::AutocastState;
using autograd::thread_state;

/// The casts of weights, keyed by weight. A cast is valid until the elements of its weight change.
struct CastCache {
  struct Entry {
    Variable weight;  // keeps the weight alive, so that no other tensor gets its address
    Variable cast;
    NdArray array;  // keeps the memory alive, too
    std::uint32_t version;
  };
  std::unordered_map<const VariableImpl*, Entry> entries;
};

void clear_cast_cache() {
  delete thread_state.autocast.cache;
  thread_state.autocast.cache = nullptr;
}

namespace {

// Returns whether the cast of x may be cached. x must be a parameter, and the cast must be recorded in the
// graph. During the capture of a graph no cast is cached, because each replay must cast the current weights.
bool is_cached(const Variable& x, DType target) {
  const AutocastState& state = thread_state.autocast;
  return state.cache_enabled && state.nesting > 0 && target != kFloat && x.dtype() == kFloat &&
         x.requires_grad() && x.is_leaf() && !x.is_view() && GradMode::is_enabled() &&
         !detail::current_capture();
}

Variable cast_weight(const Variable& x, DType target) {
  CastCache*& cache = thread_state.autocast.cache;
  if (!cache) cache = new CastCache;
  CastCache::Entry& entry = cache->entries[x.impl()];
  const NdArray& array = x.array();
  const bool serves = entry.cast.defined() && entry.cast.dtype() == target &&
                      entry.array.storage() == array.storage() && entry.array.offset() == array.offset() &&
                      entry.array.sizes() == array.sizes() && entry.array.strides() == array.strides() &&
                      entry.version == x.impl()->version();
  if (!serves) entry = {x, x.to(target), array, x.impl()->version()};
  return entry.cast;
}

}  // namespace

Autocast::Autocast(const ListedOp& op, std::initializer_list<TensorList> inputs) {
  AutocastState& state = thread_state.autocast;
  const Variable* first = nullptr;
  for (const TensorList& list : inputs)
    for (const Variable& x : list)
      if (!first && x.defined()) first = &x;
  if (!first) return;
  device_ = first->device().type();
  if (!(state.devices >> static_cast<int>(device_) & 1)) return;
  const DType lower = state.dtypes[static_cast<int>(device_)];
  DType target = kFloat;
  switch (device_ == kCUDA ? op.cuda : op.cpu) {
    case CastRule::none:
      return;
    case CastRule::refused:
      detail::fail(op.name,
                   " is unsafe to autocast: probabilities in 16 bits round to 0 or 1 too early. Use "
                   "binary_cross_entropy_with_logits or BCEWithLogitsLoss on the input of the sigmoid; "
                   "or call it in a scope of amp::autocast with enabled=false, with inputs in Float.");
    case CastRule::lower:
      target = lower;
      break;
    case CastRule::widest:
      target = lower;
      for (const TensorList& list : inputs)
        for (const Variable& x : list)
          if (concerns(x) && x.dtype() != lower) target = kFloat;
      break;
    case CastRule::f32:
      break;
    case CastRule::f32_result:
      casts_tensors_ = false;
      if (concerns(*first)) result_dtype_ = kFloat;
      break;
  }
  target_ = target;
  devices_ = state.devices;
  state.devices = 0;
}

bool Autocast::concerns(const Variable& x) const {
  return x.defined() && is_floating(x.dtype()) && x.dtype() != kDouble && x.device().type() == device_;
}

Variable Autocast::operator()(const Variable& x) const {
  if (!casts_tensors_ || !concerns(x) || x.dtype() == target_) return x;
  return is_cached(x, target_) ? cast_weight(x, target_) : x.to(target_);
}

optional<Variable> Autocast::operator()(const optional<Variable>& x) const {
  return x ? optional<Variable>((*this)(*x)) : nullopt;
}

std::vector<Variable> Autocast::operator()(TensorList list) const {
  std::vector<Variable> out;
  out.reserve(list.size());
  for (const Variable& x : list) out.push_back((*this)(x));
  return out;
}

}  // namespace ebb::ops
