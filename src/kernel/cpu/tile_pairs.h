// Products of bfloat16 tiles with AVX512-BF16, which multiplies pairs of adjacent elements along the sum and
// adds both products to a float.
#pragma once

#include <ebb/core/half.h>

#include "core/isa.h"
#include "kernel/cpu/tile.h"

#include <type_traits>

// The code is compiled if AVX-512 is enabled, even without a flag for AVX512-BF16. It runs only if the
// processor has AVX512-BF16.
#if defined(__x86_64__) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512DQ__)
#define EBB_BFLOAT16_PAIRS 1
#include <immintrin.h>

#include <cstring>
#else
#define EBB_BFLOAT16_PAIRS 0
#endif

namespace ebb::cpu::tiles {

/// Returns whether block<Pair> may run.
inline bool multiplies_pairs() {
  return EBB_BFLOAT16_PAIRS && ebb::detail::bfloat16_instructions.load(std::memory_order_relaxed);
}

/// Two adjacent elements along a sum, the first in the lower half. Missing elements are zeros.
enum class Pair : std::uint32_t {};
inline Pair pair_of(BFloat16 first, BFloat16 second) {
  return Pair{first.bits | std::uint32_t{second.bits} << 16};
}

template <>
struct SumType<Pair> {
  using type = float;
};
template <>
inline constexpr int kWidth<Pair> = kWidth<float>;

#if EBB_BFLOAT16_PAIRS

/// Computes the block of tile.h for pairs; `depth` counts pairs. A row of `left` contains pairs, or single
/// elements that are read in pairs. Subnormal operands and sums are treated as 0.
template <class C, int R, int P, class L>
  requires std::is_same_v<C, Pair>
[[gnu::noinline, gnu::target("avx512bf16")]] void block(L left, const Pair* right, std::int64_t pitch,
                                                        std::int64_t depth, float* out,
                                                        std::int64_t out_pitch, bool more) {
  using Row = decltype(left.row(0));
  __m512 sum[R][P];
  Row row[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    row[r] = left.row(r);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) sum[r][p] = _mm512_setzero_ps();
  }
  for (std::int64_t k = 0; k < depth; ++k, right += pitch) {
    const std::int64_t at = left.at(k);
    __m512bh x[P];
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) x[p] = (__m512bh)_mm512_loadu_si512(right + p * kWidth<Pair>);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      int bits;
      std::memcpy(&bits, row[r] + at, sizeof bits);
      const __m512bh factor = (__m512bh)_mm512_set1_epi32(bits);
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) sum[r][p] = _mm512_dpbf16_ps(sum[r][p], factor, x[p]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      float* const to = out + r * out_pitch + p * kWidth<Pair>;
      const __m512 before = more ? _mm512_loadu_ps(to) : _mm512_setzero_ps();
      _mm512_storeu_ps(to, _mm512_add_ps(before, sum[r][p]));
    }
}

/// out[r] = row r (n elements) times x, for R rows that are `pitch` apart.
template <int R>
[[gnu::noinline, gnu::target("avx512bf16")]] void rows_by_vector(const BFloat16* rows, std::int64_t pitch,
                                                                 const BFloat16* x, std::int64_t n,
                                                                 float* out) {
  constexpr std::int64_t kCount = 2 * kWidth<Pair>;
  __m512 sum[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sum[r] = _mm512_setzero_ps();
  for (std::int64_t k = 0; k < n; k += kCount) {
    const __mmask32 inside = n - k >= kCount ? ~__mmask32{0} : (__mmask32{1} << (n - k)) - 1;
    const __m512bh factor = (__m512bh)_mm512_maskz_loadu_epi16(inside, x + k);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sum[r] =
          _mm512_dpbf16_ps(sum[r], (__m512bh)_mm512_maskz_loadu_epi16(inside, rows + r * pitch + k), factor);
  }
  for (int r = 0; r < R; ++r) {
    float lanes[kWidth<Pair>];
    _mm512_storeu_ps(lanes, sum[r]);
    for (int half = kWidth<Pair> / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    out[r] = lanes[0] + 0.f;
  }
}

#endif

}  // namespace ebb::cpu::tiles
