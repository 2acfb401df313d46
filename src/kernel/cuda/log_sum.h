// log sum exp of a line in one pass: the largest number so far, and the sum of the exponentials below it.
#pragma once

#include "kernel/convert.h"

#include <cmath>

namespace ebb::cuda {

/// The largest of some numbers and the sum of exp(x - largest). A NaN, or an infinite largest number, makes
/// the sum NaN; numbers that are all -inf have the sum 0.
template <class T>
struct LogSum {
  using C = Compute<T>;
  C top, sum;

  EBB_HD static LogSum none() { return {C(-INFINITY), C(0)}; }

  /// exp(x) for x <= 0 as a part of a sum: but for doubles by the two instructions that keep up with memory.
  /// Some 20 bits for 16-bit numbers and relatively |x| 2^-23 for floats, which is as much as rounding the
  /// difference x may cost; in a sum of such terms, where far ones weigh little, it is a few units of the
  /// last place. Less than 2^-126 counts as 0.
  EBB_HD static C exp(C x) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(C) == 4) {
      float y;
      asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504088896340736F));
      return y;
    }
#endif
    return std::exp(x);
  }
  /// exp(from - to), 1 where both are the same infinity.
  EBB_HD static C factor(C from, C to) { return from == to ? C(1) : exp(from - to); }

  template <int N>
  EBB_HD void take(const C (&x)[N]) {
    C most = top;
#pragma unroll
    for (int i = 0; i < N; ++i) most = std::fmax(most, x[i]);  // passes NaNs over; the sum gets them
    const C from = most == C(-INFINITY) ? C(0) : most;
    C more = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) more += exp(x[i] - from);
    sum = sum * factor(top, most) + more;
    top = most;
  }
  struct Merge {
    EBB_HD LogSum operator()(const LogSum& a, const LogSum& b) const {
      const C top = std::fmax(a.top, b.top);
      return {top, a.sum * factor(a.top, top) + b.sum * factor(b.top, top)};
    }
  };
};

}  // namespace ebb::cuda
