// Kernel slots of the optimizers: one pass over many parameters, their gradients and what is remembered of
// them.
#pragma once

#include "kernel/entry_list.h"
#include "kernel/slot_list.h"
#include "optim/math.h"

#include <cstddef>

namespace ebb::kernels {

/// A rule of math.h as bytes.
struct RuleBytes {
  alignas(8) std::byte at[96];
};

/// Every entry is a parameter, its gradient, and those states of the rule that bit k of `kept` says are
/// there, in order.
struct UpdateList : EntryList {
  unsigned kept = 0;
  /// The states are f32 beside 16-bit parameters, and one more array follows: the master copy in f32 that the
  /// rule works on, of which the parameter is the rounded value. Where it is not, somebody else has written
  /// to the parameter, or the copy is new: it starts as the parameter.
  bool master = false;
  /// If not null: device memory that holds the rule in place of what the slot is given. Captured graphs need
  /// it, for a captured argument stays what it was.
  const RuleBytes* live = nullptr;
};

}  // namespace ebb::kernels

/// The numbers of an update follow the optimizer from step to step: a tape keeps how they are found instead.
template <>
struct ebb::detail::KeptAs<ebb::math::Step> {
  using type = void;
};

namespace ebb::cpu {

/// Updates every entry by the step's rule.
void optimizer_step(const kernels::UpdateList& list, const math::Step& step);
/// *to = rule, in the order of the device's current stream.
void store_rule(kernels::RuleBytes* to, Device device, const kernels::RuleBytes& rule);

}  // namespace ebb::cpu

#define EBB_OPTIM_KERNELS(X)           \
  X(optimizer_step, "optimizer step"); \
  X(store_rule, "optimizer step");
EBB_DECLARE_KERNELS(EBB_OPTIM_KERNELS)
