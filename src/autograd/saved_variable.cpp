// SavedVariable: tensors saved for backward, with version checks and unpacking.
#include <ebb/autograd/saved_variable.h>

#include "autograd/meta.h"
#include "autograd/swap_tensor.h"
#include "autograd/thread_state.h"

namespace ebb::autograd {

SavedVariable::SavedVariable(Node* owner) : owner_(owner), next_(owner->saved_) { owner->saved_ = this; }

SavedVariable::~SavedVariable() = default;

namespace {

// Represents a leaf whose data was packed. The unpacked tensor is a new one, but its gradient belongs to the
// leaf.
struct UnpackedLeafBackward : Node {
  std::string name() const override { return "UnpackedLeafBackward"; }
  GradList apply(GradList&& grads) override { return std::move(grads); }
};

}  // namespace

void SavedVariable::pack(const Variable& x, Edge edge, bool is_output) {
  packed_ = std::make_unique<Packed>(Packed{pack_saved(x), std::move(edge.function), OutputMeta(x.array()),
                                            x.array().storage().get(), is_output});
  if (packed_->edge) output_nr_ = edge.input_nr;
  state_ = State::packed;
}

Variable SavedVariable::unpack_packed() const {
  const Variable x = unpack_saved(packed_->object).detach();
  const OutputMeta& meta = packed_->meta;
  EBB_CHECK(x.sizes() == IntArrayRef(meta.sizes) && x.dtype() == meta.dtype && x.device() == meta.device,
            "a saved tensor was packed as ", meta.dtype, IntArrayRef(meta.sizes), " on ", meta.device,
            ", but its unpack hook returned [", x, "], needed by ", owner_->name(),
            ". The hook, or the second run of a checkpointed function, must return an equal tensor. Do not "
            "change the data or the shape of a captured tensor before backward().");
  if (x.array().storage().get() == packed_->storage && x.impl()->version() != version_) modified_error(x);
  const bool is_output = packed_->is_output;
  const Ref<Node>& edge = packed_->edge;
  if (!GradMode::is_enabled() || (!edge && !is_output)) return x;
  Ref<Node> history = is_output ? Ref<Node>::share(owner_) : edge;
  if (!is_output && edge->num_outputs() == 0) {
    // The history is an accumulator, to which only its leaf may refer directly. This node is between the
    // accumulator and the new tensor.
    history = Ref<Node>::adopt(new UnpackedLeafBackward);
    history->add_edge({edge, 0});
    history->add_output(x.array());
  }
  x.impl()->output_nr = is_output || edge->num_outputs() ? output_nr_ : 0;
  x.impl()->grad_fn = std::move(history);
  return x;
}

void SavedVariable::save(const Variable& x) {
  if (!x.defined()) {
    state_ = State::undefined;
    return;
  }
  if (is_swapped(x)) [[unlikely]]
    return save(current_tensor(x));
  EBB_CHECK(!x.impl()->inference, owner_->name(),
            ": inference tensors cannot be saved for backward. clone() the tensor ",
            "outside InferenceMode, or run the op under NoGradGuard.");
  version_ = x.impl()->version();
  if (thread_state.saved_hooks) [[unlikely]] {
    pack(x, x.requires_grad() ? gradient_edge(x) : Edge{}, false);
    return;
  }
  kept_ = x;
  form_ = form_of(x);
  arrays_ = arrays_of(x);
  state_ = State::input;
}

void SavedVariable::save_output(const Variable& y) {
  version_ = y.impl()->version();
  output_nr_ = y.output_nr();
  if (thread_state.saved_hooks) [[unlikely]] {
    pack(y.detach(), {}, true);
    return;
  }
  kept_ = Variable(y.array());  // without the node, because that would be a reference cycle
  state_ = State::output;
}

bool SavedVariable::is_usable() const {
  return kept_.impl()->version() == version_ && form_of(kept_) == form_ && !is_swapped(kept_);
}

Variable SavedVariable::unpack_unless_changed() const {
  if (state_ == State::input || state_ == State::output)
    return is_usable() && arrays_of(kept_) == arrays_ ? unpack() : Variable();
  if (state_ == State::never) return {};  // an in-place op has not saved its input
  if (state_ != State::packed) return unpack();
  try {
    return unpack_packed();
  } catch (const Error&) {
    return {};
  }
}

void SavedVariable::modified_error(const Variable& x) const {
  EBB_CHECK(!is_swapped(x), "a parameter needed for gradient computation, [", x, "], needed by ",
            owner_->name(), ", is substituted now. ", kOutsideOfSwap);
  if (const std::uint32_t now = x.impl()->version(); now != version_)
    detail::fail(
        "one of the variables needed for gradient computation has been modified by an inplace operation: [",
        x, "], needed by ", owner_->name(), ", is at version ", now, "; expected version ", version_,
        " instead. Write out of place, or clone() it before modifying.");
  detail::fail(
      "one of the variables needed for gradient computation has been given other data by set_data(), ",
      "set_() or resize_(), which its node cannot use: [", x, "], needed by ", owner_->name(),
      ". Give it other data after backward(), or clone() it before the forward pass.");
}

Variable SavedVariable::unpack() const {
  switch (state_) {
    case State::input:
    case State::output: {
      if (!is_usable()) [[unlikely]]
        modified_error(kept_);
      if (state_ == State::input || !GradMode::is_enabled()) return kept_;
      // Restores the history, so that the saved tensor can itself be differentiated.
      Variable y(kept_.array());
      y.impl()->grad_fn = Ref<Node>::share(owner_);
      y.impl()->output_nr = output_nr_;
      return y;
    }
    case State::packed:
      return unpack_packed();
    case State::undefined:
      return {};
    case State::released:
      detail::fail("Trying to backward through the graph a second time (", owner_->name(),
                   "): the saved tensors have already been freed. Specify retain_graph=true in the first "
                   "backward() or grad() call.");
    default:
      detail::fail(owner_->name(), ": a tensor was unpacked that the op never saved.");
  }
}

void SavedVariable::release() {
  if (state_ == State::undefined || state_ == State::never) return;
  state_ = State::released;
  kept_.reset();
  packed_.reset();
}

}  // namespace ebb::autograd
