// Softmax on a device: the formulas of one element, which the kernels for rows and for columns share, and the
// functions for dimensions other than the last. A line is the vector of elements along the dimension.
#pragma once

#include "kernel/cuda/log_sum.h"
#include "kernel/lines.h"
#include "kernel/reducers.h"

#include <cmath>

namespace ebb::cuda {

template <class C>
EBB_HD C larger(C a, C b) {
  return reducers::Extreme<C, true>().merge(a, b);
}

/// Returns exp(x) for x <= 0, as a factor of a result. For float it is more accurate than LogSum::exp(),
/// which is used for the terms of sums.
template <class T>
__device__ Compute<T> result_exp(Compute<T> x) {
  if constexpr (sizeof(T) == 2)
    return LogSum<T>::exp(x);
  else
    return std::exp(x);
}

/// Returns the factor of a line's results: the log of the sum, or its reciprocal.
template <bool kLog, class C>
__device__ C scale_of(C sum) {
  return kLog ? std::log(sum) : C(1) / sum;
}
/// Returns the result of an element.
template <class T, bool kLog>
__device__ T result_of(T x, Compute<T> top, Compute<T> scale) {
  const Compute<T> above = static_cast<Compute<T>>(x) - top;
  return static_cast<T>(kLog ? above - scale : result_exp<T>(above) * scale);
}

/// grad_term() returns an element's term of the sum in the gradient of its line. input_grad() returns the
/// gradient of the element.
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

/// Returns the bound above which an element is the leader of its line: probability 1/2, or its logarithm. If
/// `whole` is false, the line is not a whole distribution, and the bound is infinite.
template <class T, bool kLog>
__device__ Compute<T> leader_bound(bool whole) {
  return whole ? Compute<T>(kLog ? -0.6931 : 0.5) : Compute<T>(INFINITY);
}

/// Sums the gradients of a line, without the gradient of its leader (an element with a probability over 1/2).
/// The gradients of a line add up to 0, so the leader's gradient is minus this sum. Its own formula would
/// lose digits by cancellation.
template <class T, bool kLog, class Place = int>
struct Others {
  using C = Compute<T>;
  C sum = 0;
  Place leader = -1;  // the index of the leader, if this thread has it

  __device__ T take(T grad, T y, C line_sum, C bound, Place place, bool there) {
    const C gradient = input_grad<T, kLog>(grad, y, line_sum);
    const bool leads = static_cast<C>(y) > bound;
    sum += leads || !there ? C(0) : gradient;
    if (leads && there && gradient == gradient) leader = place;
    return static_cast<T>(gradient);
  }
};

/// Computes softmax(x), or its logarithm, for lines whose elements are not contiguous.
void softmax_columns(NdArray& out, const NdArray& x, const Lines& lines, bool log);
void softmax_columns_backward(NdArray& out, const NdArray& grad, const NdArray& y, const Lines& lines,
                              bool log, bool whole);

}  // namespace ebb::cuda
