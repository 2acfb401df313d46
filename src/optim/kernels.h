// Kernel slots of the optimizers: one pass over many parameters, their gradients and what is remembered of
// them.
#pragma once

#include <cstddef>

#include "kernel/entry_list.h"
#include "kernel/slot.h"

namespace ebb::kernels {

/// A rule of math.h as bytes.
struct RuleBytes {
  alignas(8) std::byte at[96];
};

/// Every entry is a parameter, its gradient, and those states of the rule that bit k of `kept` says are
/// there, in order.
struct UpdateList : EntryList {
  unsigned kept = 0;
  /// If not null: device memory that holds the rule in place of what the slot is given. Captured graphs need
  /// it, for a captured argument stays what it was.
  const RuleBytes* live = nullptr;
};

struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov;
  bool first;  // the velocity starts as the gradient
};
/// State 0, the velocity, is there with momentum.
extern EBB_API KernelSlot<void(const UpdateList& list, const SgdStep& how)> sgd_step;

struct AdamStep {
  double beta1, beta2, eps;
  double weight_decay;  // added to the gradient
  double shrink;        // the parameter is multiplied by it first
  double step_size;     // lr / (1 - beta1^t)
  double root;          // sqrt(1 - beta2^t)
};
/// States: the mean, the mean square, and with amsgrad the largest mean square so far.
extern EBB_API KernelSlot<void(const UpdateList& list, const AdamStep& how)> adam_step;

struct RmspropStep {
  double lr, alpha, eps, weight_decay, momentum;
};
/// States: the mean square; with momentum the velocity; if centered the mean.
extern EBB_API KernelSlot<void(const UpdateList& list, const RmspropStep& how)> rmsprop_step;

struct AdagradStep {
  double lr, eps, weight_decay;
};
/// State: the sum of squares.
extern EBB_API KernelSlot<void(const UpdateList& list, const AdagradStep& how)> adagrad_step;

/// *to = rule, in the order of the device's current stream.
extern EBB_API KernelSlot<void(RuleBytes* to, Device device, const RuleBytes& rule)> store_rule;

}  // namespace ebb::kernels

namespace ebb::cpu {

void sgd_step(const kernels::UpdateList& list, const kernels::SgdStep& how);
void adam_step(const kernels::UpdateList& list, const kernels::AdamStep& how);
void rmsprop_step(const kernels::UpdateList& list, const kernels::RmspropStep& how);
void adagrad_step(const kernels::UpdateList& list, const kernels::AdagradStep& how);
void store_rule(kernels::RuleBytes* to, Device device, const kernels::RuleBytes& rule);

}  // namespace ebb::cpu
