// Tiles of 16-bit elements for tensor cores. A block of four warps stores 64 rows of one operand in shared
// memory, 16 for each warp, and iterates over the rows of the other operand.
#pragma once

#include "kernel/cuda/log_sum.h"
#include "kernel/cuda/vector.h"
#include "ops/attention/cuda_call.h"
#include "ops/attention/cuda_mma.h"

namespace ebb::cuda::attention {

constexpr int kTensorThreads = 128, kOwn = 64, kWarpRows = 16, kMostWidth = 256;

/// The layout of rows in shared memory, for heads of up to kHead elements. Shorter rows are padded with
/// zeros. The padding of kPitch distributes the eight rows that are read together over the banks.
template <int kHead>
struct Layout {
  static constexpr int kPitch = kHead + 8;
  static constexpr int kStream = kHead > 128 ? 32 : 64;  // streamed rows in shared memory at a time
  // Columns of a sum that are accumulated together.
  static constexpr int kColumns = kHead > 128 ? 128 : kHead;
};

/// Some rows of one head. If `vectors`, they can be read in vectors of 16 bytes.
template <class T>
struct Lines {
  const T* data;
  std::int64_t step, rows, width;
  bool vectors;
};

template <class T>
__device__ Lines<T> lines_of(const Rows<const T>& from, std::int64_t n, std::int64_t head, std::int64_t first,
                             std::int64_t rows, std::int64_t width, bool vectors) {
  return {from.at(n, head, first), from.step, rows - first, width, vectors};
}

/// Loads kRows rows into shared memory.
template <int kHead, int kRows, class T>
__device__ void load_lines(T* to, const Lines<T>& from) {
  using Chunk = Vector<T, 8>;
  constexpr int kChunks = kHead / 8;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kChunks; i += kTensorThreads) {
    const int r = i / kChunks, c = i % kChunks * 8;
    Chunk chunk{};
    if (r < from.rows) {
      const T* const at = from.data + r * from.step + c;
      if (from.vectors) {
        if (c < from.width) chunk = *reinterpret_cast<const Chunk*>(at);
      } else {
#pragma unroll
        for (int e = 0; e < 8; ++e)
          if (c + e < from.width) chunk.at[e] = at[e];
      }
    }
    *reinterpret_cast<Chunk*>(to + r * Layout<kHead>::kPitch + c) = chunk;
  }
}

/// Computes scores = own stream^T: the 16 rows of a warp against kStream rows.
template <int kHead, class T>
__device__ void multiply(MmaSum (&scores)[Layout<kHead>::kStream / 8], const T* own, const T* stream) {
  constexpr int kPitch = Layout<kHead>::kPitch;
#pragma unroll
  for (auto& score : scores) score[0] = score[1] = score[2] = score[3] = 0;
#pragma unroll 4
  for (int k = 0; k < kHead; k += 16) {
    const MmaLeft left = load_left(own + k, kPitch);
#pragma unroll
    for (int j = 0; j < Layout<kHead>::kStream / 8; ++j)
      mma<T>(scores[j], left, load_right(stream + j * 8 * kPitch + k, kPitch));
  }
}

/// Computes sums += weights stream, for kColumns columns. The weights are rounded to T.
template <int kHead, int kColumns, class T>
__device__ void add_product(MmaSum (&sums)[kColumns / 8], const MmaSum (&weights)[Layout<kHead>::kStream / 8],
                            const T* stream) {
  constexpr int kPitch = Layout<kHead>::kPitch;
#pragma unroll
  for (int k = 0; k < Layout<kHead>::kStream / 16; ++k) {
    const MmaSum &near = weights[2 * k], &far = weights[2 * k + 1];
    const MmaLeft left{{mma_pair<T>(near[0], near[1]), mma_pair<T>(near[2], near[3]),
                        mma_pair<T>(far[0], far[1]), mma_pair<T>(far[2], far[3])}};
#pragma unroll
    for (int e = 0; e < kColumns / 8; ++e)
      mma<T>(sums[e], left, load_right_transposed(stream + k * 16 * kPitch + e * 8, kPitch));
  }
}

template <int N>
__device__ void clear(MmaSum (&sums)[N]) {
#pragma unroll
  for (auto& sum : sums) sum[0] = sum[1] = sum[2] = sum[3] = 0;
}

/// Writes the warp's 16 rows to the columns from `first` on of a contiguous result (rows, width). A lane
/// multiplies its elements of rows 0 to 7 by `factor` and those of rows 8 to 15 by `other`.
template <class T, int N>
__device__ void write_sums(T* to, std::int64_t rows, std::int64_t width, std::int64_t first,
                           const MmaSum (&sums)[N], float factor, float other) {
#pragma unroll
  for (int e = 0; e < N; ++e)
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const std::int64_t row = mma_row(r), column = first + e * 8 + mma_column(r);
      if (row < rows && column < width) to[row * width + column] = T(sums[e][r] * (r < 2 ? factor : other));
    }
}

/// Applies dropout to the weights of the keys `key` and key + 1 of one row, where `key` is even.
template <class T>
__device__ void drop_pair(float& first, float& second, const Call<T>& call, std::int64_t row,
                          std::int64_t key) {
  float x[4] = {1, 1, 1, 1};
  call.weights.drop(row, key / 4, x);
  const bool upper = key % 4 != 0;
  first *= upper ? x[2] : x[0];
  second *= upper ? x[3] : x[1];
}

/// Calls f<kHead>() with the smallest supported head size that is at least `width`.
template <class F>
void with_head(std::int64_t width, const F& f) {
  if (width <= 32) return f.template operator()<32>();
  if (width <= 64) return f.template operator()<64>();
  if (width <= 96) return f.template operator()<96>();
  if (width <= 128) return f.template operator()<128>();
  f.template operator()<256>();
}

/// Returns whether the rows of x can be read in vectors of 16 bytes.
inline bool by_vectors(const NdArray& x) {
  return reinterpret_cast<std::uintptr_t>(x.address()) % 16 == 0 && x.sizes()[3] % 8 == 0 &&
         x.strides()[0] % 8 == 0 && x.strides()[1] % 8 == 0 && x.strides()[2] % 8 == 0;
}

/// For each input, true if its rows can be read in vectors of 16 bytes.
struct ByVectors {
  bool query, key, value, grad = false;
  explicit ByVectors(const ops::AttentionSaved& call)
      : query(by_vectors(call.query)), key(by_vectors(call.key)), value(by_vectors(call.value)) {}
};

}  // namespace ebb::cuda::attention
