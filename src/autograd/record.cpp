// Records ops in the graph: history, views and the rules of in-place writes.
#include <ebb/autograd/node.h>
#include <ebb/autograd/record.h>
#include <ebb/core/warning.h>

#include "autograd/meta.h"
#include "autograd/tensor_state.h"
#include "autograd/thread_state.h"
#include "core/recorder.h"

#include <atomic>
#include <memory>
#include <utility>

namespace ebb::autograd {

/// base[view] = fn(base[view], ...). For the elements of the view, fn computes the gradient of the base. For
/// all other elements, the gradient is passed on unchanged. The first edge of the node leads to the base. Its
/// other edges are the edges of fn, without the first one.
class CopySlices : public Node {
 public:
  static Ref<Node> make(const Variable& base, const NdArray& view, Ref<Node> fn);
  std::string name() const override { return "CopySlices"; }
  GradList apply(GradList&& grads) override;
  void release_variables() override;

 private:
  DimVector base_sizes_, base_strides_, view_sizes_, view_strides_;
  std::int64_t offset_ = 0;  // offset of the view within the base
  Ref<Node> fn_;
};

Ref<Node> CopySlices::make(const Variable& base, const NdArray& view, Ref<Node> fn) {
  Ref<CopySlices> node = Ref<CopySlices>::adopt(new CopySlices);
  node->base_sizes_ = DimVector(base.sizes());
  node->base_strides_ = DimVector(base.strides());
  node->view_sizes_ = DimVector(view.sizes());
  node->view_strides_ = DimVector(view.strides());
  node->offset_ = view.offset() - base.array().offset();
  node->add_input(base);
  for (std::size_t i = 1; i < fn->num_outputs(); ++i) node->add_edge(fn->next_edge(i));
  node->fn_ = std::move(fn);
  return node;
}

GradList CopySlices::apply(GradList&& grads) {
  // Copies the gradient into the base's memory layout, so that the view's strides address the same elements.
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

AutogradMeta& meta_of(const Variable& x) {
  const std::atomic_ref<AutogradMeta*> slot = meta_slot(*x.impl());
  if (AutogradMeta* meta = slot.load(std::memory_order_acquire)) return *meta;
  auto made = std::make_unique<AutogradMeta>();
  AutogradMeta* already = nullptr;
  return slot.compare_exchange_strong(already, made.get(), std::memory_order_acq_rel) ? *made.release()
                                                                                      : *already;
}

void warn_of_inference_leaf() {
  thread_local bool warned = false;
  if (std::exchange(warned, true)) return;
  warn(
      "an op outside of inference mode has only inputs that were created in inference mode, and one of them "
      "requires grad. The op is not recorded, and that input gets no gradient. clone() the input outside "
      "InferenceMode.");
}

void set_history(const Variable& output, Ref<Node> node) {
  VariableImpl& impl = *output.impl();
  impl.output_nr = node->add_output(impl.data);
  impl.grad_fn = std::move(node);
}

namespace {

bool made_without_recording(const AutogradMeta& meta) {
  return meta.kind == ViewKind::made_without_grad || meta.kind == ViewKind::made_in_inference;
}

// Throws the error that a view of this kind, or its base, was modified in place while gradients are recorded.
// `what` is a part of the message, for example "is being".
[[noreturn]] void refuse_unrecorded_view(const std::string& where, ViewKind kind, const char* what) {
  const bool inference = kind == ViewKind::made_in_inference;
  detail::fail(where, "A view was created in ", inference ? "inference" : "no_grad", " mode and ", what,
               " modified inplace ", inference ? "in normal mode" : "with grad mode enabled",
               ". Make the view under gradient mode, or move both the view and the write under ",
               inference ? "InferenceMode." : "NoGradGuard.");
}

void check_view_kind(const Variable& self, const char* op) {
  const AutogradMeta& meta = meta_of(self);
  if (meta.kind == ViewKind::one_of_many)
    detail::fail(op, ": Output of shape ", self.sizes(),
                 " is one of several views of one tensor (split, chunk, unbind) and is ",
                 "being modified inplace, which is forbidden when a gradient is recorded. clone() the "
                 "output, or use narrow().");
  if (made_without_recording(meta)) refuse_unrecorded_view(detail::text(op, ": "), meta.kind, "is being");
}

}  // namespace

void check_inplace(const Variable& self, const char* op, InPlace changes) {
  EBB_CHECK(self.defined(), op, ": the tensor to write to is undefined.");
  EBB_CHECK(!self.impl()->inference || InferenceMode::is_enabled(), op,
            ": Inplace update to inference tensor outside InferenceMode is not allowed. clone() it first.");
  const bool writes = changes == InPlace::elements;
  EBB_CHECK(!writes || !self.array().is_expanded(), op,
            ": more than one element of the written-to tensor refers to a single memory location (shape ",
            self.sizes(), ", strides ", self.strides(), "). clone() the tensor before writing to it.");
  if (!GradMode::is_enabled() || !self.requires_grad()) return;
  if (is_tracked_view(self)) {
    check_view_kind(self, op);
    const Variable& base = meta_of(self).base;
    EBB_CHECK(!writes || base.grad_fn() || !base.requires_grad(), op,
              ": a view of a leaf Variable that requires grad is being used in an in-place operation. Write "
              "under NoGradGuard, or clone() the leaf first.");
  }
  EBB_CHECK(self.grad_fn(), op,
            ": a leaf Variable that requires grad is being used in an in-place operation. Write under "
            "NoGradGuard, or ",
            "use the out-of-place op.");
}

void bump_version(const Variable& self) {
  if (self.impl()->inference) return;
  self.array().storage()->bump_version();
  if (detail::Recorder* recorder = detail::recorder()) [[unlikely]]
    recorder->version_bumped(self.array().storage());
}

void append_history(const Variable& self, const Ref<Node>& node) {
  if (!node) return;
  const StateChange change(self);
  move_retained_grad(self, node.get());
  set_history(self, node);
  self.impl()->requires_grad = false;
  if (is_tracked_view(self)) meta_of(self).version = self.impl()->version();
}

void rebase_history(const Variable& self, const Ref<Node>& node) {
  if (!node) return;
  if (!is_tracked_view(self)) return append_history(self, node);
  check_view_kind(self, node->name().c_str());
  const Variable base = meta_of(self).base;
  const StateChange change(base), change_of_view(self);
  node->add_output(self.array());
  Ref<Node> slices = CopySlices::make(base, self.array(), node);
  move_retained_grad(base, slices.get());
  set_history(base, std::move(slices));
  base.impl()->requires_grad = false;
  // The view's version now differs from the storage's, so the next access rebuilds its node from the base.
  meta_of(self).version = self.impl()->version() - 1;
  current_grad_fn(self);
}

namespace {

// Returns the kind of a new view of `base`. If `base` is itself a view, the new view inherits its
// restrictions.
ViewKind kind_of_view(const AutogradMeta* base, ViewKind kind) {
  const ViewKind inherited = base ? base->kind : ViewKind::single;
  if (thread_state.inference_mode || inherited == ViewKind::made_in_inference)
    return ViewKind::made_in_inference;
  if (!GradMode::is_enabled()) return ViewKind::made_without_grad;
  return kind == ViewKind::single ? inherited : kind;
}

}  // namespace

Variable make_view(const Variable& base, NdArray view, Ref<Node> node, ViewKind kind) {
  if (detail::Recorder* const recorder = detail::recorder()) [[unlikely]]
    recorder->queries(base);
  Variable out(std::move(view));
  out.impl()->inference = base.impl()->inference;
  if (base.impl()->inference) return out;
  AutogradMeta& meta = meta_of(out);
  // A view that later became a leaf is the base of its own views, because writes through these views change
  // the history of the leaf.
  const AutogradMeta* const inner =
      is_tracked_view(base) && !base.impl()->requires_grad ? meta_or_null(base) : nullptr;
  meta.base = inner ? inner->base : base;
  meta.version = out.impl()->version();
  meta.kind = kind_of_view(inner, kind);
  if (node) set_history(out, std::move(node));
  return out;
}

const Ref<Node>& current_grad_fn(const Variable& x) {
  VariableImpl& impl = *x.impl();
  AutogradMeta* meta = meta_slot(impl).load(std::memory_order_acquire);
  if (!meta || !meta->base.defined() || meta->version == impl.version()) [[likely]]
    return impl.grad_fn;
  if (made_without_recording(*meta) || !requires_grad_of(meta->base)) return impl.grad_fn;
  meta->version = impl.version();
  const InferenceMode record(false);
  const Variable again = meta->base.as_strided(x.sizes(), x.strides(), x.array().offset());
  move_retained_grad(x, again.impl()->grad_fn.get());
  impl.grad_fn = again.impl()->grad_fn;
  impl.output_nr = again.impl()->output_nr;
  return impl.grad_fn;
}

bool may_join_graph_of_base(const Variable& x) {
  return is_tracked_view(x) && !x.impl()->grad_fn && !made_without_recording(*x.impl()->meta) &&
         requires_grad_of(x.impl()->meta->base);
}

void check_up_to_date(const Variable& x) {
  const AutogradMeta* const meta = meta_slot(*x.impl()).load(std::memory_order_acquire);
  if (!meta || !meta->base.defined() || meta->version == x.impl()->version()) [[likely]]
    return;
  if (made_without_recording(*meta) && requires_grad_of(meta->base))
    refuse_unrecorded_view({}, meta->kind, "its base or another view of its base has been");
}

Variable clone_for_saving(const Variable& x) {
  NoGradGuard no_grad;
  Variable copy = x.clone();
  copy.impl()->grad_fn = current_grad_fn(x);
  copy.impl()->output_nr = x.impl()->output_nr;
  return copy;
}

}  // namespace ebb::autograd
