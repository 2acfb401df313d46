// What both passes of recurrent layers share on the CPU: weights as products read them, buffers of whole
// packets, and the sequences that a thread takes through all steps.
#pragma once

#include <ebb/core/parallel.h>

#include "core/parallel_for.h"
#include "kernel/cpu/lane_functions.h"
#include "kernel/cpu/pack_halves.h"
#include "kernel/optional_data.h"
#include "ops/rnn/kernels.h"
#include "ops/rnn/math.h"

#include <algorithm>
#include <vector>

namespace ebb::cpu::recurring {

using ops::RnnKind;
using ops::RnnSteps;

/// What units are computed in: a register where there are vector functions, else a number.
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

/// Rows of `width` numbers, whole packets apart.
template <class T>
struct Rows {
  std::int64_t pitch;
  std::vector<T> values;
  Rows(std::int64_t rows, std::int64_t width)
      : pitch(tiles::padded<T>(width)), values(static_cast<std::size_t>(rows * pitch)) {}
  T* row(std::int64_t i) { return values.data() + i * pitch; }
  const T* row(std::int64_t i) const { return values.data() + i * pitch; }
};

/// A matrix as the right side of a product: in panels as wide as a tile, one after another, so that a product
/// reads memory in order. Beside floats the matrix may be of bfloat16, which stays in pairs where the
/// processor multiplies them; the left side is then rounded.
template <class T>
class Right {
 public:
  /// The matrix (depth, width) itself, or what it is the transpose of.
  Right(const NdArray& matrix, bool transposed) {
    if (!matrix.defined()) return;
    depth_ = matrix.sizes()[transposed ? 1 : 0];
    width_ = matrix.sizes()[transposed ? 0 : 1];
    pairs_ = matrix.dtype() == kBFloat16 && tiles::multiplies_pairs();
    tiled_ = pairs_ && goes_by_amx();
    const std::int64_t depth = pairs_ ? (depth_ + 1) / 2 : depth_;
    values_.resize(static_cast<std::size_t>((width_ + kPanel - 1) / kPanel * kPanel * depth));
    if (pairs_)
      pack_pairs(matrix.address_as<BFloat16>(), transposed);
    else if (matrix.dtype() == kBFloat16)
      pack(matrix.address_as<BFloat16>(), transposed);
    else
      pack(matrix.address_as<T>(), transposed);
  }
  /// out = left this, or out += that, for rows of `left` that lie `left_pitch` apart.
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
  static constexpr std::int64_t kDepth = 256;  // of a panel at a time, which stays in the first cache

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

  // By the matrix alone, as a sequence's numbers must not depend on those beside it: tiles take one row in
  // the time that registers do, and 16 in no more. Below this size shaping them would show.
  bool goes_by_amx() const {
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

/// Calls body(begin, end) for groups of sequences, which know nothing of each other: a thread takes its group
/// through all steps, and waits for nobody. A row's numbers do not depend on the group that it is in.
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
