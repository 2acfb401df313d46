// Hooks on tensors, hooks on nodes and the checks of their results, and pack and unpack hooks of saved
// tensors.
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/hooks.h>

#include "autograd/accumulate_grad.h"
#include "autograd/meta.h"
#include "autograd/tensor_state.h"
#include "autograd/thread_state.h"
#include "core/recorder.h"

#include <algorithm>
#include <utility>

namespace ebb {
namespace autograd {

unsigned add_tensor_hook(const Variable& x, TensorHook hook) {
  EBB_CHECK(x.requires_grad(),
            "register_hook: cannot register a hook on a tensor that doesn't require gradient; call "
            "requires_grad_() first.");
  const StateChange change(x);
  if (const Ref<Node>& node = x.grad_fn()) {
    NodeExtras& extras = node->extras();
    extras.tensor_hooks.push_back({x.output_nr(), extras.next_handle, std::move(hook)});
    return extras.next_handle++;
  }
  AutogradMeta& meta = meta_of(x);
  meta.hooks.push_back({meta.next_hook, detail::new_state(), std::move(hook)});
  return meta.next_hook++;
}

namespace {

// Reports a change of hooks to tapes. A leaf has no history, so the hooks of its accumulator are treated as
// hooks of the leaf.
void hooks_change(const Node& node) {
  const auto* const accumulator = dynamic_cast<const AccumulateGrad*>(&node);
  if (!accumulator) return;
  detail::not_replayed("it changes the hooks of a node that collects a gradient");
  const VariableImpl& leaf = *accumulator->variable().impl();
  const Storage& storage = *leaf.data.storage();
  detail::tensor_changed(aged(leaf), storage, detail::new_state(), storage, detail::new_state());
}

}  // namespace

unsigned add_pre_hook(Node& node, NodePreHook hook) {
  hooks_change(node);
  NodeExtras& extras = node.extras();
  extras.pre_hooks.emplace_back(extras.next_handle, std::move(hook));
  return extras.next_handle++;
}

unsigned add_post_hook(Node& node, NodePostHook hook) {
  hooks_change(node);
  NodeExtras& extras = node.extras();
  extras.post_hooks.emplace_back(extras.next_handle, std::move(hook));
  return extras.next_handle++;
}

void remove_node_hook(Node& node, unsigned handle) {
  hooks_change(node);
  NodeExtras& extras = node.extras();
  const std::size_t removed =
      std::erase_if(extras.pre_hooks, [&](const auto& h) { return h.first == handle; }) +
      std::erase_if(extras.post_hooks, [&](const auto& h) { return h.first == handle; });
  EBB_CHECK(removed, "remove_node_hook: ", node.name(), " has no hook with the handle ", handle, ".");
}

void move_retained_grad(const Variable& x, Node* node) {
  AutogradMeta* meta = meta_or_null(x);
  if (!meta || !meta->retains_grad) return;
  drop_retained_grad(*x.impl());
  meta->retains_grad = true;
  // The index of x among the node's outputs. A node that was rebuilt for a view has x as its last output
  // already; otherwise x becomes the next output.
  const std::uint32_t output = node->num_inputs() ? node->num_inputs() - 1 : 0;
  node->extras().retained.emplace_back(is_tracked_view(x) ? output : node->num_inputs(), x.impl());
}

void drop_retained_grad(VariableImpl& impl) {
  if (!impl.meta || !impl.meta->retains_grad) return;
  impl.meta->retains_grad = false;
  if (impl.grad_fn)
    if (NodeExtras* extras = impl.grad_fn->extras_or_null())
      std::erase_if(extras->retained, [&](const auto& r) { return r.second == &impl; });
}

}  // namespace autograd

using namespace autograd;

void Variable::remove_hook(unsigned handle) const {
  const StateChange change(*this);
  std::size_t removed = 0;
  if (const Ref<Node>& node = grad_fn()) {
    if (NodeExtras* extras = node->extras_or_null())
      removed = std::erase_if(extras->tensor_hooks, [&](const auto& h) { return h.handle == handle; });
  } else if (AutogradMeta* meta = meta_or_null(*this)) {
    removed = std::erase_if(meta->hooks, [&](const auto& h) { return h.handle == handle; });
  }
  EBB_CHECK(removed, "remove_hook: no hook with the handle ", handle, " is registered on this tensor.");
}

void Variable::retain_grad() const {
  EBB_CHECK(requires_grad(), "retain_grad: can't retain_grad on Tensor that has requires_grad=False.");
  const Ref<Node>& node = grad_fn();
  if (!node || retains_grad()) return;  // a leaf always stores its gradient
  const StateChange change(*this);
  meta_of(*this).retains_grad = true;
  node->extras().retained.emplace_back(output_nr(), impl());
}

bool Variable::retains_grad() const {
  if (is_leaf()) return false;
  const AutogradMeta* meta = meta_or_null(*this);
  return meta && meta->retains_grad;
}

}  // namespace ebb

namespace ebb::autograd {
namespace {

void check_replacement(const Node& node, const Variable& replaced, const Variable& grad) {
  EBB_CHECK(replaced.sizes() == grad.sizes(), "a hook on ", node.name(), " returned a gradient of shape ",
            replaced.sizes(), " for one of shape ", grad.sizes(), ". Return the same shape.");
}

variable_list to_list(const GradList& grads) { return variable_list(grads.begin(), grads.end()); }

void take_list(const Node& node, const variable_list& from, GradList& to) {
  if (from.empty()) return;
  EBB_CHECK(from.size() == to.size(), "a hook on ", node.name(), " returned ", std::uint64_t{from.size()},
            " gradients in place of ", std::uint64_t{to.size()},
            ". Return the same number, or an empty list.");
  to = GradList(from);
}

}  // namespace

void run_tensor_hooks(Node& node, GradList& grads) {
  NodeExtras& extras = node.extras();
  const auto hooks = extras.tensor_hooks;  // a copy, because hooks may add and remove hooks
  for (const NodeExtras::OutputHook& h : hooks) {
    Variable& grad = grads[h.output_nr];
    const bool live = std::any_of(extras.tensor_hooks.begin(), extras.tensor_hooks.end(),
                                  [&](const auto& other) { return other.handle == h.handle; });
    if (!grad.defined() || !live) continue;
    Variable replaced = h.hook(grad);
    if (!replaced.defined()) continue;
    check_replacement(node, replaced, grad);
    grad = std::move(replaced);
  }
  for (const auto& [output_nr, impl] : extras.retained)
    if (grads[output_nr].defined()) {
      const Variable keeper(Ref<VariableImpl>::share(impl));
      if (detail::Recorder* const recorder = detail::recorder()) recorder->accumulates(keeper);
      accumulate_into(meta_of(keeper).grad, grads[output_nr], false);
    }
}

void run_pre_hooks(Node& node, GradList& grads) {
  const auto hooks = node.extras().pre_hooks;
  for (const auto& [handle, hook] : hooks) take_list(node, hook(to_list(grads)), grads);
}

void run_post_hooks(Node& node, GradList& results, const GradList& grads) {
  const auto hooks = node.extras().post_hooks;
  for (const auto& [handle, hook] : hooks) take_list(node, hook(to_list(results), to_list(grads)), results);
}

// The state of one guard. The guards form a stack; the thread's state points to the innermost one.
struct SavedHooksFrame {
  std::shared_ptr<void> context;
  SavedTensorHooks::Pack pack;
  SavedTensorHooks::Unpack unpack;
  SavedHooksFrame* outer;
};

namespace {

// The value that a pack hook returned, with the matching unpack hook.
struct Packed {
  std::shared_ptr<void> value;
  std::shared_ptr<void> context;
  SavedTensorHooks::Unpack unpack;
};

}  // namespace

void SavedTensorHooks::push(std::shared_ptr<void> context, Pack pack, Unpack unpack) {
  thread_state.saved_hooks = new SavedHooksFrame{std::move(context), pack, unpack, thread_state.saved_hooks};
}

SavedTensorHooks::~SavedTensorHooks() {
  const std::unique_ptr<SavedHooksFrame> frame(thread_state.saved_hooks);
  thread_state.saved_hooks = frame->outer;
}

std::shared_ptr<void> pack_saved(const Variable& x) {
  // Tensors that the hook itself saves are not packed.
  struct Aside {
    SavedHooksFrame* frame = std::exchange(thread_state.saved_hooks, nullptr);
    ~Aside() { thread_state.saved_hooks = frame; }
  } aside;
  const SavedHooksFrame& hooks = *aside.frame;
  NoGradGuard no_grad;
  std::shared_ptr<void> value = hooks.pack(hooks.context.get(), x);
  return std::make_shared<Packed>(Packed{std::move(value), hooks.context, hooks.unpack});
}

Variable unpack_saved(const std::shared_ptr<void>& packed) {
  const auto& p = *static_cast<const Packed*>(packed.get());
  Variable x = p.unpack(p.context.get(), p.value);
  EBB_CHECK(x.defined(), "SavedTensorHooks: the unpack hook returned an undefined tensor.");
  return x;
}

}  // namespace ebb::autograd
