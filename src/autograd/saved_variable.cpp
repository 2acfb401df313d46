#include <ebb/autograd/saved_variable.h>

#include "autograd/meta.h"
#include "autograd/saved_hooks.h"
#include "autograd/thread_state.h"

namespace ebb::autograd {

SavedVariable::SavedVariable(Node* owner) : owner_(owner), next_(owner->saved_) { owner->saved_ = this; }

SavedVariable::~SavedVariable() = default;

void SavedVariable::save(const Variable& x) {
  if (!x.defined()) {
    state_ = State::undefined;
    return;
  }
  EBB_CHECK(!x.is_inference(), owner_->name(), ": inference tensors cannot be saved for backward. clone() the tensor ",
            "outside InferenceMode, or run the op under NoGradGuard.");
  version_ = x.impl()->version();
  if (thread_state.saved_hooks) [[unlikely]] {
    packed_ = pack_saved(x);
    state_ = State::packed;
    return;
  }
  kept_ = x;
  state_ = State::input;
}

void SavedVariable::save_output(const Variable& y) {
  version_ = y.impl()->version();
  output_nr_ = y.output_nr();
  if (thread_state.saved_hooks) [[unlikely]] {
    packed_ = pack_saved(y.detach());
    state_ = State::packed;
    return;
  }
  kept_ = Variable(y.array());  // without the node: that would be a cycle
  state_ = State::output;
}

Variable SavedVariable::unpack() const {
  switch (state_) {
    case State::input:
    case State::output: {
      if (const std::uint32_t now = kept_.impl()->version(); now != version_) [[unlikely]]
        detail::fail("one of the variables needed for gradient computation has been modified by an inplace operation: [",
                     kept_, "], needed by ", owner_->name(), ", is at version ", now, "; expected version ", version_,
                     " instead. Write out of place, or clone() it before modifying.");
      if (state_ == State::input || !GradMode::is_enabled()) return kept_;
      // Part of the graph again, so that its own derivative can be taken.
      Variable y(kept_.array());
      y.impl()->grad_fn = Ref<Node>::share(owner_);
      y.impl()->output_nr = output_nr_;
      return y;
    }
    case State::packed: return unpack_saved(packed_);
    case State::undefined: return {};
    case State::released:
      detail::fail("Trying to backward through the graph a second time (", owner_->name(),
                   "): the saved tensors have already been freed. Specify retain_graph=true in the first backward() or grad() call.");
    default: detail::fail(owner_->name(), ": a tensor was unpacked that the op never saved.");
  }
}

void SavedVariable::release() {
  if (state_ == State::undefined || state_ == State::never) return;
  state_ = State::released;
  kept_.reset();
  packed_.reset();
}

}  // namespace ebb::autograd
