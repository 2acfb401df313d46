// Matrix products of 16-bit floats on the CPU, summed in float and rounded once.
#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/cpu/gemm.h"
#include "kernel/cpu/gemm_pieces.h"
#include "kernel/cpu/pack_halves.h"
#include "kernel/cpu/parts.h"
#include "kernel/cpu/scratch.h"

#include <algorithm>
#include <type_traits>

namespace ebb::cpu {
namespace {

NdArray floats(std::int64_t n) { return NdArray::empty({n}, kFloat); }

// c = alpha sums + beta c. The function overwrites `sums`, whose rows are `pitch` apart.
template <class Out>
void finish(float* sums, std::int64_t pitch, Matrix<Out> c, float alpha, float beta) {
  for (std::int64_t i = 0; i < c.rows; ++i, sums += pitch) {
    Out* const to = c.data + i * c.row_stride;
    if (alpha != 1)  // adding 0 replaces a product of -0 by 0
      for (std::int64_t j = 0; j < c.cols; ++j) sums[j] = alpha * sums[j] + 0.f;
    if (beta != 0)
      for (std::int64_t j = 0; j < c.cols; ++j) sums[j] += beta * static_cast<float>(to[j * c.col_stride]);
    if (c.col_stride == 1)
      convert_contiguous(to, sums, c.cols);
    else
      for (std::int64_t j = 0; j < c.cols; ++j) to[j * c.col_stride] = static_cast<Out>(sums[j]);
  }
}

// Returns a row length of at least n floats for which adjacent rows do not map to the same cache set.
std::int64_t spread(std::int64_t n) { return ((n + 15) / 16 | 1) * 16; }

// Converts some columns of the left operand to the format of the tiles (in `scratch`, if a copy is
// necessary), and calls `use` with the result.
template <class Way, class T, class Use>
void with_left(Matrix<const T> a, bool a_by_rows, typename Way::Element* scratch, const Use& use) {
  using Element = typename Way::Element;
  if (!a_by_rows) {
    const std::int64_t pitch = spread(a.rows);
    Way::pack_rows(a.t(), scratch, pitch);
    return use(tiles::Left<Element>{scratch, 1, pitch});
  }
  if constexpr (Way::kTogether == 1) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      convert_contiguous(scratch + i * a.cols, a.data + i * a.row_stride, a.cols);
    return use(tiles::Left<Element>{scratch, a.cols, 1});
  } else {
    if (a.cols % 2 == 0) return use(tiles::Left<T>{a.data, a.row_stride, 2});
    const std::int64_t pairs = (a.cols + 1) / 2;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      Element* const to = scratch + i * pairs;
      to[pairs - 1] = Element();
      std::memcpy(to, a.data + i * a.row_stride, static_cast<std::size_t>(a.cols) * sizeof(T));
    }
    return use(tiles::Left<Element>{scratch, pairs, 1});
  }
}

// Computes one chunk on this thread.
template <class Way, class T, class Out>
void piece(Matrix<const T> a, bool a_by_rows, Matrix<const T> b, bool b_by_rows, Matrix<Out> c, float alpha,
           float beta) {
  using Element = typename Way::Element;
  static_assert(sizeof(Element) == sizeof(float));
  constexpr std::int64_t kTogether = Way::kTogether, kPanel = Way::kPanel;
  const std::int64_t part = (part_of<Way::kPart>(a.cols) + kTogether - 1) / kTogether * kTogether;
  const std::int64_t depth = part / kTogether, pitch = tiles::padded<float>(c.cols);
  const std::int64_t left_size = depth * (a_by_rows ? c.rows : spread(c.rows));
  const std::int64_t prepared_size = Way::prepared_size(c.rows, depth);
  const NdArray scratch = floats(depth * kPanel + c.rows * pitch + prepared_size + left_size);
  Element* const panel = reinterpret_cast<Element*>(scratch.address_as<float>());
  float* const sums = scratch.address_as<float>() + depth * kPanel;
  Element* const prepared = reinterpret_cast<Element*>(sums + c.rows * pitch);
  Element* const left = prepared + prepared_size;
  static_assert(kTileRun % kTogether == 0);
  sum_by_runs(kTileRun, a.cols, sums, c.rows * pitch, [&](std::int64_t from, std::int64_t run, float*) {
    for (std::int64_t k = from; k < from + run; k += part) {
      const std::int64_t count = std::min(part, from + run - k);
      const std::int64_t elements = (count + kTogether - 1) / kTogether;
      const auto multiply = [&](auto rows) {
        for (std::int64_t j = 0; j < c.cols; j += kPanel) {
          const std::int64_t width = std::min(kPanel, c.cols - j), step = tiles::padded<float>(width);
          const Matrix<const T> columns = b.block(k, j, count, width);
          b_by_rows ? Way::pack_rows(columns, panel, step) : Way::pack_columns(columns, panel, step);
          tiles::product<Element>(c.rows, width, elements, rows, panel, step, sums + j, pitch, k > from);
        }
      };
      with_left<Way>(a.block(0, k, c.rows, count), a_by_rows, left,
                     [&](auto rows) { Way::prepare(c.rows, elements, rows, prepared, multiply); });
    }
  });
  finish(sums, pitch, c, alpha, beta);
}

template <class Way, class T, class Out>
void by_tiles(Matrix<const T> a, Matrix<const T> b, Matrix<Out> c, float alpha, float beta) {
  const std::int64_t m = c.rows, n = c.cols, k = a.cols;
  const Readable<T> keep_a(a), keep_b(b);
  const bool a_by_rows = by_rows(a), b_by_rows = by_rows(b);
  const PieceSize size(m, n, k, LeftAsItIs::kPanel, Way::kRows);
  const std::int64_t down = (m + size.height - 1) / size.height, across = (n + size.width - 1) / size.width;
  parallel_for(0, down * across, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = from; p < to; ++p) {
      const std::int64_t i = p / across * size.height, j = p % across * size.width;
      const std::int64_t height = std::min(size.height, m - i), width = std::min(size.width, n - j);
      piece<Way>(a.block(i, 0, height, k), a_by_rows, b.block(0, j, k, width), b_by_rows,
                 c.block(i, j, height, width), alpha, beta);
    }
  });
}

// sums[i] = row i of a times x; the rows of a are contiguous.
template <class T>
void sum_rows(Matrix<const T> a, const T* x, float* sums) {
#if EBB_BFLOAT16_PAIRS
  if constexpr (std::is_same_v<T, BFloat16>)
    if (tiles::multiplies_pairs()) {
      constexpr int kRows = 8;
      std::int64_t i = 0;
      for (; i + kRows <= a.rows; i += kRows)
        tiles::rows_by_vector<kRows>(a.data + i * a.row_stride, a.row_stride, x, a.cols, sums + i);
      for (; i < a.rows; ++i)
        tiles::rows_by_vector<1>(a.data + i * a.row_stride, a.row_stride, x, a.cols, sums + i);
      return;
    }
#endif
  // Converts several rows together: as many as fit the cache.
  const std::int64_t together = std::clamp<std::int64_t>(8192 / a.cols, 1, a.rows);
  const NdArray scratch = floats((together + 1) * a.cols);
  float* const factors = scratch.address_as<float>();
  float* const rows = factors + a.cols;
  convert_contiguous(factors, x, a.cols);
  for (std::int64_t i = 0; i < a.rows; i += together) {
    const std::int64_t count = std::min(together, a.rows - i);
    for (std::int64_t r = 0; r < count; ++r)
      convert_contiguous(rows + r * a.cols, a.data + (i + r) * a.row_stride, a.cols);
    gemm<float>({rows, count, a.cols, a.cols, 1}, {factors, a.cols, 1, 1, a.cols},
                {sums + i, count, 1, 1, count}, 1, 0);
  }
}

// c = alpha a x + beta c, one column; the rows of a are contiguous.
template <class T, class Out>
void rows_by_vector(Matrix<const T> a, Matrix<const T> x, Matrix<Out> c, float alpha, float beta) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 17, kLeast = 16;  // multiplications, rows
  const bool lies_apart = x.row_stride != 1 && x.rows != 1;
  const Scratch<T> copy(lies_apart ? x.rows : 0);
  for (std::int64_t k = 0; lies_apart && k < x.rows; ++k) copy[k] = x(k, 0);
  const T* const factors = lies_apart ? copy.get() : x.data;
  const std::int64_t rows = std::max(kPiece / a.cols, kLeast);
  parallel_for(0, (c.rows + rows - 1) / rows, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = from; p < to; ++p) {
      const std::int64_t first = p * rows, count = std::min(rows, c.rows - first);
      const NdArray sums = floats(count);
      sum_by_runs(kVectorRun, a.cols, sums.address_as<float>(), count,
                  [&](std::int64_t k, std::int64_t size, float* run) {
                    sum_rows(a.block(first, k, count, size), factors + k, run);
                  });
      finish(sums.address_as<float>(), count, c.block(first, 0, count, 1).t(), alpha, beta);
    }
  });
}

template <class T, class Out>
void matrices(Matrix<const T> a, Matrix<const T> b, Matrix<Out> c, float alpha, float beta) {
#if EBB_BFLOAT16_AMX
  // The choice depends on the size of the whole product, not of a chunk, because chunks depend on the number
  // of threads.
  if constexpr (std::is_same_v<T, BFloat16>)
    if (amx::pays(c.rows, c.cols, a.cols) && amx::may_run()) return by_tiles<Tiled>(a, b, c, alpha, beta);
#endif
#if EBB_BFLOAT16_PAIRS
  if constexpr (std::is_same_v<T, BFloat16>)
    if (tiles::multiplies_pairs()) return by_tiles<Paired>(a, b, c, alpha, beta);
#endif
  by_tiles<Widened<T>>(a, b, c, alpha, beta);
}

}  // namespace

template <class T, class Out>
void gemm_halves(Matrix<const T> a, Matrix<const T> b, Matrix<Out> c, float alpha, float beta) {
  const std::int64_t m = c.rows, n = c.cols, k = alpha == 0 ? 0 : a.cols;
  if (m == 0 || n == 0) return;
  if (m * n * k <= kTiny) return gemm_loops<float>(a.block(0, 0, m, k), b.block(0, 0, k, n), c, alpha, beta);
  if (n == 1 && by_rows(a)) return rows_by_vector(a, b, c, alpha, beta);
  if (m == 1 && by_cols(b)) return rows_by_vector(b.t(), a.t(), c.t(), alpha, beta);
  // Computes the transposed product c' = b' a' in two cases. If c has few columns, most lanes would be empty.
  // If the columns of c are contiguous, but the rows are not, results would be written element by element.
  const bool few = n < 8 && m > n, across = c.col_stride != 1 && c.row_stride == 1 && m >= 8;
  few || across ? matrices(b.t(), a.t(), c.t(), alpha, beta) : matrices(a, b, c, alpha, beta);
}

template void gemm_halves(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<BFloat16>, float, float);
template void gemm_halves(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<float>, float, float);
template void gemm_halves(Matrix<const Half>, Matrix<const Half>, Matrix<Half>, float, float);
template void gemm_halves(Matrix<const Half>, Matrix<const Half>, Matrix<float>, float, float);

}  // namespace ebb::cpu
