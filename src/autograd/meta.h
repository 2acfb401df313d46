// The autograd metadata that only few tensors need (a gradient, hooks, the base of a view), and the hooks
// that the engine runs: of nodes, of saved tensors, and the retained gradients of tensors.
#pragma once

#include <ebb/autograd/hooks.h>
#include <ebb/autograd/node.h>
#include <ebb/autograd/record.h>
#include <ebb/autograd/saved_variable.h>

#include <atomic>
#include <utility>
#include <vector>

namespace ebb::autograd {

struct LeafHook {
  unsigned handle;
  std::uint64_t serial;  // unique in the program, so that tapes can distinguish hooks
  TensorHook run;
};
using TensorHooks = std::vector<LeafHook>;

struct AutogradMeta {
  Variable grad;
  Node* accumulator =
      nullptr;        // not owned; cleared by the accumulator's destructor; protected by a LeafMutexes mutex
  TensorHooks hooks;  // hooks of a leaf; hooks of other tensors are stored in their node
  unsigned next_hook = 0;
  bool retains_grad = false;
  bool swapped = false;  // the handle refers to another tensor (swap_tensor.h)
  // Changes if the tensor gets an array that nodes which saved the tensor cannot use (replace_array). It has
  // its old value again if the tensor gets the old dtype, device and shape back.
  std::uint32_t form = 0;
  std::uint16_t arrays = 0;  // the number of times that the tensor got other elements (replace_array)

  // Views.
  Variable base;  // the base of this view; it is itself a view only if it is a leaf that requires grad
  std::uint32_t version = 0;  // the storage's version for which grad_fn is valid
  ViewKind kind = ViewKind::single;
};

/// Returns the pointer to a tensor's metadata. It is atomic, because several threads may use a leaf for the
/// first time concurrently. One creates the metadata while the others read the pointer.
inline std::atomic_ref<AutogradMeta*> meta_slot(VariableImpl& impl) { return std::atomic_ref(impl.meta); }
/// Returns x's metadata; allocates it on first use.
AutogradMeta& meta_of(const Variable& x);
inline AutogradMeta* meta_or_null(const Variable& x) { return x.impl()->meta; }
inline std::uint32_t form_of(const Variable& x) {
  const AutogradMeta* const meta = meta_slot(*x.impl()).load(std::memory_order_acquire);
  return meta ? meta->form : 0;
}
inline std::uint16_t arrays_of(const Variable& x) {
  const AutogradMeta* const meta = meta_slot(*x.impl()).load(std::memory_order_acquire);
  return meta ? meta->arrays : std::uint16_t{0};
}
inline bool is_tracked_view(const Variable& x) { return x.impl()->meta && x.impl()->meta->base.defined(); }

/// Returns x's node. Rebuilds the node if x is a view whose base was modified in place after the node was
/// made.
const Ref<Node>& current_grad_fn(const Variable& x);
/// Returns whether x requires grad, and reports no query of x or its base to a recorder.
bool requires_grad_of(const Variable& x);
/// Returns whether the next write in place makes x, which has no node, part of the graph of its base: x was
/// recorded as a view of a base that did not require grad yet.
bool may_join_graph_of_base(const Variable& x);
/// Sets `node`, which follows the node of `self`, as the history of `self` alone: an op has changed sizes or
/// strides, or `self` is no view. A null node records nothing.
void append_history(const Variable& self, const Ref<Node>& node);
/// Throws if x is a view created without recording, and its base requires grad and was modified after that.
/// The gradient with respect to x is then not well defined.
void check_up_to_date(const Variable& x);

// Hooks and records of a node. Tensor hooks act on the gradient of one output.
struct NodeExtras {
  struct OutputHook {
    std::uint32_t output_nr;
    unsigned handle;
    TensorHook hook;
  };
  std::vector<OutputHook> tensor_hooks;
  // Outputs that retain their gradient; not owned.
  std::vector<std::pair<std::uint32_t, VariableImpl*>> retained;
  std::vector<std::pair<unsigned, NodePreHook>> pre_hooks;
  std::vector<std::pair<unsigned, NodePostHook>> post_hooks;
  unsigned next_handle = 0;
  // In anomaly mode: the name and origin of the node whose backward recorded this one, and the stack trace of
  // its recording.
  std::string recorded_in;
  std::vector<void*> calls;
};

/// Runs the hooks of the node's outputs in the order of registration, then stores the retained gradients.
void run_tensor_hooks(Node& node, GradList& grads);
void run_pre_hooks(Node& node, GradList& grads);
void run_post_hooks(Node& node, GradList& results, const GradList& grads);

/// Runs the innermost pack hook. The result refers to the matching unpack hook.
std::shared_ptr<void> pack_saved(const Variable& x);
Variable unpack_saved(const std::shared_ptr<void>& packed);

/// Moves the record that x retains its gradient, if there is one, from x's current node to `node`. Called
/// before x's history becomes `node`.
void move_retained_grad(const Variable& x, Node* node);
/// Called when x is destroyed or no longer retains its gradient.
void drop_retained_grad(VariableImpl& impl);

}  // namespace ebb::autograd
