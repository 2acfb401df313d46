// Helpers of both passes of recurrent layers on the CPU: weights in the layout of the products, buffers of
// whole vectors, and groups of sequences. One thread processes all steps of a group.
#pragma once

#include <ebb/core/parallel.h>

#include "core/parallel_for.h"
#include "kernel/call/arguments.h"
#include "kernel/cpu/lane_functions.h"
#include "kernel/cpu/pack_halves.h"
#include "ops/rnn/kernels.h"
#include "ops/rnn/math.h"

#include <algorithm>
#include <vector>

namespace ebb::cpu::recurring {

using ops::RnnKind;
using ops::RnnSteps;

/// The type in which units are computed: a vector if vector functions are available, otherwise a scalar.
#if EBB_LIBMVEC
template <class T>
using Unit = Lanes<T>;
template <class T>
constexpr std::int64_t kUnits = Lanes<T>::kCount;
template <class T>
Unit<T> load(const T* x, std::int64_t n) {
  return Unit<T>::load(x, n);
}
template <class T>
void store(T* to, std::int64_t n, const Unit<T>& x) {
  x.store(to, n);
}
#else
template <class T>
using Unit = T;
template <class T>
constexpr std::int64_t kUnits = 1;
template <class T>
T load(const T* x, std::int64_t) {
  return *x;
}
template <class T>
void store(T* to, std::int64_t, T x) {
  *to = x;
}
#endif

/// Rows of `width` elements, padded to whole vectors.
template <class T>
struct Rows {
  std::int64_t pitch;
  std::vector<T> values;
  Rows(std::int64_t rows, std::int64_t width)
      : pitch(tiles::padded<T>(width)), values(static_cast<std::size_t>(rows * pitch)) {}
  T* row(std::int64_t i) { return values.data() + i * pitch; }
  const T* row(std::int64_t i) const { return values.data() + i * pitch; }
};

/// A matrix as the right operand of a product. It is stored in consecutive panels of the width of a tile, so
/// that a product reads memory in order. If T is float, the matrix may be bfloat16. If the processor can
/// multiply pairs of bfloat16, the matrix is stored in such pairs, and the left operand is rounded to
/// bfloat16. Otherwise the matrix is converted to float.
template <class T>
class Right {
 public:
  /// Uses the matrix (depth, width) or, if `transposed`, its transpose.
  Right(const NdArray& matrix, bool transposed) {
    if (!matrix.defined()) return;
    depth_ = matrix.sizes()[transposed ? 1 : 0];
    width_ = matrix.sizes()[transposed ? 0 : 1];
    pairs_ = matrix.dtype() == kBFloat16 && tiles::multiplies_pairs();
    tiled_ = pairs_ && uses_amx();
    const std::int64_t depth = pairs_ ? (depth_ + 1) / 2 : depth_;
    values_.resize(static_cast<std::size_t>((width_ + kPanel - 1) / kPanel * kPanel * depth));
    if (pairs_)
      pack_pairs(matrix.address_as<BFloat16>(), transposed);
    else if (matrix.dtype() == kBFloat16)
      pack(matrix.address_as<BFloat16>(), transposed);
    else
      pack(matrix.address_as<T>(), transposed);
  }
  /// Computes out = left * matrix or, if `more`, out += left * matrix. Rows of `left` are `left_pitch` apart.
  void product(std::int64_t rows, const T* left, std::int64_t left_pitch, T* out, std::int64_t out_pitch,
               bool more = false) const {
    if (pairs_) return product_of_pairs(rows, left, left_pitch, out, out_pitch, more);
    for (std::int64_t k = 0; k < depth_; k += kDepth)
      for (std::int64_t j = 0; j < width_; j += kPanel)
        tiles::product<T>(rows, std::min(kPanel, width_ - j), std::min(kDepth, depth_ - k),
                          {left + k, left_pitch, 1}, values_.data() + j * depth_ + k * kPanel, kPanel,
                          out + j, out_pitch, more || k > 0);
  }

 private:
  static constexpr std::int64_t kPanel = tiles::kPackets * tiles::kWidth<T>;
  static constexpr std::int64_t kDepth =
      256;  // rows of a panel that are used together and fit into the L1 cache

  template <class S>
  void pack(const S* from, bool transposed) {
    for (std::int64_t j = 0; j < width_; j += kPanel) {
      T* const to = values_.data() + j * depth_;
      const std::int64_t columns = std::min(kPanel, width_ - j);
      if (transposed)
        for (std::int64_t i = 0; i < columns; ++i)
          for (std::int64_t k = 0; k < depth_; ++k)
            to[k * kPanel + i] = static_cast<T>(from[(j + i) * depth_ + k]);
      else
        for (std::int64_t k = 0; k < depth_; ++k)
          convert_contiguous(to + k * kPanel, from + k * width_ + j, columns);
    }
  }

  // Returns whether products use AMX tiles. This depends only on the matrix and not on the number of rows,
  // because the results of a sequence must not depend on the other sequences. For one row, AMX tiles are as
  // fast as vector registers, and 16 rows take no longer than one. Small matrices do not use tiles, because
  // the setup of the tiles would take a noticeable part of the time.
  bool uses_amx() const {
#if EBB_BFLOAT16_AMX
    return width_ >= amx::kSide && width_ * depth_ >= std::int64_t{1} << 16 && amx::may_run();
#else
    return false;
#endif
  }

#if EBB_BFLOAT16_PAIRS
  tiles::Pair* pairs() { return reinterpret_cast<tiles::Pair*>(values_.data()); }
  const tiles::Pair* pairs() const { return reinterpret_cast<const tiles::Pair*>(values_.data()); }

#if EBB_BFLOAT16_AMX
  template <class L, class Use>
  static void in_tiles(std::int64_t rows, std::int64_t depth, L left, const Use& use) {
    const NdArray scratch = NdArray::empty({Tiled::prepared_size(rows, depth)}, kFloat);
    Tiled::prepare(rows, depth, left, reinterpret_cast<tiles::Pair*>(scratch.address_as<float>()), use);
  }
#else
  template <class L, class Use>
  static void in_tiles(std::int64_t, std::int64_t, L left, const Use& use) {
    use(left);
  }
#endif

  void pack_pairs(const BFloat16* from, bool transposed) {
    for (std::int64_t j = 0; j < width_; j += kPanel)
      for (std::int64_t k = 0; k < depth_; k += Paired::kPart) {
        const std::int64_t columns = std::min(kPanel, width_ - j), rows = std::min(Paired::kPart, depth_ - k);
        tiles::Pair* const to = pairs() + j * ((depth_ + 1) / 2) + k / 2 * kPanel;
        if (transposed)
          Paired::pack_columns({from + j * depth_ + k, rows, columns, 1, depth_}, to, kPanel);
        else
          Paired::pack_rows({from + k * width_ + j, rows, columns, width_, 1}, to, kPanel);
      }
  }
  void product_of_pairs(std::int64_t rows, const T* left, std::int64_t left_pitch, T* out,
                        std::int64_t out_pitch, bool more) const {
    if constexpr (std::is_same_v<T, float>) {
      const std::int64_t depth = (depth_ + 1) / 2;
      const NdArray scratch = NdArray::empty({rows, 2 * depth}, kBFloat16);
      BFloat16* const rounded = scratch.address_as<BFloat16>();
      for (std::int64_t i = 0; i < rows; ++i) {
        BFloat16* const to = rounded + i * 2 * depth;
        to[2 * depth - 1] = 0;
        convert_contiguous(to, left + i * left_pitch, depth_);
      }
      for (std::int64_t k = 0; k < depth; k += kDepth) {
        const std::int64_t part = std::min(kDepth, depth - k);
        const auto multiply = [&](auto rounded_part) {
          for (std::int64_t j = 0; j < width_; j += kPanel)
            tiles::product<tiles::Pair>(rows, std::min(kPanel, width_ - j), part, rounded_part,
                                        pairs() + j * depth + k * kPanel, kPanel, out + j, out_pitch,
                                        more || k > 0);
        };
        const tiles::Left<BFloat16> of_part{rounded + 2 * k, 2 * depth, 2};
        tiled_ ? in_tiles(rows, part, of_part, multiply) : multiply(of_part);
      }
    }
  }
#else
  void pack_pairs(const BFloat16*, bool) {}
  void product_of_pairs(std::int64_t, const T*, std::int64_t, T*, std::int64_t, bool) const {}
#endif

  std::int64_t depth_ = 0, width_ = 0;
  bool pairs_ = false, tiled_ = false;
  std::vector<T> values_;
};

/// Calls body(begin, end) for independent groups of sequences. A thread processes all steps of its group
/// without waiting. The results of a sequence do not depend on its group.
template <class Body>
void for_sequences(const RnnSteps& steps, std::int64_t hidden, std::int64_t projected, Body&& body) {
  const std::int64_t batch = steps.batch();
  std::int64_t rows = 0;
  for (const std::int64_t n : steps.batch_sizes) rows += n;
  const std::int64_t work = rows * hidden * steps.gates() * (projected + 16);
  const std::int64_t most = std::min<std::int64_t>(get_num_threads(), work / (4 * kGrain) + 1);
  const std::int64_t each = std::max<std::int64_t>((batch + most - 1) / std::max<std::int64_t>(most, 1), 1);
  parallel_for(0, (batch + each - 1) / each, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) body(i * each, std::min(batch, (i + 1) * each));
  });
}

template <class T, class F>
void for_units(std::int64_t hidden, const F& f) {
  for (std::int64_t j = 0; j < hidden; j += kUnits<T>) f(j, hidden - j);
}

}  // namespace ebb::cpu::recurring
