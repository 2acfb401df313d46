// What few tensors have: a gradient, hooks, a base they view.
#pragma once

#include <ebb/autograd/hooks.h>
#include <ebb/autograd/node.h>
#include <ebb/autograd/record.h>

#include <utility>
#include <vector>

namespace ebb::autograd {

struct LeafHook {
  unsigned handle;
  std::uint64_t serial;  // of all hooks of the program, which tells them apart for tapes
  TensorHook run;
};
using TensorHooks = std::vector<LeafHook>;

struct AutogradMeta {
  Variable grad;
  Node* accumulator =
      nullptr;        // not owned; cleared by the accumulator's destructor. Guarded by a mutex of its own
  TensorHooks hooks;  // of a leaf; those of other tensors live with their node
  unsigned next_hook = 0;
  bool retains_grad = false;
  bool lent = false;  // the handle stands for another tensor (lend.h)

  // Views.
  Variable base;  // the tensor this one is a view of; itself a view only if it is a leaf that requires grad
  std::uint32_t version = 0;  // of the storage when grad_fn was last right
  ViewKind kind = ViewKind::single;
};

/// x's meta, made on first use.
AutogradMeta& meta_of(const Variable& x);
inline AutogradMeta* meta_or_null(const Variable& x) { return x.impl()->meta; }
inline bool is_tracked_view(const Variable& x) { return x.impl()->meta && x.impl()->meta->base.defined(); }

/// x's node, rebuilt when x is a view whose base has been written to since.
const Ref<Node>& current_grad_fn(const Variable& x);
/// Throws when x is a view made without recording, and its base, which requires grad, has been written to
/// since: what a gradient with respect to x means is not clear then.
void check_up_to_date(const Variable& x);

// Hooks and records of a node. Tensor hooks act on the gradient of one output.
struct NodeExtras {
  struct OutputHook {
    std::uint32_t output_nr;
    unsigned handle;
    TensorHook hook;
  };
  std::vector<OutputHook> tensor_hooks;
  std::vector<std::pair<std::uint32_t, VariableImpl*>> retained;  // outputs whose .grad is kept; weak
  std::vector<std::pair<unsigned, NodePreHook>> pre_hooks;
  std::vector<std::pair<unsigned, NodePostHook>> post_hooks;
  unsigned next_handle = 0;
  // In anomaly mode: the node whose backward recorded this one, with its own origin, and the calls that did.
  std::string recorded_in;
  std::vector<void*> calls;
};

}  // namespace ebb::autograd
