// Products of bfloat16 by AMX: eight registers of 16 rows of 64 bytes, called tiles, and an instruction that
// multiplies two of them and adds to a third.
#pragma once

#include "core/isa.h"
#include "kernel/cpu/tile_pairs.h"

// Where there is AMX there is AVX512-BF16, which takes what is too small for tiles.
#if EBB_BFLOAT16_PAIRS && defined(__linux__)
#define EBB_BFLOAT16_AMX 1

#include "kernel/cpu/transpose.h"

#include <algorithm>
#else
#define EBB_BFLOAT16_AMX 0
#endif

#if EBB_BFLOAT16_AMX

namespace ebb::cpu::amx {

using tiles::Pair;

constexpr std::int64_t kSide = 16;             // rows of a tile, and pairs or floats in one
constexpr std::int64_t kTile = kSide * kSide;  // pairs or floats
constexpr std::int64_t kBlock = 2 * kSide;     // of a result: two by two tiles, which take turns with two
                                               // and two of the operands in all eight registers
constexpr std::int64_t kMostDepth = 256;       // pairs of a sum that product() takes at a time

/// Whether a few products by tiles come out as they should.
bool multiplies_rightly();

/// Whether what follows may run.
inline bool may_run() {
  if (!tiles::multiplies_pairs()) return false;
  const ebb::detail::Amx known = ebb::detail::amx.load(std::memory_order_relaxed);
  using enum ebb::detail::Amx;
  return known == on || (known != off && ebb::detail::settle_amx(multiplies_rightly));
}

/// Whether a product (rows, depth) by (depth, columns) of numbers is large enough for tiles. One of fewer
/// rows or columns than a tile has would leave most of it empty; one of 2^16 multiplications takes
/// AVX512-BF16 half a microsecond, which is what shaping the tiles and bringing operands into them takes.
inline bool pays(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return rows >= kSide && columns >= kSide && rows * columns * depth >= std::int64_t{1} << 16;
}

/// What the processor reads the shapes of tiles from: eight as large as they can be.
struct alignas(64) Shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {kSide, kSide, kSide, kSide, kSide, kSide, kSide, kSide};
};
inline constexpr Shapes kShapes;

/// The tiles of this thread are shaped for as long as this lives. What is not released is saved with the
/// thread's registers whenever it waits, and keeps the processor from resting.
class Shaped {
 public:
  [[gnu::target("amx-tile")]] Shaped() { asm volatile("ldtilecfg %0" ::"m"(kShapes) : "memory"); }
  [[gnu::target("amx-tile")]] ~Shaped() { asm volatile("tilerelease" ::: "memory"); }
  Shaped(const Shaped&) = delete;
  Shaped& operator=(const Shaped&) = delete;
};

// The instructions, with the numbers of the tiles that they name. GCC's own functions for them take no number
// from a template, and do not say that they read memory.
template <int To>
[[gnu::target("amx-tile"), gnu::always_inline]] inline void zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(To));
}
template <int To>
[[gnu::target("amx-tile"), gnu::always_inline]] inline void load(const Pair* from, std::int64_t row_bytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row_bytes), "i"(To) : "memory");
}
template <int From>
[[gnu::target("amx-tile"), gnu::always_inline]] inline void store(float* to, std::int64_t row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row_bytes), "i"(From) : "memory");
}
/// To += left right. Of each 16 pairs the products of the firsts and those of the seconds are summed apart.
template <int To, int Left, int Right>
[[gnu::target("amx-bf16"), gnu::always_inline]] inline void multiply_add() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(To), "i"(Left), "i"(Right));
}

/// 16 pairs of the sums of R by C tiles.
template <int R, int C>
[[gnu::target("amx-tile,amx-bf16"), gnu::always_inline]] inline void step(const Pair* left,
                                                                          std::int64_t left_pitch,
                                                                          const Pair* right,
                                                                          std::int64_t right_bytes) {
  load<6>(right, right_bytes);
  load<4>(left, sizeof(Pair) * kSide);
  multiply_add<0, 4, 6>();
  if constexpr (C > 1) {
    load<7>(right + kSide, right_bytes);
    multiply_add<1, 4, 7>();
  }
  if constexpr (R > 1) {
    load<5>(left + left_pitch, sizeof(Pair) * kSide);
    multiply_add<2, 5, 6>();
    if constexpr (C > 1) multiply_add<3, 5, 7>();
  }
}

/// sums, in rows of kBlock, = the product of R by C tiles: `steps` times 16 rows of `right`, then those of
/// `last`, which may be null, in rows of kBlock.
template <int R, int C>
[[gnu::noinline, gnu::target("amx-tile,amx-bf16")]] void sum(const Pair* left, std::int64_t left_pitch,
                                                             const Pair* right, std::int64_t pitch,
                                                             std::int64_t steps, const Pair* last,
                                                             float* sums) {
  constexpr std::int64_t kRow = sizeof(float) * kBlock;
  zero<0>();
  if constexpr (C > 1) zero<1>();
  if constexpr (R > 1) zero<2>();
  if constexpr (R > 1 && C > 1) zero<3>();
  const std::int64_t bytes = pitch * static_cast<std::int64_t>(sizeof(Pair));
  for (std::int64_t k = 0; k < steps; ++k, left += kTile, right += kSide * pitch)
    step<R, C>(left, left_pitch, right, bytes);
  if (last) step<R, C>(left, left_pitch, last, kRow);
  store<0>(sums, kRow);
  if constexpr (C > 1) store<1>(sums + kSide, kRow);
  if constexpr (R > 1) store<2>(sums + kSide * kBlock, kRow);
  if constexpr (R > 1 && C > 1) store<3>(sums + kSide * kBlock + kSide, kRow);
}

/// The first n lanes of a register.
inline __mmask16 first(std::int64_t n) { return static_cast<__mmask16>((1U << n) - 1); }

/// Up to 16 rows of `left`, from its first on, and up to 16 pairs of each, from pair k on, as a tile. Behind
/// the pairs stand zeros; whatever stands behind the rows is summed up for nobody.
template <class L>
void pack_tile(std::int64_t rows, std::int64_t pairs, L left, std::int64_t k, Pair* to) {
  using Row = decltype(left.row(0));
  constexpr std::int64_t kNumbers = std::is_same_v<Row, const Pair*> ? 1 : 2;  // of a pair
  bool along = true;                                                           // pairs of a row lie together
  for (std::int64_t p = 1; p < pairs; ++p) along = along && left.at(k + p) == left.at(k) + p * kNumbers;
  if (along) {
    for (std::int64_t i = 0; i < rows; ++i)
      _mm512_storeu_si512(to + i * kSide, _mm512_maskz_loadu_epi32(first(pairs), left.row(i) + left.at(k)));
    return;
  }
  if constexpr (kNumbers == 1) {
    // Rows that lie together are read together, pair by pair, and turned around: pixels, with a gap or two.
    constexpr int kMostRuns = 4;
    std::int64_t begins[kSide + 1];
    int runs = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      if (i == 0 || left.row(i) != left.row(i - 1) + 1) begins[runs++] = i;
    begins[runs] = rows;
    if (runs <= kMostRuns) {
      alignas(64) float lines[kTile] = {};
      for (std::int64_t p = 0; p < pairs; ++p) {
        __m512i line = _mm512_setzero_si512();
        for (int r = 0; r < runs; ++r)
          line = _mm512_mask_loadu_epi32(line, first(begins[r + 1]) ^ first(begins[r]),
                                         left.row(begins[r]) + left.at(k + p) - begins[r]);
        _mm512_store_si512(lines + p * kSide, line);
      }
      return transpose(lines, kSide, kSide, kSide, reinterpret_cast<float*>(to), kSide);
    }
  }
  std::fill(to, to + kTile, Pair{});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t p = 0; p < pairs; ++p)
      std::memcpy(to + i * kSide + p, left.row(i) + left.at(k + p), sizeof(Pair));
}

/// n rounded up to whole tiles.
constexpr std::int64_t whole(std::int64_t n) { return (n + kSide - 1) / kSide * kSide; }

/// The left side of a product in tiles, whole(rows) * whole(depth) pairs: for 16 rows all their tiles, then
/// for the next. `depth` counts pairs, as with tiles::block.
template <class L>
[[gnu::noinline]] void pack(std::int64_t rows, std::int64_t depth, L left, Pair* to) {
  for (std::int64_t i = 0; i < rows; i += kSide)
    for (std::int64_t k = 0; k < depth; k += kSide, to += kTile)
      pack_tile(std::min(kSide, rows - i), std::min(kSide, depth - k), left.from(i), k, to);
}

/// What pack() made, on a thread whose tiles are shaped.
struct TiledLeft {
  const Shaped& shaped;
  const Pair* data;
};

/// The same as tiles::product, of a left side in tiles. A number's sum does not depend on where in the matrix
/// it stands.
[[gnu::noinline]] inline void product(std::int64_t rows, std::int64_t width, std::int64_t depth,
                                      TiledLeft left, const Pair* right, std::int64_t pitch, float* out,
                                      std::int64_t out_pitch, bool more) {
  const std::int64_t steps = depth / kSide, rest = depth % kSide, left_pitch = whole(depth) * kSide;
  alignas(64) Pair last[kSide * kBlock];
  alignas(64) float sums[kBlock * kBlock];
  for (std::int64_t j = 0; j < width; j += kBlock) {
    const bool wide = j + kSide < width;
    const std::int64_t columns = wide ? kBlock : kSide;
    if (rest != 0) {  // what follows right's end is not ours, nor is it 0
      std::fill(last, last + kSide * kBlock, Pair{});
      for (std::int64_t k = 0; k < rest; ++k)
        std::copy_n(right + (steps * kSide + k) * pitch + j, columns, last + k * kBlock);
    }
    for (std::int64_t i = 0; i < rows; i += kBlock) {
      const bool tall = i + kSide < rows;
      const auto of_block = tall ? (wide ? sum<2, 2> : sum<2, 1>) : (wide ? sum<1, 2> : sum<1, 1>);
      of_block(left.data + i / kSide * left_pitch, left_pitch, right + j, pitch, steps,
               rest != 0 ? last : nullptr, sums);
      // 0 is added, lest a number be -0.
      for (std::int64_t r = 0; r < std::min(kBlock, rows - i); ++r) {
        float* const to = out + (i + r) * out_pitch + j;
        const float* const from = sums + r * kBlock;
        if (more)
          for (std::int64_t c = 0; c < columns; ++c) to[c] += from[c];
        else
          for (std::int64_t c = 0; c < columns; ++c) to[c] = 0.f + from[c];
      }
    }
  }
}

/// The same, of any left side and at most kMostDepth pairs.
template <class L>
void product(std::int64_t rows, std::int64_t width, std::int64_t depth, L left, const Pair* right,
             std::int64_t pitch, float* out, std::int64_t out_pitch, bool more) {
  const Shaped shaped;
  alignas(64) Pair packed[kBlock * kMostDepth];
  for (std::int64_t i = 0; i < rows; i += kBlock) {
    const std::int64_t count = std::min(kBlock, rows - i);
    pack(count, depth, left.from(i), packed);
    product(count, width, depth, TiledLeft{shaped, packed}, right, pitch, out + i * out_pitch, out_pitch,
            more);
  }
}

}  // namespace ebb::cpu::amx

#endif

namespace ebb::cpu::tiles {

#if EBB_BFLOAT16_AMX
template <class C>
void product(std::int64_t rows, std::int64_t width, std::int64_t depth, amx::TiledLeft left, const C* right,
             std::int64_t pitch, float* out, std::int64_t out_pitch, bool more) {
  amx::product(rows, width, depth, left, right, pitch, out, out_pitch, more);
}
#endif

/// product() by whichever instructions are fastest for one of this size. Pairs are at most amx::kMostDepth.
template <class C, class L>
void fastest_product(std::int64_t rows, std::int64_t width, std::int64_t depth, L left, const C* right,
                     std::int64_t pitch, Sum<C>* out, std::int64_t out_pitch, bool more) {
#if EBB_BFLOAT16_AMX
  if constexpr (std::is_same_v<C, Pair>)
    if (amx::pays(rows, width, 2 * depth) && amx::may_run())
      return amx::product(rows, width, depth, left, right, pitch, out, out_pitch, more);
#endif
  product<C>(rows, width, depth, left, right, pitch, out, out_pitch, more);
}

}  // namespace ebb::cpu::tiles
