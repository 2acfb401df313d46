// Helpers that record ops in the graph, and the lists of tensors that nodes save. The template argument N is
// the class of the op's node. The argument `fill` is called only if the op is recorded; fill(node) stores the
// values that N::apply needs.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/autograd/saved_variable.h>
#include <ebb/autograd/variable.h>

#include "autograd/meta.h"
#include "autograd/tensor_state.h"

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <utility>

namespace ebb::ops {

/// Returns the tensor whose method runs. Variable is the only class that is derived from the classes of
/// ebb/methods.
template <class Methods>
const Variable& self(const Methods* methods) {
  return static_cast<const Variable&>(*methods);
}

/// Removes const from `self`, because libtorch's in-place ops return Variable&. The ops take `self` by const
/// reference, so that a temporary view can also be written to.
inline Variable& mutable_self(const Variable& self) { return const_cast<Variable&>(self); }

/// A list of saved tensors, declared as a member of a node: `SavedVariables inputs{this};`. The tensors are
/// stored in a deque, because the node has pointers to them, so they must not move.
class SavedVariables {
 public:
  explicit SavedVariables(autograd::Node* owner) : owner_(owner) {}

  /// Saves inputs of the op. Undefined tensors are permitted.
  void save(TensorList inputs) {
    for (const Variable& x : inputs) each_.emplace_back(owner_).save(x);
  }
  /// Returns the saved tensors with their history.
  variable_list unpack() const {
    variable_list out;
    out.reserve(each_.size());
    for (const autograd::SavedVariable& saved : each_) out.push_back(saved.unpack());
    return out;
  }

 private:
  autograd::Node* owner_;
  std::deque<autograd::SavedVariable> each_;
};

/// Returns a node with these inputs, or null if nothing is recorded.
template <class N, class Fill, class... Inputs>
Ref<N> node_of(Fill&& fill, const Inputs&... inputs) {
  if (!autograd::records(inputs...)) return {};
  Ref<N> node = autograd::make_node<N>(inputs...);
  fill(*node);
  return node;
}

/// Makes the new tensors `results` the results of one node N, in this order; undefined ones are skipped.
/// Returns null if nothing is recorded. Otherwise the caller must store the values that N::apply needs in the
/// node. These values may themselves be results.
template <class N, class... Inputs>
Ref<N> record_results(std::initializer_list<const Variable*> results, const Inputs&... inputs) {
  if (!autograd::records(inputs...)) return {};
  Ref<N> node = autograd::make_node<N>(inputs...);
  for (const Variable* const result : results)
    if (result->defined()) autograd::set_history(*result, node);
  return node;
}

/// Returns a new tensor with the given array, recorded as the result of a node N.
template <class N, class Fill, class... Inputs>
Variable record(NdArray array, Fill&& fill, const Inputs&... inputs) {
  Variable out(std::move(array));
  if (!autograd::records(inputs...)) return out;
  Ref<N> node = autograd::make_node<N>(inputs...);
  N& recorded = *node;
  autograd::set_history(out, std::move(node));
  fill(recorded);
  return out;
}

/// Records an in-place op: `write(array)` changes self's elements.
template <class N, class Write, class Fill, class... Inputs>
Variable& record_inplace(const Variable& self, const char* op, Write&& write, Fill&& fill,
                         const Inputs&... inputs) {
  autograd::check_inplace(self, op);
  const Ref<N> node = node_of<N>(fill, self, inputs...);
  NdArray out = self.array();
  write(out);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return mutable_self(self);
}

/// Returns `array` as a differentiable view of `self`.
template <class N, class Fill>
Variable view_of(const Variable& self, NdArray array, Fill&& fill,
                 autograd::ViewKind kind = autograd::ViewKind::single) {
  return autograd::make_view(self, std::move(array), node_of<N>(fill, self), kind);
}

/// Whether the new array of a tensor has only elements of the old array.
enum class Elements : std::uint8_t { kept, may_be_new };

/// Gives `self` the sizes, strides and offset of `array`, which is on self's storage. This is the in-place
/// form of view_of(). The elements do not change, so the base of a view keeps its history. The new node
/// follows the node of `self`, whose hooks therefore still run. If a view may show elements of its base that
/// it did not show before, its node is created from the base when the node is first needed.
template <class N, class Fill>
Variable& reshape_in_place(const Variable& self, const char* op, NdArray array, Fill&& fill,
                           Elements elements = Elements::kept) {
  autograd::check_inplace(self, op, autograd::InPlace::geometry);
  const bool follows = elements == Elements::kept || !self.is_view();
  const Ref<N> node = follows ? node_of<N>(fill, self) : Ref<N>();
  {
    const autograd::StateChange change(self);
    self.impl()->data = std::move(array);
  }
  autograd::bump_version(self);
  autograd::append_history(self, node);
  return mutable_self(self);
}

}  // namespace ebb::ops
