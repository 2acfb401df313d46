// Matrix products on the CPU, with register tiles, parallel over blocks of the result.
#include "kernel/cpu/gemm.h"

#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/gemm_pieces.h"
#include "kernel/cpu/parts.h"
#include "kernel/cpu/tile.h"
#include "kernel/cpu/transpose.h"

#include <Eigen/Core>

#include <algorithm>

namespace ebb::cpu {
namespace {

template <class T>
using View = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
                        Eigen::OuterStride<>>;
template <class T>
using Vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstVector = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;

// The number of multiplications in a chunk of a parallel matrix-vector product.
constexpr std::int64_t kVectorPiece = std::int64_t{1} << 17;
// The number of products that are summed in registers before they are added to the result. With a larger
// number, the result would be accessed less often, but on processors without AVX-512 the panel would fill
// half of the first-level cache.
constexpr std::int64_t kPart = 256;
// The maximum number of row blocks (kBlockRows) in a chunk.
constexpr std::int64_t kBlocks = 4;
// Matrix-vector products sum several rows together if rows are shorter than this.
constexpr std::int64_t kShortRow = 24;

template <class T>
void scale(Matrix<T> c, T beta) {
  if (beta == T(1)) return;
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; ++j) c(i, j) = beta == T(0) ? T(0) : beta * c(i, j);
}

template <class T>
constexpr std::int64_t kPanel = std::int64_t{tiles::kWidth<T>} * tiles::kPackets;

// to[i * pitch + j] = m(i, j) for contiguous rows. Rows of kPanel columns are copied with registers, because
// a memcpy call for each row would take longer.
template <class T>
void copy_rows(Matrix<const T> m, T* to, std::int64_t pitch) {
  namespace simd = Eigen::internal;
  constexpr std::int64_t kAhead = 8;
  for (std::int64_t i = 0; i < m.rows; ++i, to += pitch) {
    const T* const row = m.data + i * m.row_stride;
    if (m.cols != kPanel<T>) {
      std::copy_n(row, m.cols, to);
      continue;
    }
    tiles::Packet<T> packets[tiles::kPackets];
    for (int p = 0; p < tiles::kPackets; ++p)
      packets[p] = simd::ploadu<tiles::Packet<T>>(row + p * tiles::kWidth<T>);
    __builtin_prefetch(row + kAhead * m.row_stride);
    for (int p = 0; p < tiles::kPackets; ++p) simd::pstoreu(to + p * tiles::kWidth<T>, packets[p]);
  }
}

// to[i * pitch + j] = alpha m(i, j).
template <class T>
void pack(Matrix<const T> m, T alpha, T* to, std::int64_t pitch) {
  if (m.row_stride == 1) {
    transpose(m.data, m.col_stride, m.cols, m.rows, to, pitch);
  } else if (m.col_stride == 1) {
    copy_rows(m, to, pitch);
  } else {
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.cols; ++j) to[i * pitch + j] = m(i, j);
  }
  if (alpha == T(1)) return;
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.cols; ++j) to[i * pitch + j] *= alpha;
}

// c += x.
template <class T>
void add(Matrix<const T> x, Matrix<T> c) {
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; ++j) c.data[i * c.row_stride + j] += x.data[i * x.row_stride + j];
}

// Computes one chunk on this thread: multiplies packed panels of b by row blocks of a. The rows of c are
// contiguous.
template <class T>
void piece(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha, T beta) {
  const std::int64_t part = part_of<kPart>(a.cols);
  const bool runs = std::is_same_v<T, float> && a.cols > kTileRun;
  if (runs || (beta != T(0) && a.cols > part)) {  // c must be added to the sum of all parts, not to the first
    const NdArray sum = NdArray::empty({c.rows, c.cols}, dtype_of<T>());
    const Matrix<T> whole{sum.address_as<T>(), c.rows, c.cols, c.cols, 1};
    sum_by_runs(
        kTileRun, a.cols, whole.data, c.rows * c.cols, [&](std::int64_t from, std::int64_t depth, T*) {
          piece<T>(a.block(0, from, c.rows, depth), b.block(from, 0, depth, c.cols), whole, alpha, T(0));
        });
    scale(c, beta);
    return add<T>(whole.read(), c);
  }
  // Divides the rows of a into blocks that fit the second-level cache. The first block is multiplied as soon
  // as a panel is packed. If there are more blocks (`keep`), all packed panels remain in `panels` for them.
  const std::int64_t block = PieceSize::even(c.rows, (c.rows + kBlockRows - 1) / kBlockRows, tiles::kRows);
  const bool keep = block < c.rows;
  const std::int64_t kept = keep ? (c.cols + kPanel<T> - 1) / kPanel<T> * kPanel<T> : kPanel<T>;
  // The kernel writes whole packets. If the last columns of c do not fill a packet, their sums are written to
  // `last` and copied to c.
  const std::int64_t rest = c.cols % kPanel<T>,
                     rest_pitch = rest % tiles::kWidth<T> == 0 ? 0 : tiles::padded<T>(rest);
  const bool a_by_rows = a.col_stride == 1;
  const NdArray scratch =
      NdArray::empty({part * kept + block * rest_pitch + (a_by_rows ? 0 : block * part)}, dtype_of<T>());
  T* const panels = scratch.address_as<T>();
  T* const last = panels + part * kept;
  T* const left = last + block * rest_pitch;
  if (beta != T(0)) scale(c, beta);
  for (std::int64_t k = 0; k < a.cols; k += part) {
    const std::int64_t depth = std::min(part, a.cols - k);
    const bool more = k > 0 || beta != T(0);
    for (std::int64_t i = 0; i < c.rows; i += block) {
      const Matrix<const T> these = a.block(i, k, std::min(block, c.rows - i), depth);
      if (!a_by_rows) pack(these, T(1), left, depth);
      const tiles::Left<T> rows =
          a_by_rows ? tiles::Left<T>{these.data, a.row_stride, 1} : tiles::Left<T>{left, depth, 1};
      for (std::int64_t j = 0; j < c.cols; j += kPanel<T>) {
        const std::int64_t width = std::min(kPanel<T>, c.cols - j), pitch = tiles::padded<T>(width);
        const Matrix<T> to = c.block(i, j, these.rows, width);
        T* const panel = panels + (keep ? j * part : 0);
        if (i == 0) pack(b.block(k, j, depth, width), alpha, panel, pitch);
        if (width == pitch) {
          tiles::product<T>(to.rows, width, depth, rows, panel, pitch, to.data, c.row_stride, more);
          continue;
        }
        tiles::product<T>(to.rows, width, depth, rows, panel, pitch, last, pitch, false);
        const Matrix<const T> sum{last, to.rows, width, pitch, 1};
        if (more)
          add(sum, to);
        else
          copy_rows(sum, to.data, c.row_stride);
      }
    }
  }
}

// y += alpha * a x for contiguous columns. kTogether columns are read together, so that y is updated less
// often.
template <class T>
void add_columns(Matrix<const T> a, const T* x, T* y, T alpha) {
  constexpr std::int64_t kRows = 1024, kTogether = 4;
  T sum[kRows];
  const std::int64_t part = part_of<kPart>(a.cols);
  for (std::int64_t i = 0; i < a.rows; i += kRows) {
    const std::int64_t rows = std::min(kRows, a.rows - i);
    for (std::int64_t from = 0; from < a.cols; from += part) {
      const std::int64_t to = std::min(from + part, a.cols);
      std::fill(sum, sum + rows, T(0));
      std::int64_t k = from;
      for (; k + kTogether <= to; k += kTogether) {
        const T *p = &a(i, k), *q = &a(i, k + 1), *r = &a(i, k + 2), *s = &a(i, k + 3);
        for (std::int64_t u = 0; u < rows; ++u)
          sum[u] += p[u] * x[k] + q[u] * x[k + 1] + (r[u] * x[k + 2] + s[u] * x[k + 3]);
      }
      for (; k < to; ++k)
        for (std::int64_t u = 0; u < rows; ++u) sum[u] += a(i + u, k) * x[k];
      for (std::int64_t u = 0; u < rows; ++u) y[i + u] += alpha * sum[u];
    }
  }
}

// y += alpha * a x; y and x are contiguous, and the rows or columns of a are contiguous.
template <class T>
void add_matrix_vector(Matrix<const T> a, const T* x, T* y, T alpha) {
  if (by_rows(a) && a.cols < kShortRow) {
    add_short_rows(a.data, std::max(a.row_stride, a.cols), a.rows, a.cols, x, y, alpha);
  } else if (by_rows(a)) {
    const View<T> matrix(a.data, a.rows, a.cols, Eigen::OuterStride<>(std::max(a.row_stride, a.cols)));
    Vector<T>(y, a.rows).noalias() += alpha * (matrix * ConstVector<T>(x, a.cols));
  } else {
    add_columns(a, x, y, alpha);
  }
}

// y = beta * y + alpha * a x.
template <class T>
void matrix_vector(Matrix<const T> a, const T* x, T* y, T alpha, T beta) {
  // Columns are read as streams, which is slow if columns are short, so a chunk of columns has at least 256
  // rows.
  const std::int64_t least = by_rows(a) ? 16 : 256;
  const std::int64_t rows = std::max(kVectorPiece / std::max<std::int64_t>(a.cols, 1), least);
  parallel_for(0, (a.rows + rows - 1) / rows, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = from; p < to; ++p) {
      const std::int64_t first = p * rows, count = std::min(rows, a.rows - first);
      const Matrix<const T> part = a.block(first, 0, count, a.cols);
      const Matrix<T> result{y + first, 1, count, count, 1};
      const auto make = [&](T* sums) {
        sum_by_runs(kVectorRun, a.cols, sums, count, [&](std::int64_t k, std::int64_t size, T* run) {
          std::fill_n(run, count, T(0));
          add_matrix_vector(part.block(0, k, count, size), x + k, run, alpha);
        });
      };
      if (beta == T(0)) {
        make(result.data);
        continue;
      }
      const NdArray sum = NdArray::empty({count}, dtype_of<T>());
      make(sum.address_as<T>());
      scale<T>(result, beta);
      add<T>({sum.address_as<T>(), 1, count, count, 1}, result);
    }
  });
}

// c = beta c + alpha a b for a column a and a row b. The time is limited by the memory writes to c.
template <class T>
void outer_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha, T beta) {
  const NdArray factors = NdArray::empty({c.cols}, dtype_of<T>());
  T* const row = factors.address_as<T>();
  pack(b, alpha, row, c.cols);
  const std::int64_t grain = std::max<std::int64_t>(kGrain / c.cols, 1);
  parallel_for(0, c.rows, grain, [&](std::int64_t from, std::int64_t to) {
    const NdArray products = NdArray::empty({beta == T(0) ? 0 : c.cols}, dtype_of<T>());
    for (std::int64_t i = from; i < to; ++i) {
      const Matrix<T> result = c.block(i, 0, 1, c.cols);
      T* const out = beta == T(0) ? result.data : products.address_as<T>();
      const T factor = a(i, 0);
      for (std::int64_t j = 0; j < c.cols; ++j) {
        const T product = factor * row[j];
        // Replaces -0 by 0.
        out[j] = product == T(0) ? T(0) : product;
      }
      if (beta == T(0)) continue;
      scale(result, beta);
      add<T>({out, 1, c.cols, c.cols, 1}, result);
    }
  });
}

}  // namespace

template <class T>
void gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha, T beta) {
  const std::int64_t m = c.rows, n = c.cols, k = a.cols;
  if (m == 0 || n == 0) return;
  if (k == 0 || alpha == T(0)) return scale(c, beta);
  if (m * n * k <= kTiny) return gemm_loops<T>(a, b, c, alpha, beta);
  // If c has few columns, most lanes of a register would be empty, so the transposed product is computed.
  const bool narrow = n > 1 && n < 8 && m >= 64;
  if (!by_rows(c) || narrow) {
    if (by_cols(c)) return gemm<T>(b.t(), a.t(), c.t(), alpha, beta);
    const Scratch<T> copy(m * n);
    const Matrix<T> dense{copy.get(), m, n, narrow ? 1 : n, narrow ? m : 1};
    gemm<T>(a, b, dense, alpha, T(0));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        c(i, j) = beta == T(0) ? dense(i, j) : dense(i, j) + beta * c(i, j);
    return;
  }
  if ((n == 1 && (c.row_stride == 1 || m == 1)) || (m == 1 && by_rows(a))) {
    const Readable<T> keep_a(a), keep_b(b);
    return n == 1 ? matrix_vector(a, b.data, c.data, alpha, beta)
                  : matrix_vector(b.t(), a.data, c.data, alpha, beta);
  }
  if (k == 1) return outer_product(a, b, c, alpha, beta);
  const PieceSize size(m, n, k, kPanel<T>, tiles::kRows, kBlocks);
  const std::int64_t down = (m + size.height - 1) / size.height, across = (n + size.width - 1) / size.width;
  parallel_for(0, down * across, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = from; p < to; ++p) {
      const std::int64_t i = p / across * size.height, j = p % across * size.width;
      const std::int64_t height = std::min(size.height, m - i), width = std::min(size.width, n - j);
      piece<T>(a.block(i, 0, height, k), b.block(0, j, k, width), c.block(i, j, height, width), alpha, beta);
    }
  });
}

namespace {

// Returns the address of the n elements x[i * stride] as contiguous elements of type A: x itself, or a copy
// in `buffer`.
template <class A, class T>
const A* together(const T* x, std::int64_t stride, std::int64_t n, A* buffer) {
  if constexpr (std::is_same_v<A, T>)
    if (stride == 1) return x;
  if (stride == 1)
    convert_contiguous(buffer, x, n);
  else
    for (std::int64_t i = 0; i < n; ++i) buffer[i] = static_cast<A>(x[i * stride]);
  return buffer;
}

}  // namespace

template <class T>
T dot_strided(std::int64_t n, const T* x, std::int64_t x_stride, const T* y, std::int64_t y_stride) {
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr std::int64_t kRun = 2048;
  A left[kRun], right[kRun];
  double sum = 0;
  for (std::int64_t i = 0; i < n; i += kRun) {
    const std::int64_t size = std::min(kRun, n - i);
    sum += ConstVector<A>(together(x + i * x_stride, x_stride, size, left), size)
               .dot(ConstVector<A>(together(y + i * y_stride, y_stride, size, right), size));
  }
  return static_cast<T>(static_cast<A>(sum));
}

template void gemm(Matrix<const float>, Matrix<const float>, Matrix<float>, float, float);
template void gemm(Matrix<const double>, Matrix<const double>, Matrix<double>, double, double);
template float dot_strided(std::int64_t, const float*, std::int64_t, const float*, std::int64_t);
template double dot_strided(std::int64_t, const double*, std::int64_t, const double*, std::int64_t);
template Half dot_strided(std::int64_t, const Half*, std::int64_t, const Half*, std::int64_t);
template BFloat16 dot_strided(std::int64_t, const BFloat16*, std::int64_t, const BFloat16*, std::int64_t);

}  // namespace ebb::cpu
