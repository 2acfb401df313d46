// Kernel slots of the optimizers: one pass over a parameter, its gradient and what is remembered of it. All
// arrays are contiguous, of one shape and floating dtype.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot.h"

namespace ebb::kernels {

struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov;
  bool first;  // the velocity starts as the gradient
};
/// velocity may be undefined when momentum is 0.
extern EBB_API KernelSlot<void(NdArray& param, const NdArray& grad, NdArray& velocity, const SgdStep& how)>
    sgd_step;

struct AdamStep {
  double beta1, beta2, eps;
  double weight_decay;  // added to the gradient
  double shrink;        // the parameter is multiplied by it first
  double step_size;     // lr / (1 - beta1^t)
  double root;          // sqrt(1 - beta2^t)
};
/// max_square is undefined without amsgrad.
extern EBB_API KernelSlot<void(NdArray& param, const NdArray& grad, NdArray& mean, NdArray& square,
                               NdArray& max_square, const AdamStep& how)>
    adam_step;

struct RmspropStep {
  double lr, alpha, eps, weight_decay, momentum;
};
/// velocity is undefined without momentum, mean unless centered.
extern EBB_API KernelSlot<void(NdArray& param, const NdArray& grad, NdArray& square, NdArray& velocity,
                               NdArray& mean, const RmspropStep& how)>
    rmsprop_step;

struct AdagradStep {
  double lr, eps, weight_decay;
};
extern EBB_API KernelSlot<void(NdArray& param, const NdArray& grad, NdArray& sum, const AdagradStep& how)>
    adagrad_step;

}  // namespace ebb::kernels

namespace ebb::cpu {

void sgd_step(NdArray& param, const NdArray& grad, NdArray& velocity, const kernels::SgdStep& how);
void adam_step(NdArray& param, const NdArray& grad, NdArray& mean, NdArray& square, NdArray& max_square,
               const kernels::AdamStep& how);
void rmsprop_step(NdArray& param, const NdArray& grad, NdArray& square, NdArray& velocity, NdArray& mean,
                  const kernels::RmspropStep& how);
void adagrad_step(NdArray& param, const NdArray& grad, NdArray& sum, const kernels::AdagradStep& how);

}  // namespace ebb::cpu
