// Parts of fused elementwise kernels. Their sources are generated at run time (compile/device_program.cpp)
// and compiled by NVRTC, or, in the emulation, by the host's compiler.
#pragma once

#include "kernel/convert.h"
#include "kernel/cuda/vector.h"
#include "ops/elementwise/formulas/activations.h"
#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/formulas/binary_math.h"
#include "ops/elementwise/formulas/compare.h"
#include "ops/elementwise/formulas/division.h"
#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/formulas/extremes.h"
#include "ops/elementwise/formulas/logic.h"
#include "ops/elementwise/formulas/parts.h"
#include "ops/elementwise/formulas/piecewise.h"
#include "ops/elementwise/formulas/predicate.h"
#include "ops/elementwise/formulas/sign_and_rounding.h"
#include "ops/elementwise/formulas/special.h"
#include "ops/elementwise/formulas/special_functions.h"
#include "ops/elementwise/formulas/ternary.h"
#include "ops/elementwise/formulas/trigonometric.h"

#include <cstdint>

namespace ebb::cuda {

/// The elements of a chain: `head` single elements, `units` vectors, and the remaining single elements.
struct ChainSpan {
  std::int64_t count, head, units;
  std::uint64_t aligned;  // bit i is set if the vectors of array i are aligned in memory
};

/// Loads V consecutive elements of an array, beginning at `first`.
template <int V, class Span, class T>
EBB_HD Vector<T, V> load(const Span& span, int array, const T* x, std::int64_t first) {
  if (V > 1 && (span.aligned >> array & 1) != 0) return *reinterpret_cast<const Vector<T, V>*>(x + first);
  Vector<T, V> loaded;
#pragma unroll
  for (int j = 0; j < V; ++j) loaded.at[j] = x[first + j];
  return loaded;
}

template <class Span, class T, int V>
EBB_HD void store(const Span& span, int array, T* x, std::int64_t first, const Vector<T, V>& value) {
  if (V > 1 && (span.aligned >> array & 1) != 0) return store_vector(x + first, value);
#pragma unroll
  for (int j = 0; j < V; ++j) x[first + j] = value.at[j];
}

/// Returns a vector with the value in all lanes.
template <int V, class T>
EBB_HD Vector<T, V> same(const T& value) {
  Vector<T, V> all;
#pragma unroll
  for (int j = 0; j < V; ++j) all.at[j] = value;
  return all;
}

/// Applies the formula to each element. The results are rounded to R, as a store to memory would round them.
template <class R, class Op, int V, class... In>
EBB_HD Vector<R, V> apply(const Op& op, const Vector<In, V>&... in) {
  Vector<R, V> result;
#pragma unroll
  for (int j = 0; j < V; ++j) result.at[j] = static_cast<R>(op.value(static_cast<Compute<In>>(in.at[j])...));
  return result;
}

/// Runs one thread of a chain. The thread processes one vector, and at most one of the elements outside of
/// the vectors.
template <int V, int kThreads, class Chain>
EBB_HD void run_chain(const Chain& chain, std::uint32_t block, std::uint32_t thread) {
  const ChainSpan& span = chain.span;
  const std::int64_t unit = std::int64_t{block} * kThreads + thread;
  if (unit < span.units) chain.template run<V>(span.head + unit * V);
  if constexpr (V > 1) {
    if (unit < span.count - span.units * V)
      chain.template run<1>(unit < span.head ? unit : unit + span.units * V);
  }
}

}  // namespace ebb::cuda
