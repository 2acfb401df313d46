// softmax of rows on the device; cuda_softmax_columns.cu handles the other dimensions. A row that fits into
// the registers of its thread group is read once and written once. A longer row is read twice: once for its
// maximum and sum, and once for the result.
#include <ebb/core/visit.h>

#include "kernel/cuda/row.h"
#include "ops/reduce/cuda_softmax.h"
#include "ops/reduce/softmax_kernels.h"

namespace ebb::cuda {
namespace {

// The number of elements that a thread keeps in registers. The backward pass has two arrays, and 16-bit
// elements need half a register. The limits leave registers for several rows on a multiprocessor, so that
// some rows load while others compute.
constexpr int kKept = 16;
template <class T>
constexpr int kKeptBackward = sizeof(T) == 8   ? 10
                              : sizeof(T) == 4 ? 8
                                               : 16;
// The largest number of threads for a row. Doubles need more than the 64 registers that are available to each
// of 1024 threads.
template <class T>
constexpr int kThreads = sizeof(T) == 8 ? kKeptThreads : kTeamThreads;
template <class T>
constexpr int kept_threads(int elements, int many) {
  return elements < many ? kTeamBlock : kThreads<T>;
}
// The number of vectors of a long row that a thread loads together. The backward pass loads half as many from
// each of its two arrays.
template <class T>
constexpr int kLoads = sizeof(T) == 8 ? 2 : 4;

template <int V, int N, class T>
__device__ void take_logs(LogSum<T>& line, const T* from, std::int64_t stride, const Span& span) {
  using C = Compute<T>;
  const auto groups = load_groups<V, N>(from, stride, span, static_cast<T>(C(-INFINITY)));
  C values[N * V];
#pragma unroll
  for (int i = 0; i < N * V; ++i) values[i] = static_cast<C>(groups.at[i / V].at[i % V]);
  line.take(values);
}

template <class T, bool kLog, int kElements, bool kVectors>
__global__ void __launch_bounds__(kept_threads<T>(kElements, kKept), 1)
    softmax_kept_kernel(T* out, const T* x, Lines lines) {
  using C = Compute<T>;
  using Part = RowPart<T, kElements>;
  const RowTeam team(lines);
  const Part part(team, lines.n, kVectors);
  const std::int64_t start = (team.active ? team.line : 0) * lines.n;
  Packed<T, Part::kWidth> row[Part::kUnits];
  part.load(x + start, row);
  C at[Part::kUnits][Part::kWidth];
  C top = -INFINITY;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    const auto unit = row[u].vector();
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j) {
      at[u][j] = part.has(u, j) ? static_cast<C>(unit.at[j]) : C(-INFINITY);
      top = larger(top, at[u][j]);
    }
  }
  top = team.reduce(top, [](C a, C b) { return larger(a, b); });
  C sum = 0;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u)
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j) {
      at[u][j] -= top;
      if (!kLog) at[u][j] = result_exp<T>(at[u][j]);
      sum += kLog ? LogSum<T>::exp(at[u][j]) : at[u][j];
    }
  sum = team.reduce(sum, Plus());
  if (!team.active) return;
  const C scale = scale_of<kLog>(sum);
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    typename Part::Unit unit;
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j)
      unit.at[j] = static_cast<T>(kLog ? at[u][j] - scale : at[u][j] * scale);
    part.store(out + start, u, unit);
  }
}

template <class T, bool kLog>
__global__ void __launch_bounds__(kThreads<T>, 1)
    softmax_rows_kernel(T* out, const T* x, Lines lines, bool vectors) {
  const RowTeam team(lines);  // one team for each block, because rows are long
  const T* const from = x + team.line * lines.n;
  T* const to = out + team.line * lines.n;
  LogSum<T> line = LogSum<T>::none();
  take_line<kLoads<T>>(team, from, vectors, lines.n,
                       [&]<int V, int N>(const Span& span) { take_logs<V, N>(line, from, 1, span); });
  line = team.reduce(line, typename LogSum<T>::Merge());
  const Compute<T> top = line.top, scale = scale_of<kLog>(line.sum);
  take_line<kLoads<T>>(team, from, vectors, lines.n, [&]<int V, int N>(const Span& span) {
    auto groups = load_groups<V, N>(from, 1, span, T(0));
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!span.has(u)) continue;
#pragma unroll
      for (int j = 0; j < V; ++j) groups.at[u].at[j] = result_of<T, kLog>(groups.at[u].at[j], top, scale);
      store_vector(to + span.at(u), groups.at[u]);
    }
  });
}

template <class T, bool kLog, int kElements, bool kVectors>
__global__ void __launch_bounds__(kept_threads<T>(kElements, kKeptBackward<T>), 1)
    softmax_backward_kept_kernel(T* out, const T* grad, const T* y, Lines lines, bool whole) {
  using Part = RowPart<T, kElements>;
  const RowTeam team(lines);
  const Part part(team, lines.n, kVectors);
  const std::int64_t start = (team.active ? team.line : 0) * lines.n;
  Packed<T, Part::kWidth> g[Part::kUnits], at[Part::kUnits];
  part.load(grad + start, g);
  part.load(y + start, at);
  Compute<T> sum = 0;
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    const auto unit = g[u].vector(), line = at[u].vector();
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j) sum += grad_term<T, kLog>(unit.at[j], line.at[j]);
  }
  sum = team.reduce(sum, Plus());
  Others<T, kLog> others;
  const Compute<T> bound = leader_bound<T, kLog>(whole);
#pragma unroll
  for (int u = 0; u < Part::kUnits; ++u) {
    auto unit = g[u].vector();
    const auto line = at[u].vector();
#pragma unroll
    for (int j = 0; j < Part::kWidth; ++j)
      unit.at[j] = others.take(unit.at[j], line.at[j], sum, bound, part.index(u, j), part.has(u, j));
    if (team.active) part.store(out + start, u, unit);
  }
  others.sum = team.reduce(others.sum, Plus());
  if (team.active && others.leader >= 0) out[start + others.leader] = static_cast<T>(0 - others.sum);
}

template <class T, bool kLog>
__global__ void __launch_bounds__(kThreads<T>, 1)
    softmax_backward_rows_kernel(T* out, const T* grad, const T* y, Lines lines, bool vectors, bool whole) {
  const RowTeam team(lines);
  const std::int64_t start = team.line * lines.n;
  const T *const g = grad + start, *const at = y + start;
  T* const to = out + start;
  Compute<T> sum = 0;
  take_line<kLoads<T> / 2>(team, g, vectors, lines.n, [&]<int V, int N>(const Span& span) {
    const auto a = load_groups<V, N>(g, 1, span, T(0)), b = load_groups<V, N>(at, 1, span, T(0));
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int j = 0; j < V; ++j) sum += grad_term<T, kLog>(a.at[u].at[j], b.at[u].at[j]);
  });
  sum = team.reduce(sum, Plus());
  Others<T, kLog, std::int64_t> others;
  const Compute<T> bound = leader_bound<T, kLog>(whole);
  take_line<kLoads<T> / 2>(team, g, vectors, lines.n, [&]<int V, int N>(const Span& span) {
    auto a = load_groups<V, N>(g, 1, span, T(0));
    const auto b = load_groups<V, N>(at, 1, span, T(0));
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!span.has(u)) continue;
#pragma unroll
      for (int j = 0; j < V; ++j)
        a.at[u].at[j] = others.take(a.at[u].at[j], b.at[u].at[j], sum, bound, span.at(u) + j, true);
      store_vector(to + span.at(u), a.at[u]);
    }
  });
  others.sum = team.reduce(others.sum, Plus());
  if (others.leader >= 0) to[others.leader] = static_cast<T>(0 - others.sum);
}

template <class T, bool kLog>
void softmax_as(NdArray& out, const NdArray& x, const Lines& lines) {
  const Device device = out.device();
  T* const to = out.address_as<T>();
  const T* const from = x.address_as<T>();
  const bool kept = with_kept_rows<kKept, kThreads<T>>(lines, [&]<int kElements>(const Grid& grid) {
    launch(device, grid,
           rows_are_vectors<T>(lines.n, to, from) ? &softmax_kept_kernel<T, kLog, kElements, true>
                                                  : &softmax_kept_kernel<T, kLog, kElements, false>,
           to, from, lines);
  });
  if (!kept)
    launch(device, row_grid(lines, kKept, kThreads<T>), &softmax_rows_kernel<T, kLog>, to, from, lines,
           streams_with(to, from));
}

template <class T, bool kLog>
void softmax_backward_as(NdArray& out, const NdArray& grad, const NdArray& y, const Lines& lines,
                         bool whole) {
  const Device device = out.device();
  T* const to = out.address_as<T>();
  const T *const g = grad.address_as<T>(), *const at = y.address_as<T>();
  constexpr int kMany = kKeptBackward<T>;
  const bool kept = with_kept_rows<kMany, kThreads<T>>(lines, [&]<int kElements>(const Grid& grid) {
    launch(device, grid,
           rows_are_vectors<T>(lines.n, to, g, at) ? &softmax_backward_kept_kernel<T, kLog, kElements, true>
                                                   : &softmax_backward_kept_kernel<T, kLog, kElements, false>,
           to, g, at, lines, whole);
  });
  if (!kept)
    launch(device, row_grid(lines, kMany, kThreads<T>), &softmax_backward_rows_kernel<T, kLog>, to, g, at,
           lines, streams_with(to, g) && streams_with(to, at), whole);
}

}  // namespace

void softmax(NdArray& out, const NdArray& x, std::int64_t dim, bool log) {
  if (x.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  if (lines.inner != 1) return softmax_columns(out, x, lines, log);
  visit_floating(x.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    if (log)
      softmax_as<T, true>(out, x, lines);
    else
      softmax_as<T, false>(out, x, lines);
  });
}

void softmax_backward(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log,
                      bool whole) {
  if (y.numel() == 0) return;
  const Lines lines(y.sizes(), dim);
  if (lines.inner != 1) return softmax_columns_backward(out, grad, y, lines, log, whole);
  visit_floating(y.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    if (log)
      softmax_backward_as<T, true>(out, grad, y, lines, whole);
    else
      softmax_backward_as<T, false>(out, grad, y, lines, whole);
  });
}

}  // namespace ebb::cuda
