// Packs the operands of 16-bit matrix products into the format that tiles read.
#pragma once

#include "kernel/cpu/amx.h"
#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/gemm.h"
#include "kernel/cpu/tile_pairs.h"
#include "kernel/cpu/transpose.h"

#include <algorithm>
#include <cstring>

namespace ebb::cpu {

/// Base class of the packing methods: uses the left operand without preparation. Panels of the right operand
/// are as wide as a tile.
struct LeftAsItIs {
  // kRows is the number of rows per chunk.
  static constexpr std::int64_t kPanel = tiles::kPackets * tiles::kWidth<float>, kRows = 12;
  static constexpr std::int64_t prepared_size(std::int64_t /*rows*/, std::int64_t /*depth*/) { return 0; }
  template <class Element, class L, class Use>
  static void prepare(std::int64_t /*rows*/, std::int64_t /*depth*/, L left, Element*, const Use& use) {
    use(left);
  }
};

/// Widens both operands to float, one part of the sum at a time.
template <class T>
struct Widened : LeftAsItIs {
  using Element = float;
  static constexpr int kTogether = 1;         // adjacent elements along the sum that form one packed element
  static constexpr std::int64_t kPart = 128;  // products per part of a sum

  static void convert_row(const T* from, std::int64_t n, float* to) { convert_contiguous(to, from, n); }

  /// to[k * pitch + i] = m(k, i) for contiguous rows.
  static void pack_rows(Matrix<const T> m, float* to, std::int64_t pitch) {
    for (std::int64_t k = 0; k < m.rows; ++k)
      convert_contiguous(to + k * pitch, m.data + k * m.row_stride, m.cols);
  }
  /// to[k * pitch + i] = m(k, i) for contiguous columns.
  static void pack_columns(Matrix<const T> m, float* to, std::int64_t pitch) {
    constexpr std::int64_t kColumns = tiles::kWidth<float>;
    float lines[kColumns * (kPart + kPart / 2)];
    for (std::int64_t j = 0; j < m.cols; j += kColumns) {
      const std::int64_t columns = std::min(kColumns, m.cols - j);
      for (std::int64_t c = 0; c < columns; ++c)
        convert_contiguous(lines + c * m.rows, m.data + (j + c) * m.col_stride, m.rows);
      transpose(lines, m.rows, columns, m.rows, to + j, pitch);
    }
  }
};

#if EBB_BFLOAT16_PAIRS

/// Operands remain 16-bit, packed as pairs along the sum.
struct Paired : LeftAsItIs {
  using Element = tiles::Pair;
  static constexpr int kTogether = 2;
  static constexpr std::int64_t kPart = 256, kMostPart = 512;

  [[gnu::noinline]] static void pack_rows(Matrix<const BFloat16> m, tiles::Pair* to, std::int64_t pitch) {
    for (std::int64_t k = 0; k < m.rows; k += 2, to += pitch) {
      const BFloat16* const first = m.data + k * m.row_stride;
      const BFloat16* const second = first + m.row_stride;
      if (k + 1 < m.rows)
        for (std::int64_t i = 0; i < m.cols; ++i) to[i] = tiles::pair_of(first[i], second[i]);
      else
        for (std::int64_t i = 0; i < m.cols; ++i) to[i] = tiles::pair_of(first[i], 0);
    }
  }
  [[gnu::noinline]] static void pack_columns(Matrix<const BFloat16> m, tiles::Pair* to, std::int64_t pitch) {
    constexpr std::int64_t kColumns = tiles::kWidth<float>, kMost = (kMostPart + kMostPart / 2 + 1) / 2;
    alignas(64) float lines[kColumns * kMost];
    const std::int64_t pairs = (m.rows + 1) / 2;
    for (std::int64_t j = 0; j < m.cols; j += kColumns) {
      const std::int64_t columns = std::min(kColumns, m.cols - j);
      for (std::int64_t c = 0; c < columns; ++c) {
        lines[c * pairs + pairs - 1] = 0;
        std::memcpy(lines + c * pairs, m.data + (j + c) * m.col_stride,
                    static_cast<std::size_t>(m.rows) * sizeof(BFloat16));
      }
      transpose(lines, pairs, columns, pairs, reinterpret_cast<float*>(to + j), pitch);
    }
  }
};

#endif

#if EBB_BFLOAT16_AMX

/// The left operand is also packed into AMX tiles. A panel has only the columns of one block, so that it fits
/// the first-level cache (32 KiB). A chunk of the left operand fits the second-level cache.
struct Tiled : Paired {
  static constexpr std::int64_t kPart = kMostPart, kPanel = amx::kBlock, kRows = amx::kBlock;
  static constexpr std::int64_t prepared_size(std::int64_t rows, std::int64_t depth) {
    return amx::whole(rows) * amx::whole(depth);
  }
  template <class L, class Use>
  static void prepare(std::int64_t rows, std::int64_t depth, L left, tiles::Pair* scratch, const Use& use) {
    amx::pack(rows, depth, left, scratch);
    const amx::Shaped shaped;
    use(amx::TiledLeft{shaped, scratch});
  }
};

#endif

}  // namespace ebb::cpu
