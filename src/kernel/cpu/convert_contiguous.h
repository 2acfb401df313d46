// A contiguous row from one type to another, by the processor's conversions of halves where there are any.
#pragma once

#include "kernel/convert.h"

#include <cstdint>

#if defined(__F16C__) && defined(__AVX__)
#include <immintrin.h>
#endif

namespace ebb::cpu {

/// The rows do not overlap. Specialised where the compiler needs help.
template <class To, class From>
inline void convert_contiguous(To* __restrict to, const From* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

#if defined(__F16C__) && defined(__AVX__)
// The compiler does not vectorise the scalar conversion instruction.
template <>
inline void convert_contiguous(Half* __restrict to, const float* __restrict from, std::int64_t n) {
  std::int64_t i = 0;
#ifdef __AVX512F__  // the forms without a mask are warned about by GCC (bug 105593)
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + i), 0));
#endif
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
  for (; i < n; ++i) to[i] = Half(from[i]);
}

template <>
inline void convert_contiguous(float* __restrict to, const Half* __restrict from, std::int64_t n) {
  std::int64_t i = 0;
#ifdef __AVX512F__
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(
                                 0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i))));
#endif
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  for (; i < n; ++i) to[i] = from[i];
}
#endif

}  // namespace ebb::cpu
