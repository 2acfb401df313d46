// What kernels of elementwise calls that run together are made of. Their sources are written while the
// program runs (compile/device_chain.cpp) and compiled by NVRTC, or, in the emulation, by the host's
// compiler.
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
#include "ops/elementwise/formulas/rounding.h"
#include "ops/elementwise/formulas/sign.h"
#include "ops/elementwise/formulas/special.h"
#include "ops/elementwise/formulas/special_functions.h"
#include "ops/elementwise/formulas/ternary.h"
#include "ops/elementwise/formulas/trigonometric.h"

#include <cstdint>

namespace ebb::cuda {

/// The elements of a chain: `head` of them, `units` vectors, and the rest.
struct ChainSpan {
  std::int64_t count, head, units;
  std::uint64_t aligned;  // a bit an array: whether its part of a vector is, in memory
};

/// V neighbours of an array, from one element on.
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

/// One value for all.
template <int V, class T>
EBB_HD Vector<T, V> same(const T& value) {
  Vector<T, V> all;
#pragma unroll
  for (int j = 0; j < V; ++j) all.at[j] = value;
  return all;
}

/// The formula of each element, rounded to R as it would be in memory.
template <class R, class Op, int V, class... In>
EBB_HD Vector<R, V> apply(const Op& op, const Vector<In, V>&... in) {
  Vector<R, V> result;
#pragma unroll
  for (int j = 0; j < V; ++j) result.at[j] = static_cast<R>(op.value(static_cast<Compute<In>>(in.at[j])...));
  return result;
}

/// A thread's part: a vector, and perhaps one of the elements that are in none.
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
