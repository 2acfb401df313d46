// The history of a tensor part of which was overwritten through a view.
#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// base[view] = fn(base[view], ...): the gradient of base passes through, except in the slice, where fn's
/// applies. Its edges are base's own, then fn's beyond the first.
class CopySlices : public Node {
 public:
  static Ref<Node> make(const Variable& base, const NdArray& view, Ref<Node> fn);
  std::string name() const override { return "CopySlices"; }
  GradList apply(GradList&& grads) override;
  void release_variables() override;

 private:
  DimVector base_sizes_, base_strides_, view_sizes_, view_strides_;
  std::int64_t offset_ = 0;  // of the view within the base
  Ref<Node> fn_;
};

}  // namespace ebb::autograd
