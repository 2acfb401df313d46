// Conversion of contiguous rows between half and float. The functions are in a separate file, because
// <immintrin.h> compiles slowly.
#include "kernel/cpu/convert_contiguous.h"

#if defined(__F16C__) && defined(__AVX__)
#include <immintrin.h>

namespace ebb::cpu {

template <>
void convert_contiguous(Half* __restrict to, const float* __restrict from, std::int64_t n) {
  std::int64_t i = 0;
#ifdef __AVX512F__  // GCC warns about the forms without a mask (bug 105593)
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + i), 0));
#endif
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
  for (; i < n; ++i) to[i] = Half(from[i]);
}

template <>
void convert_contiguous(float* __restrict to, const Half* __restrict from, std::int64_t n) {
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

}  // namespace ebb::cpu
#endif
