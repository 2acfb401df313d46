// Functions with which an op records itself on the graph.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/saved_variable.h>

#include <concepts>

namespace ebb::autograd {

EBB_API void warn_of_inference_leaf();

/// Returns whether an op on these inputs must record a node. This is the case if gradient mode is on, at
/// least one input requires grad, and at least one input is not an inference tensor. If an input requires
/// grad but all inputs are inference tensors, its gradient is lost. Therefore the function then warns, once
/// for each thread.
template <class... Inputs>
bool records(const Inputs&... inputs) {
  const auto any = [&](auto test) {
    const auto one = [&](const auto& x) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Variable>) {
        return x.defined() && test(x);
      } else {
        for (const Variable& v : x)
          if (v.defined() && test(v)) return true;
        return false;
      }
    };
    return (one(inputs) || ...);
  };
  if (!GradMode::is_enabled() || !any([](const Variable& x) { return x.requires_grad(); })) return false;
  if (any([](const Variable& x) { return !x.impl()->inference; })) return true;
  warn_of_inference_leaf();
  return false;
}

/// Creates a node with one edge for each input, in order. A list of tensors gives one edge for each element.
template <class N, class... Inputs>
Ref<N> make_node(const Inputs&... inputs) {
  Ref<N> node = Ref<N>::adopt(new N);
  const auto add = [&](const auto& x) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Variable>)
      node->add_input(x);
    else
      for (const Variable& v : x) node->add_input(v);
  };
  (add(inputs), ...);
  return node;
}

/// Sets `node` as the history of a new output of the op.
EBB_API void set_history(const Variable& output, Ref<Node> node);

/// The part of a tensor that an in-place op changes: the elements, or only sizes and strides (t_, squeeze_).
enum class InPlace : std::uint8_t { elements, geometry };

/// Checks `self` before an in-place op. Throws for a leaf that requires grad, for a view whose kind forbids
/// the op, and for an inference tensor outside inference mode. If elements change, also throws for a view of
/// a leaf that requires grad and for a tensor with internal overlap. `op` names the op ("add_").
EBB_API void check_inplace(const Variable& self, const char* op, InPlace changes = InPlace::elements);
/// Increments the version counter after a write, so that backward detects it.
EBB_API void bump_version(const Variable& self);
/// Sets `node` as the history of `self` after an in-place op. If `self` is a view, also updates the history
/// of its base. The caller must have created the first edge of `node` from `self` before the op. A null node
/// records nothing.
EBB_API void rebase_history(const Variable& self, const Ref<Node>& node);

/// The origin of a view. It decides which in-place ops are allowed.
enum class ViewKind : std::uint8_t { single, one_of_many, made_without_grad, made_in_inference };

/// Wraps `view`, an array on base's storage, as a differentiable view of `base`. An in-place op on `base`
/// changes the view, and conversely. `node` computes the gradient of `base` from the gradient of the view.
/// `node` is null if nothing is recorded. A view of an inference tensor is an inference tensor; a view of any
/// other tensor never is.
EBB_API Variable make_view(const Variable& base, NdArray view, Ref<Node> node,
                           ViewKind kind = ViewKind::single);

/// Copies x's data and keeps x's position in the graph. An in-place op that needs its input for backward
/// saves this copy before it overwrites the input.
EBB_API Variable clone_for_saving(const Variable& x);

}  // namespace ebb::autograd
