// Host code that the backward kernels of attention share.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "ops/attention/cuda_call.h"

namespace ebb::cuda::attending {

/// Returns delta (N H L): for each row the sum of gradient times result.
NdArray delta_of(const NdArray& grad, const ops::AttentionSaved& call);

template <class T>
BackwardInputs<T> backward_inputs(const NdArray& grad, const ops::AttentionSaved& call,
                                  const NdArray& delta) {
  using C = Compute<T>;
  return {Rows<const T>(grad), call.log_sum.template address_as<C>(), delta.template address_as<C>()};
}

}  // namespace ebb::cuda::attending
