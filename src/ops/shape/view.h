// How the ops of this family make views.
#pragma once

#include "ops/common.h"
#include "ops/shape/geometry.h"

#include <ebb/ops/shape.h>

namespace ebb::ops {

/// `array` as a differentiable view of `self`; `fill(node)` stores what N::apply needs.
template <class N, class Fill>
Variable view_of(const Variable& self, NdArray array, Fill&& fill,
                 autograd::ViewKind kind = autograd::ViewKind::single) {
  Ref<N> node;
  if (autograd::records(self)) {
    node = autograd::make_node<N>(self);
    fill(*node);
  }
  return autograd::make_view(self, std::move(array), node, kind);
}

/// The in-place kind: `self` itself takes the geometry of `array`, which lies on its storage.
template <class N, class Fill>
Variable& reshape_in_place(const Variable& self, const char* op, NdArray array, Fill&& fill) {
  autograd::check_inplace(self, op);
  Ref<N> node;
  if (autograd::records(self)) {
    node = autograd::make_node<N>(self);
    fill(*node);
  }
  self.impl()->data = std::move(array);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return const_cast<Variable&>(self);
}

/// Registers a fresh result with its node; the pattern of every op that is not a view.
template <class N, class Fill, class... Inputs>
Variable record(NdArray array, Fill&& fill, const Inputs&... inputs) {
  Variable out(std::move(array));
  if (autograd::records(inputs...)) {
    const Ref<N> node = autograd::make_node<N>(inputs...);
    fill(*node);
    autograd::set_history(out, node);
  }
  return out;
}

}  // namespace ebb::ops
