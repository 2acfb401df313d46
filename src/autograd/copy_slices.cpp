// The history of a base that was written to through a view.
#include "autograd/copy_slices.h"

namespace ebb::autograd {

Ref<Node> CopySlices::make(const Variable& base, const NdArray& view, Ref<Node> fn) {
  Ref<CopySlices> node = Ref<CopySlices>::adopt(new CopySlices);
  node->base_sizes_ = DimVector(base.sizes());
  node->base_strides_ = DimVector(base.strides());
  node->view_sizes_ = DimVector(view.sizes());
  node->view_strides_ = DimVector(view.strides());
  node->offset_ = view.offset() - base.storage_offset();
  node->add_input(base);
  for (std::size_t i = 1; i < fn->num_outputs(); ++i) node->add_edge(fn->next_edge(i));
  node->fn_ = std::move(fn);
  return node;
}

GradList CopySlices::apply(GradList&& grads) {
  // The base's own memory layout, so that the view's strides address the same elements.
  Variable result(NdArray::empty_strided(base_sizes_, base_strides_, grads[0].dtype(), grads[0].device()));
  result.copy_(grads[0]);
  const Variable slice = result.as_strided(view_sizes_, view_strides_, offset_);
  GradList from_fn = fn_->apply(GradList{slice.clone(MemoryFormat::Contiguous)});
  if (from_fn[0].defined())
    slice.copy_(from_fn[0]);
  else
    slice.zero_();
  GradList out;
  out.push_back(needs(0) ? result : Variable());
  for (std::size_t i = 1; i < from_fn.size(); ++i) out.push_back(std::move(from_fn[i]));
  return out;
}

void CopySlices::release_variables() {
  Node::release_variables();
  fn_->release_variables();
}

}  // namespace ebb::autograd
