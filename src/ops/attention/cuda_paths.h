// Faster implementations of attention. The functions library_* use cuDNN. The functions tensor_* use tensor
// cores, for 16-bit heads of up to 256 elements. Each function returns false, without any effect, if it does
// not support the call.
#pragma once

#include "ops/attention/kernels.h"

namespace ebb::cuda::attention {

bool library_forward(ops::AttentionSaved& call);
/// Computes the gradients of query, key and value, even if only some of them are requested.
bool library_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call);

bool tensor_forward(ops::AttentionSaved& call);
bool tensor_query_backward(NdArray& out, const NdArray& grad, const NdArray& delta,
                           const ops::AttentionSaved& call);
bool tensor_key_backward(ops::AttentionGrads& out, const NdArray& grad, const NdArray& delta,
                         const ops::AttentionSaved& call);

/// Calls f<T>() with the 16-bit dtype of the call, if the heads have at most 256 elements. Otherwise returns
/// false.
template <class F>
bool for_tensor_cores(const ops::AttentionSaved& call, const F& f) {
  if (call.query.sizes()[3] > 256 || call.value.sizes()[3] > 256) return false;
  if (call.query.dtype() == kHalf)
    f.template operator()<Half>();
  else if (call.query.dtype() == kBFloat16)
    f.template operator()<BFloat16>();
  else
    return false;
  return true;
}

}  // namespace ebb::cuda::attention
