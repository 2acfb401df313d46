// AccumulateGrad: the node that adds a gradient to a leaf's .grad.
#include "autograd/accumulate_grad.h"

#include "autograd/meta.h"
#include "autograd/swap_tensor.h"
#include "core/fork.h"
#include "core/recorder.h"

#include <limits>
#include <mutex>

namespace ebb::autograd {

namespace {

/// Mutexes that leaves share, selected by the leaf's address.
struct Stripes {
  detail::OpenInChild mutexes[64];
  detail::OpenInChild& of(const Variable& leaf) {
    return mutexes[(reinterpret_cast<std::uintptr_t>(leaf.impl()) / 64) % 64];
  }
};

/// Separate mutexes for accumulators and gradients. A thread that adds to a gradient may meanwhile need
/// accumulators of other leaves, because the sum may be recorded and graphs may be freed. The mutexes of
/// accumulators are therefore never held during a sum.
struct LeafMutexes {
  Stripes accumulators, gradients;
};
LeafMutexes& leaf_mutexes() {
  static LeafMutexes& made = *new LeafMutexes;  // never destroyed, because leaves may outlive it
  return made;
}

}  // namespace

namespace {

// Returns whether the accumulator still has the leaf's shape, dtype and device, which may have changed.
bool matches(const Node& accumulator, const Variable& x) {
  const OutputMeta& meta = accumulator.output_meta(0);
  const NdArray& data = x.array();
  return IntArrayRef(meta.sizes) == data.sizes() && meta.dtype == data.dtype() &&
         meta.device == data.device();
}

}  // namespace

Ref<Node> grad_accumulator(const Variable& x) {
  EBB_CHECK(x.is_leaf() && x.impl()->requires_grad,
            "grad_accumulator: expected a leaf that requires grad, got a tensor of shape ", x.sizes(), ".");
  std::lock_guard lock(leaf_mutexes().accumulators.of(x));
  AutogradMeta& meta = meta_of(x);
  // try_add_ref() fails if another thread is destroying the accumulator. A new one is then made.
  if (meta.accumulator && matches(*meta.accumulator, x) && meta.accumulator->try_add_ref())
    return Ref<Node>::adopt(meta.accumulator);
  Ref<Node> node = Ref<Node>::adopt(new AccumulateGrad(x));
  meta.accumulator = node.get();
  return node;
}

AccumulateGrad::AccumulateGrad(const Variable& leaf) : leaf_(leaf) {
  make_findable();  // grad_accumulator() finds it by the pointer in the leaf's metadata
  sequence_nr_ = std::numeric_limits<std::uint64_t>::max();  // runs as soon as its gradient is complete
  add_output(leaf.array());
}

AccumulateGrad::~AccumulateGrad() {
  std::lock_guard lock(leaf_mutexes().accumulators.of(leaf_));
  AutogradMeta* const meta = meta_or_null(leaf_);
  if (meta && meta->accumulator == this) meta->accumulator = nullptr;
}

void accumulate_into(Variable& grad, const Variable& incoming, bool may_steal) {
  const bool differentiable = GradMode::is_enabled();
  if (!grad.defined()) {
    // Reuses the incoming tensor if nothing else refers to it. Otherwise copies it, because a later in-place
    // addition would also change the tensors that share its memory.
    const bool ours =
        may_steal && incoming.array().is_dense() && incoming.array().storage()->use_count() == 1;
    if (differentiable)
      grad = ours ? incoming : incoming.clone();
    else
      grad = ours ? (incoming.requires_grad() ? incoming.detach() : incoming) : incoming.detach().clone();
  } else if (differentiable) {
    grad = grad.add(incoming);
  } else {
    grad.add_(incoming);
  }
}

Variable AccumulateGrad::hooked(Variable incoming) const {
  for (const LeafHook& hook : TensorHooks(meta_of(leaf_).hooks)) {
    const TensorHooks& live = meta_of(leaf_).hooks;  // a hook may have removed another hook
    bool present = false;
    for (const LeafHook& entry : live) present |= entry.serial == hook.serial;
    if (!present) continue;
    Variable replaced = hook.run(incoming);
    if (replaced.defined()) {
      EBB_CHECK(replaced.sizes() == incoming.sizes(), "a tensor hook returned a gradient of shape ",
                replaced.sizes(), " for one of shape ", incoming.sizes(), ". Return the same shape.");
      incoming = std::move(replaced);
    }
  }
  return incoming;
}

GradList AccumulateGrad::apply(GradList&& grads) {
  EBB_CHECK(!is_swapped(leaf_), "AccumulateGrad: the gradient of shape ", grads[0].sizes(),
            " belongs to a parameter that is substituted now. ", kOutsideOfSwap);
  const Variable incoming = hooked(std::move(grads[0]));
  if (!leaf_.requires_grad()) return {};  // the leaf was frozen after the graph was recorded
  EBB_CHECK(incoming.array().sizes() == leaf_.array().sizes(), "AccumulateGrad: the gradient of shape ",
            incoming.sizes(), " belongs to a leaf that now has shape ", leaf_.sizes(),
            ". Call backward() before reshaping the leaf in place.");
  if (detail::Recorder* recorder = detail::recorder()) [[unlikely]]
    recorder->accumulates(leaf_);
  const bool steal = incoming.use_count() == 1;
  std::lock_guard lock(leaf_mutexes().gradients.of(leaf_));
  accumulate_into(meta_of(leaf_).grad, incoming, steal);
  return {};
}

}  // namespace ebb::autograd
