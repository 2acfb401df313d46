// log-sum-exp of a line in one pass, with the running maximum and the sum of exp(x - maximum).
#pragma once

#include "kernel/convert.h"

#include <cmath>

namespace ebb::cuda {

/// The maximum of some values, and the sum of exp(x - maximum). If a value is NaN or +inf, the sum is NaN.
/// If all values are -inf, the sum is 0.
template <class T>
struct LogSum {
  using C = Compute<T>;
  C top, sum;

  EBB_HD static LogSum none() { return {C(-INFINITY), C(0)}; }

  /// Returns exp(x) for x <= 0 as a term of the sum. Except for double, it takes only two instructions, so
  /// that the memory bandwidth remains the limit. The relative error is |x| 2^-23 for float, about as large
  /// as the effect of rounding x, and about 2^-20 for 16-bit types. Terms with large |x| are small, so the
  /// sum is accurate to a few units in the last place. Results below 2^-126 are 0.
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
  /// Returns exp(from - to); 1 if both are the same infinity.
  EBB_HD static C factor(C from, C to) { return from == to ? C(1) : exp(from - to); }

  template <int N>
  EBB_HD void take(const C (&x)[N]) {
    C most = top;
#pragma unroll
    for (int i = 0; i < N; ++i) most = std::fmax(most, x[i]);  // fmax ignores NaN, but the sum becomes NaN
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
