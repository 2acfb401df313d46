// Hooks on nodes, and the checks of what they return.
#include "autograd/node_hooks.h"

#include "autograd/accumulate_grad.h"
#include "autograd/meta.h"
#include "core/recorder.h"

#include <algorithm>

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
            ". Return as many as it was given, or an empty list.");
  to = GradList(from);
}

}  // namespace

void run_tensor_hooks(Node& node, GradList& grads) {
  NodeExtras& extras = node.extras();
  const auto hooks = extras.tensor_hooks;  // hooks may add and remove hooks
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

}  // namespace ebb::autograd
