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
  /// True if the parameters have 16 bits, the states are f32, and each entry ends with an f32 master copy.
  /// The rule updates the copy and rounds it to the parameter. If the parameter differs from the rounded copy
  /// (the copy is new, or other code wrote to the parameter), the copy is first set to the parameter.
  bool master = false;
  /// The rule in device memory, which a captured graph reads in place of the kernel's argument, because a
  /// captured argument never changes. Null outside captures.
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
