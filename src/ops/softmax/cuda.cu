// softmax on the device. A row that fits into its team's registers is read once and written once; others are
// read twice, since the largest element and the sum come out of one pass.
#include "ops/softmax/cuda.h"

#include <ebb/core/visit.h>

#include <cmath>
#include <limits>

#include "kernel/cuda/log_sum.h"
#include "kernel/cuda/row.h"
#include "kernel/reducers.h"

namespace ebb::cuda {
namespace {

// Elements that a thread keeps; backward of each of two arrays.
template <class T>
constexpr int kKept = sizeof(T) == 8 ? 16 : 32;
template <class T>
constexpr int kKeptBackward = sizeof(T) == 8 ? 10 : 16;
// Vectors that a thread loads of a long row at once; backward half as many of each array.
template <class T>
constexpr int kLoads = sizeof(T) == 8 ? 2 : 4;

template <class C>
EBB_HD C larger(C a, C b) {
  return reducing::Extreme<C, true>().merge(a, b);
}

/// From an element to its result.
template <class T, bool kLog>
struct Finish {
  using C = Compute<T>;
  C top, scale;  // log of the sum, or its reciprocal
  __device__ explicit Finish(const LogSum<T>& line)
      : top(line.top), scale(kLog ? std::log(line.sum) : C(1) / line.sum) {}
  __device__ C operator()(C x) const { return kLog ? (x - top) - scale : std::exp(x - top) * scale; }
};

template <int V, int N, class T>
__device__ void take_logs(LogSum<T>& line, const T* from, std::int64_t stride, const Span& span) {
  using C = Compute<T>;
  const auto groups = load_groups<V, N>(from, stride, span, static_cast<T>(C(-INFINITY)));
  C values[N * V];
#pragma unroll
  for (int i = 0; i < N * V; ++i) values[i] = static_cast<C>(groups.at[i / V].at[i % V]);
  line.take(values);
}

template <class C, bool kLog>
__device__ C grad_term(C grad, C y) {
  return kLog ? grad : grad * y;
}
template <class C, bool kLog>
__device__ C input_grad(C grad, C y, C sum) {
  return kLog ? grad - std::exp(y) * sum : (grad - sum) * y;
}

template <class T, bool kLog, int kElements>
__global__ void __launch_bounds__(kept_block(kElements), 1)
    softmax_kept_kernel(T* out, const T* x, Lines lines, bool vectors) {
  using C = Compute<T>;
  using Part = RowPart<T, kElements>;
  const RowTeam team(lines);
  const Part part(team, lines.n, vectors);
  const std::int64_t start = (team.active ? team.line : 0) * lines.n;
  C at[Part::kUnits][Part::kWidth];
  C top = -std::numeric_limits<C>::infinity();
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    const auto unit = part.load(x + start, u);
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j) {
      at[u][j] = part.has(u, j) ? static_cast<C>(unit.at[j]) : -std::numeric_limits<C>::infinity();
      top = larger(top, at[u][j]);
    }
  }
  top = team.reduce(top, [](C a, C b) { return larger(a, b); });
  C sum = 0;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u)
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j) {
      const C e = std::exp(at[u][j] - top);
      if (!kLog) at[u][j] = e;
      sum += e;
    }
  sum = team.reduce(sum, Plus());
  if (!team.active) return;
  const C scale = kLog ? std::log(sum) : C(1) / sum;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    typename Part::Unit unit;
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j)
      unit.at[j] = static_cast<T>(kLog ? (at[u][j] - top) - scale : at[u][j] * scale);
    part.store(out + start, u, unit);
  }
}

template <class T, bool kLog>
__global__ void __launch_bounds__(kTeamThreads, 1)
    softmax_rows_kernel(T* out, const T* x, Lines lines, bool vectors) {
  using C = Compute<T>;
  const RowTeam team(lines);  // one a block: rows are long
  const T* const from = x + team.line * lines.n;
  T* const to = out + team.line * lines.n;
  LogSum<T> line = LogSum<T>::none();
  take_line<kLoads<T>>(team, from, vectors, lines.n,
                       [&]<int V, int N>(const Span& span) { take_logs<V, N>(line, from, 1, span); });
  const Finish<T, kLog> finish(team.reduce(line, typename LogSum<T>::Merge()));
  take_line<kLoads<T>>(team, from, vectors, lines.n, [&]<int V, int N>(const Span& span) {
    auto groups = load_groups<V, N>(from, 1, span, T(0));
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!span.has(u)) continue;
#pragma unroll
      for (int j = 0; j < V; ++j)
        groups.at[u].at[j] = static_cast<T>(finish(static_cast<C>(groups.at[u].at[j])));
      store_vector(to + span.at(u), groups.at[u]);
    }
  });
}

template <class T, bool kLog>
__global__ void __launch_bounds__(kWarp* kTeamLanes, 1)
    softmax_columns_kernel(T* out, const T* x, Lines lines) {
  using C = Compute<T>;
  const ColumnTeam team(lines);
  const std::int64_t start = team.active ? lines.start(team.line) : 0, n = team.active ? lines.n : 0;
  LogSum<T> line = LogSum<T>::none();
  take_line<kLoads<T>>(team, x + start, false, n, [&]<int V, int N>(const Span& span) {
    take_logs<V, N>(line, x + start, team.stride, span);
  });
  const Finish<T, kLog> finish(team.reduce(line, typename LogSum<T>::Merge()));
#pragma unroll 4
  for (std::int64_t i = team.rank; i < n; i += team.size)
    out[start + i * team.stride] = static_cast<T>(finish(static_cast<C>(x[start + i * team.stride])));
}

template <class T, bool kLog, int kElements>
__global__ void __launch_bounds__(kept_block(kElements), 1)
    softmax_backward_kept_kernel(T* out, const T* grad, const T* y, Lines lines, bool vectors) {
  using C = Compute<T>;
  using Part = RowPart<T, kElements>;
  const RowTeam team(lines);
  const Part part(team, lines.n, vectors);
  const std::int64_t start = (team.active ? team.line : 0) * lines.n;
  typename Part::Unit g[Part::kUnits], at[Part::kUnits];
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    g[u] = part.load(grad + start, u);
    at[u] = part.load(y + start, u);
  }
  C sum = 0;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u)
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j)
      sum += grad_term<C, kLog>(static_cast<C>(g[u].at[j]), static_cast<C>(at[u].at[j]));
  sum = team.reduce(sum, Plus());
  if (!team.active) return;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j)
      g[u].at[j] =
          static_cast<T>(input_grad<C, kLog>(static_cast<C>(g[u].at[j]), static_cast<C>(at[u].at[j]), sum));
    part.store(out + start, u, g[u]);
  }
}

template <class T, bool kLog>
__global__ void __launch_bounds__(kTeamThreads, 1)
    softmax_backward_rows_kernel(T* out, const T* grad, const T* y, Lines lines, bool vectors) {
  using C = Compute<T>;
  const RowTeam team(lines);
  const std::int64_t start = team.line * lines.n;
  const T *const g = grad + start, *const at = y + start;
  T* const to = out + start;
  C sum = 0;
  take_line<kLoads<T> / 2>(team, g, vectors, lines.n, [&]<int V, int N>(const Span& span) {
    const auto a = load_groups<V, N>(g, 1, span, T(0)), b = load_groups<V, N>(at, 1, span, T(0));
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int j = 0; j < V; ++j)
        sum += grad_term<C, kLog>(static_cast<C>(a.at[u].at[j]), static_cast<C>(b.at[u].at[j]));
  });
  sum = team.reduce(sum, Plus());
  take_line<kLoads<T> / 2>(team, g, vectors, lines.n, [&]<int V, int N>(const Span& span) {
    auto a = load_groups<V, N>(g, 1, span, T(0));
    const auto b = load_groups<V, N>(at, 1, span, T(0));
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!span.has(u)) continue;
#pragma unroll
      for (int j = 0; j < V; ++j)
        a.at[u].at[j] = static_cast<T>(
            input_grad<C, kLog>(static_cast<C>(a.at[u].at[j]), static_cast<C>(b.at[u].at[j]), sum));
      store_vector(to + span.at(u), a.at[u]);
    }
  });
}

template <class T, bool kLog>
__global__ void __launch_bounds__(kWarp* kTeamLanes, 1)
    softmax_backward_columns_kernel(T* out, const T* grad, const T* y, Lines lines) {
  using C = Compute<T>;
  const ColumnTeam team(lines);
  const std::int64_t start = team.active ? lines.start(team.line) : 0, n = team.active ? lines.n : 0;
  C sum = 0;
#pragma unroll 4
  for (std::int64_t i = team.rank; i < n; i += team.size) {
    const std::int64_t at = start + i * team.stride;
    sum += grad_term<C, kLog>(static_cast<C>(grad[at]), static_cast<C>(y[at]));
  }
  sum = team.reduce(sum, Plus());
#pragma unroll 4
  for (std::int64_t i = team.rank; i < n; i += team.size) {
    const std::int64_t at = start + i * team.stride;
    out[at] = static_cast<T>(input_grad<C, kLog>(static_cast<C>(grad[at]), static_cast<C>(y[at]), sum));
  }
}

Grid column_grid(const Lines& lines) { return {ColumnTeam::blocks(lines), ColumnTeam::threads(lines)}; }

template <class T, bool kLog>
void softmax_as(NdArray& out, const NdArray& x, const Lines& lines) {
  const Device device = out.device();
  T* const to = out.data_as<T>();
  const T* const from = x.data_as<T>();
  if (lines.inner != 1)
    return launch(device, column_grid(lines), &softmax_columns_kernel<T, kLog>, to, from, lines);
  const bool kept = with_kept_rows<kKept<T>>(lines, [&]<int kElements>(const Grid& grid) {
    launch(device, grid, &softmax_kept_kernel<T, kLog, kElements>, to, from, lines,
           rows_are_vectors<T>(lines.n, to, from));
  });
  if (!kept)
    launch(device, row_grid(lines, kKept<T>), &softmax_rows_kernel<T, kLog>, to, from, lines,
           streams_with(to, from));
}

template <class T, bool kLog>
void softmax_backward_as(NdArray& out, const NdArray& grad, const NdArray& y, const Lines& lines) {
  const Device device = out.device();
  T* const to = out.data_as<T>();
  const T *const g = grad.data_as<T>(), *const at = y.data_as<T>();
  if (lines.inner != 1)
    return launch(device, column_grid(lines), &softmax_backward_columns_kernel<T, kLog>, to, g, at, lines);
  const bool kept = with_kept_rows<kKeptBackward<T>>(lines, [&]<int kElements>(const Grid& grid) {
    launch(device, grid, &softmax_backward_kept_kernel<T, kLog, kElements>, to, g, at, lines,
           rows_are_vectors<T>(lines.n, to, g, at));
  });
  if (!kept)
    launch(device, row_grid(lines, kKeptBackward<T>), &softmax_backward_rows_kernel<T, kLog>, to, g, at,
           lines, streams_with(to, g) && streams_with(to, at));
}

}  // namespace

void softmax(NdArray& out, const NdArray& x, std::int64_t dim, bool log) {
  if (x.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  visit_floating(x.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    if (log)
      softmax_as<T, true>(out, x, lines);
    else
      softmax_as<T, false>(out, x, lines);
  });
}

void softmax_backward(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log) {
  if (y.numel() == 0) return;
  const Lines lines(y.sizes(), dim);
  visit_floating(y.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    if (log)
      softmax_backward_as<T, true>(out, grad, y, lines);
    else
      softmax_backward_as<T, false>(out, grad, y, lines);
  });
}

void register_softmax() {
  kernels::softmax.set_cuda(&softmax);
  kernels::softmax_backward.set_cuda(&softmax_backward);
}

}  // namespace ebb::cuda
