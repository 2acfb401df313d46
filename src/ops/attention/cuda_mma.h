// Products of 16-bit tiles on tensor cores: a warp multiplies 16 x 16 by 16 x 8 and accumulates in float (PTX
// ISA: mma.m16n8k16, ldmatrix). In the emulation, lanes exchange their registers and compute the sums
// themselves.
#pragma once

#include <ebb/core/half.h>

#include "kernel/cuda/block_reduce.h"

#include <cuda_runtime.h>

#include <type_traits>

namespace ebb::cuda {

/// The fragments of a lane, with two elements in each register. Let g = lane / 4 and t = lane % 4.
/// Left operand: columns 2 t and 2 t + 1 of rows g and g + 8, then the same rows 8 columns further.
/// Right operand: rows 2 t and 2 t + 1 of column g, then the same column 8 rows further.
/// Sum: columns 2 t and 2 t + 1 of row g, then of row g + 8.
struct MmaLeft {
  std::uint32_t at[4];
};
struct MmaRight {
  std::uint32_t at[2];
};
using MmaSum = float[4];

__device__ inline int mma_lane() { return static_cast<int>(threadIdx.x) % kWarp; }
/// Return the row and the column of the r-th element of a sum fragment.
__device__ inline int mma_row(int r) { return mma_lane() / 4 + r / 2 * 8; }
__device__ inline int mma_column(int r) { return mma_lane() % 4 * 2 + r % 2; }

/// Packs two elements into one register, the first into the lower half.
template <class T>
__device__ std::uint32_t mma_pair(float first, float second) {
  return T(first).bits | static_cast<std::uint32_t>(T(second).bits) << 16;
}

#if defined(EBB_CUDA_EMU)

namespace detail {

template <class T>
std::uint32_t pair_at(const T* first, const T* second) {
  return first->bits | static_cast<std::uint32_t>(second->bits) << 16;
}
template <class T>
float number_of(std::uint32_t pair, int which) {
  T x;
  x.bits = static_cast<std::uint16_t>(pair >> (16 * which));
  return x;
}

}  // namespace detail

template <class T>
MmaLeft load_left(const T* tile, int pitch) {
  const T* const at = tile + mma_row(0) * pitch + mma_column(0);
  const auto pair = [&](int row, int column) {
    const T* const x = at + row * pitch + column;
    return detail::pair_at(x, x + 1);
  };
  return {{pair(0, 0), pair(8, 0), pair(0, 8), pair(8, 8)}};
}
template <class T>
MmaRight load_right(const T* tile, int pitch) {
  const T* const x = tile + mma_row(0) * pitch + mma_column(0);
  return {{detail::pair_at(x, x + 1), detail::pair_at(x + 8, x + 9)}};
}
template <class T>
MmaRight load_right_transposed(const T* tile, int pitch) {
  const T *const x = tile + mma_column(0) * pitch + mma_row(0), *const y = x + 8 * pitch;
  return {{detail::pair_at(x, x + pitch), detail::pair_at(y, y + pitch)}};
}

template <class T>
void mma(MmaSum& sum, const MmaLeft& left, const MmaRight& right) {
  struct Shown {
    MmaLeft left;
    MmaRight right;
  };
  __shared__ Shown shown[32][kWarp];
  Shown* const warp = shown[threadIdx.x / kWarp];
  warp[mma_lane()] = {left, right};
  __syncwarp();
  for (int r = 0; r < 4; ++r)
    for (int k = 0; k < 16; ++k) {
      const int within = k % 8 / 2;
      const std::uint32_t a = warp[mma_row(r) % 8 * 4 + within].left.at[mma_row(r) / 8 + k / 8 * 2],
                          b = warp[mma_column(r) * 4 + within].right.at[k / 8];
      sum[r] += detail::number_of<T>(a, k % 2) * detail::number_of<T>(b, k % 2);
    }
  __syncwarp();
}

#else

namespace detail {

__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

}  // namespace detail

/// Loads 16 x 16 elements from shared memory. Row r begins at tile + r * pitch, which must be a multiple of
/// 16 bytes.
template <class T>
__device__ MmaLeft load_left(const T* tile, int pitch) {
  const int lane = mma_lane();
  MmaLeft x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.at[0]), "=r"(x.at[1]), "=r"(x.at[2]), "=r"(x.at[3])
               : "r"(detail::shared_address(tile + lane % 16 * pitch + lane / 16 * 8))
               : "memory");
  return x;
}
/// Loads the right operand from shared memory, where each of its 8 columns is stored as a row of 16 elements.
template <class T>
__device__ MmaRight load_right(const T* tile, int pitch) {
  const int lane = mma_lane();
  MmaRight x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(x.at[0]), "=r"(x.at[1])
               : "r"(detail::shared_address(tile + lane % 8 * pitch + lane / 8 % 2 * 8))
               : "memory");
  return x;
}
/// Loads the right operand from shared memory, where it is stored as 16 rows of 8 elements.
template <class T>
__device__ MmaRight load_right_transposed(const T* tile, int pitch) {
  MmaRight x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(x.at[0]), "=r"(x.at[1])
               : "r"(detail::shared_address(tile + mma_lane() % 16 * pitch))
               : "memory");
  return x;
}

/// Computes sum += left right. All lanes of the warp must call it.
template <class T>
__device__ void mma(MmaSum& sum, const MmaLeft& left, const MmaRight& right) {
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, Half>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left.at[0]), "r"(left.at[1]), "r"(left.at[2]), "r"(left.at[3]), "r"(right.at[0]),
          "r"(right.at[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left.at[0]), "r"(left.at[1]), "r"(left.at[2]), "r"(left.at[3]), "r"(right.at[0]),
          "r"(right.at[1]));
#else
  __trap();  // needs compute capability 8.0
#endif
}

#endif

}  // namespace ebb::cuda
