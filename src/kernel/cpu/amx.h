// Matrix products of bfloat16 with AMX. AMX has eight tile registers of 16 rows of 64 bytes. One instruction
// multiplies two tiles and adds the product to a third tile.
#pragma once

#include "core/isa.h"
#include "kernel/cpu/tile_pairs.h"

// A processor with AMX also has AVX512-BF16, which computes the products that are too small for tiles.
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

constexpr std::int64_t kSide = 16;             // rows of a tile, and pairs or floats per row
constexpr std::int64_t kTile = kSide * kSide;  // pairs or floats per tile
constexpr std::int64_t kBlock = 2 * kSide;     // rows and columns of a result block: 2 x 2 tiles; with two
                                               // tiles of each operand they use all eight registers
constexpr std::int64_t kMostDepth = 256;       // pairs along the sum that product() takes at a time

/// Computes a few products with tiles, and returns whether they are correct.
bool multiplies_correctly();

/// Returns whether AMX may be used.
inline bool may_run() {
  if (!tiles::multiplies_pairs()) return false;
  const ebb::detail::Amx known = ebb::detail::amx.load(std::memory_order_relaxed);
  using enum ebb::detail::Amx;
  return known == on || (known != off && ebb::detail::decide_amx(multiplies_correctly));
}

/// Returns whether a product (rows, depth) by (depth, columns) is large enough for tiles. With fewer rows or
/// columns than a tile has, most of the tile would be empty. Below 2^16 multiplications, AVX512-BF16 takes
/// less than half a microsecond, and the configuration of the tiles takes just as long.
inline bool pays(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return rows >= kSide && columns >= kSide && rows * columns * depth >= std::int64_t{1} << 16;
}

/// The tile configuration that the processor loads: eight tiles of the maximum size.
struct alignas(64) Shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {kSide, kSide, kSide, kSide, kSide, kSide, kSide, kSide};
};
inline constexpr Shapes kShapes;

/// Configures the tiles of this thread for a scope, and releases them at its end. Unreleased tiles would be
/// saved at every context switch and would prevent the processor's low-power states.
class Shaped {
 public:
  [[gnu::target("amx-tile")]] Shaped() { asm volatile("ldtilecfg %0" ::"m"(kShapes) : "memory"); }
  [[gnu::target("amx-tile")]] ~Shaped() { asm volatile("tilerelease" ::: "memory"); }
  Shaped(const Shaped&) = delete;
  Shaped& operator=(const Shaped&) = delete;
};

// Wrappers of the tile instructions, with the tile numbers as template arguments. GCC's intrinsics do not
// accept template arguments, and do not declare that they read memory.
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
/// To += Left * Right. For each element of To, the instruction sums the 16 products of the first elements of
/// the pairs and the 16 products of the second elements separately. It then adds both sums to the element.
template <int To, int Left, int Right>
[[gnu::target("amx-bf16"), gnu::always_inline]] inline void multiply_add() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(To), "i"(Left), "i"(Right));
}

/// Adds the products of 16 pairs to the sums of R by C tiles.
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

/// sums = the product of R by C tiles, in rows of kBlock floats. The right operand consists of 16 * `steps`
/// rows of `right`, followed by 16 rows of `last` unless `last` is null. A row of `last` has kBlock pairs.
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

/// Returns the mask of the first n lanes of a register.
inline __mmask16 first(std::int64_t n) { return static_cast<__mmask16>((1U << n) - 1); }

/// Packs the pairs [k, k + pairs) of the first `rows` rows of `left` into a tile of 16 rows of 16 pairs.
/// Missing pairs of a row are zeros. Missing rows may remain uninitialised, because their sums are not used.
template <class L>
void pack_tile(std::int64_t rows, std::int64_t pairs, L left, std::int64_t k, Pair* to) {
  using Row = decltype(left.row(0));
  constexpr std::int64_t kNumbers = std::is_same_v<Row, const Pair*> ? 1 : 2;  // elements per pair
  // whether the pairs of a row are contiguous
  bool along = true;
  for (std::int64_t p = 1; p < pairs; ++p) along = along && left.at(k + p) == left.at(k) + p * kNumbers;
  if (along) {
    for (std::int64_t i = 0; i < rows; ++i)
      _mm512_storeu_si512(to + i * kSide, _mm512_maskz_loadu_epi32(first(pairs), left.row(i) + left.at(k)));
    return;
  }
  if constexpr (kNumbers == 1) {
    // Pairs with the same index in adjacent rows are read together, and the tile is then transposed. This is
    // fast if the rows form only a few runs of adjacent rows, as rows of pixels do.
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

/// Rounds n up to whole tiles.
constexpr std::int64_t whole(std::int64_t n) { return (n + kSide - 1) / kSide * kSide; }

/// Packs the left operand into tiles, whole(rows) * whole(depth) pairs in all. The tiles of the first 16 rows
/// come first, then the tiles of the next 16 rows. `depth` counts pairs, as in tiles::block.
template <class L>
[[gnu::noinline]] void pack(std::int64_t rows, std::int64_t depth, L left, Pair* to) {
  for (std::int64_t i = 0; i < rows; i += kSide)
    for (std::int64_t k = 0; k < depth; k += kSide, to += kTile)
      pack_tile(std::min(kSide, rows - i), std::min(kSide, depth - k), left.from(i), k, to);
}

/// A left operand packed by pack(), on a thread whose tiles are configured.
struct TiledLeft {
  const Shaped& shaped;
  const Pair* data;
};

/// Computes the same product as tiles::product(), with a left operand in tiles. The sum of an element does
/// not depend on its position in the matrix.
[[gnu::noinline]] inline void product(std::int64_t rows, std::int64_t width, std::int64_t depth,
                                      TiledLeft left, const Pair* right, std::int64_t pitch, float* out,
                                      std::int64_t out_pitch, bool more) {
  const std::int64_t steps = depth / kSide, rest = depth % kSide, left_pitch = whole(depth) * kSide;
  alignas(64) Pair last[kSide * kBlock];
  alignas(64) float sums[kBlock * kBlock];
  for (std::int64_t j = 0; j < width; j += kBlock) {
    const bool wide = j + kSide < width;
    const std::int64_t columns = wide ? kBlock : kSide;
    if (rest != 0) {  // copies the last rows, because the memory after `right` is not zero
      std::fill(last, last + kSide * kBlock, Pair{});
      for (std::int64_t k = 0; k < rest; ++k)
        std::copy_n(right + (steps * kSide + k) * pitch + j, columns, last + k * kBlock);
    }
    for (std::int64_t i = 0; i < rows; i += kBlock) {
      const bool tall = i + kSide < rows;
      const auto of_block = tall ? (wide ? sum<2, 2> : sum<2, 1>) : (wide ? sum<1, 2> : sum<1, 1>);
      of_block(left.data + i / kSide * left_pitch, left_pitch, right + j, pitch, steps,
               rest != 0 ? last : nullptr, sums);
      // Adds 0, so that no element is -0.
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

/// Packs any left operand of at most kMostDepth pairs per row into tiles, and computes the product.
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

/// Calls product() with the instructions that are fastest for this size. `depth` is at most amx::kMostDepth
/// if C is Pair.
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
