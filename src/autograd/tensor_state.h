// The state of a tensor, which tapes of compiled functions depend on.
#pragma once

#include <ebb/autograd/variable.h>

#include "core/recorder.h"
#include "core/tape_state.h"

#include <cstdint>

namespace ebb::autograd {

/// Returns the tensor's identity for notifications to tapes.
inline detail::AgedTensor aged(const VariableImpl& x) noexcept { return {&x, x.born}; }

/// Returns a hash of the tensor's geometry, dtype and requires_grad, and of `seed`.
std::uint64_t geometry_of(const VariableImpl& x, std::uint64_t seed = 0) noexcept;
/// Returns a hash of the tensor's identity, geometry, dtype, requires_grad, hooks and history.
std::uint64_t state_of(const VariableImpl& x) noexcept;

/// Scope of a change to a tensor's state. It notifies the tapes that read the tensor. A function that is
/// being recorded must restore the tensor's state before it ends.
class EBB_API StateChange {
 public:
  explicit StateChange(const Variable& x) {
    if (detail::may_be_read(x.impl()->born) || detail::recorder()) [[unlikely]]
      begin(x);
  }
  ~StateChange() {
    if (x_.defined()) [[unlikely]]
      end();
  }
  StateChange(const StateChange&) = delete;
  StateChange& operator=(const StateChange&) = delete;

 private:
  void begin(const Variable& x);
  void end() noexcept;

  Variable x_;
  Ref<Storage> storage_;
  std::uint64_t before_ = 0;
};

/// Whether a node that saved a tensor computes with the elements of a new array, or throws.
enum class Saved : std::uint8_t { follows, lost };
/// Gives the tensor another array, possibly in other memory. Nodes that saved the tensor throw, too, if the
/// new array has another dtype, device or shape.
void replace_array(const Variable& x, NdArray array, Saved saved);

/// Returns the gradient without a warning and without recording the access.
const Variable& gradient_of(const Variable& x) noexcept;
/// Drops the gradient without reading it. A recorded function therefore drops it in each replay, whatever its
/// value is.
void drop_gradient(const Variable& x);

}  // namespace ebb::autograd
