// Kernel slots of the optimizers: one pass over many parameters, their gradients and their states.
#pragma once

#include "kernel/call/arguments.h"
#include "kernel/call/slot.h"
#include "optim/math.h"

#include <cstddef>

namespace ebb::kernels {

/// The bytes of a rule of math.h.
struct RuleBytes {
  alignas(8) std::byte at[96];
};

/// The arrays to update. Each entry contains a parameter, its gradient, and the states of the rule in order.
/// State k is present if bit k of `state_mask` is set.
struct UpdateList : EntryList {
  unsigned state_mask = 0;
  /// True if the parameters are 16-bit, the states f32, and each entry ends with an f32 master copy. The rule
  /// updates the copy, and the parameter is the copy's rounded value. If the parameter has another value, the
  /// copy is new or the parameter was written to. The copy is then first set to the parameter.
  bool master = false;
  /// If not null, the rule in device memory, which replaces the argument of the kernel. Captured graphs need
  /// it, because the value of a captured argument never changes.
  const RuleBytes* live = nullptr;
};

}  // namespace ebb::kernels

/// The coefficients of an update change from step to step. A tape therefore does not record them, but
/// computes them in each run (replay.h).
template <>
struct ebb::detail::KeptAs<ebb::math::Step> {
  using type = void;
};

namespace ebb::cpu {

/// Updates each entry with the rule of the step.
void optimizer_step(const kernels::UpdateList& list, const math::Step& step);
/// Stores the rule in *to, on the device's current stream.
void store_rule(kernels::RuleBytes* to, Device device, const kernels::RuleBytes& rule);

}  // namespace ebb::cpu

#define EBB_OPTIM_KERNELS(X)           \
  X(optimizer_step, "optimizer step"); \
  X(store_rule, "optimizer step");
EBB_DECLARE_KERNELS(EBB_OPTIM_KERNELS)
