// What the backward kernels of attention share on the host.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "ops/attention/cuda_call.h"

namespace ebb::cuda::attending {

/// (N H L): the sum over a row of gradient times result.
NdArray delta_of(const NdArray& grad, const ops::AttentionSaved& call);

template <class T>
Slope<T> slope_of(const NdArray& grad, const ops::AttentionSaved& call, const NdArray& delta) {
  using C = Compute<T>;
  return {Rows<const T>(grad), call.log_sum.template address_as<C>(), delta.template address_as<C>()};
}

}  // namespace ebb::cuda::attending
