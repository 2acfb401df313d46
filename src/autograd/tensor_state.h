// The state of a tensor that tapes of compiled functions assume.
#pragma once

#include <ebb/autograd/variable.h>

#include "core/read_storage.h"
#include "core/recorder.h"

#include <cstdint>

namespace ebb::autograd {

/// The tensor, for those who tell tapes of it.
inline detail::AgedTensor aged(const VariableImpl& x) noexcept { return {&x, x.born}; }

/// A number of the tensor's geometry, dtype, requires_grad, hooks and place in the graph.
std::uint64_t state_of(const VariableImpl& x) noexcept;

/// Stands around a change of any of these: tapes that know the tensor are told, and a function that is being
/// recorded must leave the tensor as it was.
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

/// The gradient of a tensor as it is, for those who neither warn nor are recorded.
const Variable& gradient_of(const Variable& x) noexcept;
/// Drops the gradient: a function that is being recorded does so whatever it was.
void drop_gradient(const Variable& x);

}  // namespace ebb::autograd
