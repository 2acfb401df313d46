// Conversion of a contiguous row to another type. Uses the processor's instructions for Half if it has them.
#pragma once

#include "kernel/convert.h"

#include <cstdint>

namespace ebb::cpu {

/// Converts n elements. The rows must not overlap.
template <class To, class From>
inline void convert_contiguous(To* __restrict to, const From* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

#if defined(__F16C__) && defined(__AVX__)
// Uses the processor's vector instructions, because the compiler does not vectorise the scalar conversion
// instruction.
template <>
void convert_contiguous(Half* __restrict to, const float* __restrict from, std::int64_t n);
template <>
void convert_contiguous(float* __restrict to, const Half* __restrict from, std::int64_t n);
#endif

}  // namespace ebb::cpu
