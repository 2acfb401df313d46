// What the kernels of softmax compute of an element, by rows and by columns.
#pragma once

#include "kernel/cuda/log_sum.h"
#include "kernel/reducers.h"

#include <cmath>

namespace ebb::cuda {

template <class C>
EBB_HD C larger(C a, C b) {
  return reducing::Extreme<C, true>().merge(a, b);
}

/// exp(x) for x <= 0 that is part of a result, not only of a sum.
template <class T>
__device__ Compute<T> result_exp(Compute<T> x) {
  if constexpr (sizeof(T) == 2)
    return LogSum<T>::exp(x);
  else
    return std::exp(x);
}

/// What results of a line are made with: the log of the sum, or its reciprocal.
template <bool kLog, class C>
__device__ C scale_of(C sum) {
  return kLog ? std::log(sum) : C(1) / sum;
}
/// From an element to its result.
template <class T, bool kLog>
__device__ T finished(T x, Compute<T> top, Compute<T> scale) {
  const Compute<T> above = static_cast<Compute<T>>(x) - top;
  return static_cast<T>(kLog ? above - scale : result_exp<T>(above) * scale);
}

/// An element's part of the sum that the gradient of its line needs, and the gradient.
template <class T, bool kLog>
__device__ Compute<T> grad_term(T grad, T y) {
  using C = Compute<T>;
  return kLog ? static_cast<C>(grad) : static_cast<C>(grad) * static_cast<C>(y);
}
template <class T, bool kLog>
__device__ Compute<T> input_grad(T grad, T y, Compute<T> sum) {
  using C = Compute<T>;
  const C g = static_cast<C>(grad), at = static_cast<C>(y);
  return kLog ? g - result_exp<T>(at) * sum : (g - sum) * at;
}

/// The bound that an element's share, or its logarithm, exceeds to lead its line; nothing does unless the
/// shares are the whole.
template <class T, bool kLog>
__device__ Compute<T> leading(bool whole) {
  return whole ? Compute<T>(kLog ? -0.6931 : 0.5) : Compute<T>(INFINITY);
}

/// The gradients of a line but for that of its leader, an element that has most of the share: its own is a
/// small difference, but those of a line add up to 0.
template <class T, bool kLog, class Place = int>
struct Others {
  using C = Compute<T>;
  C sum = 0;
  Place leader = -1;  // its place, if this thread has it

  __device__ T take(T grad, T y, C line_sum, C bound, Place place, bool there) {
    const C gradient = input_grad<T, kLog>(grad, y, line_sum);
    const bool leads = static_cast<C>(y) > bound;
    sum += leads || !there ? C(0) : gradient;
    if (leads && there && gradient == gradient) leader = place;
    return static_cast<T>(gradient);
  }
};

}  // namespace ebb::cuda
