// What an op uses to put itself on the graph.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/saved_variable.h>

#include <concepts>

namespace ebb::autograd {

EBB_API void warn_of_inference_leaf();

/// Whether an op on these inputs must record: gradient mode is on, one of them requires grad, and not all of
/// them are inference tensors. If they are, warns once for each thread, as the gradient of one that requires
/// grad is lost.
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
  if (!any([](const Variable& x) { return x.requires_grad(); }) || !GradMode::is_enabled()) return false;
  if (any([](const Variable& x) { return !x.is_inference(); })) return true;
  warn_of_inference_leaf();
  return false;
}

/// A node with one edge for each input, in order; a list of tensors gives one edge each.
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

/// Makes `node` the history of a fresh output of the op.
EBB_API void set_history(const Variable& output, const Ref<Node>& node);

/// The part of a tensor that an in-place op changes: the elements, or only how the tensor shows them (t_,
/// squeeze_).
enum class InPlace : std::uint8_t { elements, geometry };

/// Before an in-place op on `self`: throws for a leaf that requires grad, for a view whose kind forbids it,
/// for an inference tensor outside inference mode, and, where elements change, for a view of a leaf that
/// requires grad and for a tensor with internal overlap. `op` names the op ("add_").
EBB_API void check_inplace(const Variable& self, const char* op, InPlace changes = InPlace::elements);
/// After it has written: counts the write, so that backward notices.
EBB_API void bump_version(const Variable& self);
/// Makes `node` the history of `self` after an in-place op; when self is a view, its base's history changes
/// with it. `node`'s first edge must have been made from self before. Null: nothing to record.
EBB_API void rebase_history(const Variable& self, const Ref<Node>& node);

/// How a view came about; decides what in-place ops on it may do.
enum class ViewKind : std::uint8_t { single, one_of_many, made_without_grad, made_in_inference };

/// Wraps `view`, an array on base's storage, as a differentiable view of `base`: in-place ops on either are
/// seen by the other. `node` (may be null when nothing is recorded) computes the gradient of the view with
/// respect to base. A view of an inference tensor is one too; a view of any other never is.
EBB_API Variable make_view(const Variable& base, NdArray view, const Ref<Node>& node,
                           ViewKind kind = ViewKind::single);

/// A copy of x's data with x's place in the graph: what an in-place op saves of its own input before
/// overwriting it.
EBB_API Variable clone_for_saving(const Variable& x);

}  // namespace ebb::autograd
