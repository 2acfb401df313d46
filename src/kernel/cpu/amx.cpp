// The self-test of AMX. It compares small products with those of AVX512-BF16, before the process computes any
// other product with AMX.
#include "kernel/cpu/amx.h"

#if EBB_BFLOAT16_AMX

#include <ebb/core/ndarray.h>

namespace ebb::cpu {
namespace {

// Computes a product of small integers with AMX and with AVX512-BF16. All sums are exact in any order, so the
// two results must be bitwise equal.
bool is_exact(std::int64_t rows, std::int64_t width, std::int64_t depth) {
  const std::int64_t pitch = tiles::padded<tiles::Pair>(width);
  const auto pair = [](std::int64_t n) {
    return tiles::pair_of(BFloat16(static_cast<float>(n % 19 - 9)), BFloat16(static_cast<float>(n % 13 - 6)));
  };
  const NdArray memory = NdArray::empty({(rows + pitch) * depth + 2 * rows * pitch}, kFloat);
  float *const by_tiles = memory.address_as<float>(), *const by_pairs = by_tiles + rows * pitch;
  auto* const left = reinterpret_cast<tiles::Pair*>(by_pairs + rows * pitch);
  tiles::Pair* const right = left + rows * depth;
  for (std::int64_t i = 0; i < (rows + pitch) * depth; ++i) left[i] = pair(i * 7 + i / 11);
  const tiles::Left<tiles::Pair> of_left{left, depth, 1};
  for (const bool more : {false, true}) {
    amx::product(rows, width, depth, of_left, right, pitch, by_tiles, pitch, more);
    tiles::product<tiles::Pair>(rows, width, depth, of_left, right, pitch, by_pairs, pitch, more);
  }
  return std::equal(by_tiles, by_tiles + rows * pitch, by_pairs);
}

}  // namespace

// Tests blocks of all shapes, with whole and partial tiles.
bool amx::multiplies_correctly() {
  return is_exact(2 * kBlock, 2 * kBlock, 2 * kSide) && is_exact(kBlock + 3, kBlock + 5, kSide + 7) &&
         is_exact(kBlock + kSide + 1, kSide, 5);
}

}  // namespace ebb::cpu

#endif
