// softmax over a dimension other than the last on the device, with vectors of neighbouring lines. A line is
// the vector of elements along the dimension. Lines that fit into the registers of their threads are read
// once. Longer lines are read twice: once for the maximum and the sum, and once for the result.
#include <ebb/core/visit.h>

#include "kernel/cuda/row.h"
#include "ops/reduce/cuda_column.h"
#include "ops/reduce/cuda_softmax.h"

namespace ebb::cuda {
namespace {

// kKept is the number of units of V columns that a thread keeps in registers: 16 words. The backward pass
// keeps half as many of each of its two arrays. For longer lines, kLoads is the number of units that a thread
// loads together.
template <class T, int V>
constexpr int kKept = V == 1 ? (sizeof(T) == 8 ? 4 : 16) : (sizeof(T) == 8 ? 2 : 4);
template <class T, int V>
constexpr int kLoads = (V == 1 ? 8 : 4) / (sizeof(T) == 8 ? 2 : 1);

template <class T, bool kLog, int V>
__global__ void __launch_bounds__(kColumnThreads, 1)
    softmax_columns_kept_kernel(T* out, const T* x, std::int64_t n, const __grid_constant__ ColumnPlan plan) {
  using C = Compute<T>;
  constexpr int kUnits = kKept<T, V>;
  const ColumnPart<T, V> part(plan, n);
  Packed<T, V> kept[kUnits];
#pragma unroll
  for (int u = 0; u < kUnits; ++u)
    if (part.has(u)) kept[u] = part.load(x, u);
  C top[V], sum[V];
#pragma unroll
  for (int j = 0; j < V; ++j) top[j] = C(-INFINITY), sum[j] = C(0);
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    if (!part.has(u)) break;
    const auto unit = kept[u].vector();
#pragma unroll
    for (int j = 0; j < V; ++j) top[j] = larger(top[j], static_cast<C>(unit.at[j]));
  }
  part.reduce(plan, top, [](C a, C b) { return larger(a, b); });
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    if (!part.has(u)) break;
    const auto unit = kept[u].vector();
#pragma unroll
    for (int j = 0; j < V; ++j) sum[j] += LogSum<T>::exp(static_cast<C>(unit.at[j]) - top[j]);
  }
  part.reduce(plan, sum, Plus());
#pragma unroll
  for (int j = 0; j < V; ++j) sum[j] = scale_of<kLog>(sum[j]);
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    if (!part.has(u)) break;
    auto unit = kept[u].vector();
#pragma unroll
    for (int j = 0; j < V; ++j) unit.at[j] = result_of<T, kLog>(unit.at[j], top[j], sum[j]);
    part.store(out, u, unit);
  }
}

template <class T, bool kLog, int V>
__global__ void __launch_bounds__(kColumnThreads, 1)
    softmax_columns_kernel(T* out, const T* x, std::int64_t n, const __grid_constant__ ColumnPlan plan) {
  using C = Compute<T>;
  constexpr int N = kLoads<T, V>;
  const ColumnPart<T, V> part(plan, n);
  LogSum<T> line[V];
#pragma unroll
  for (int j = 0; j < V; ++j) line[j] = LogSum<T>::none();
#pragma unroll 1
  for (int from = 0; part.has(from); from += N) {
    Packed<T, V> units[N];
#pragma unroll
    for (int u = 0; u < N; ++u)
      if (part.has(from + u)) units[u] = part.load(x, from + u);
#pragma unroll
    for (int j = 0; j < V; ++j) {
      C values[N];
#pragma unroll
      for (int u = 0; u < N; ++u)
        values[u] = part.has(from + u) ? static_cast<C>(units[u].vector().at[j]) : C(-INFINITY);
      line[j].take(values);
    }
  }
  C top[V], sum[V];
#pragma unroll
  for (int j = 0; j < V; ++j) top[j] = line[j].top;
  part.reduce(plan, top, [](C a, C b) { return std::fmax(a, b); });
#pragma unroll
  for (int j = 0; j < V; ++j) sum[j] = line[j].sum * LogSum<T>::factor(line[j].top, top[j]);
  part.reduce(plan, sum, Plus());
#pragma unroll
  for (int j = 0; j < V; ++j) sum[j] = scale_of<kLog>(sum[j]);
#pragma unroll 1
  for (int from = 0; part.has(from); from += N) {
    Packed<T, V> units[N];
#pragma unroll
    for (int u = 0; u < N; ++u)
      if (part.has(from + u)) units[u] = part.load(x, from + u);
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!part.has(from + u)) break;
      auto unit = units[u].vector();
#pragma unroll
      for (int j = 0; j < V; ++j) unit.at[j] = result_of<T, kLog>(unit.at[j], top[j], sum[j]);
      part.store(out, from + u, unit);
    }
  }
}

/// The elements of a line's gradient and result that one thread has in registers.
template <class T, int V, int N>
struct Pairs {
  Packed<T, V> grad[N], y[N];

  __device__ Pairs(const ColumnPart<T, V>& part, const T* grads, const T* ys, int from) {
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!part.has(from + u)) continue;
      grad[u] = part.load(grads, from + u);
      y[u] = part.load(ys, from + u);
    }
  }
  template <bool kLog>
  __device__ void add(const ColumnPart<T, V>& part, int from, Compute<T> (&sum)[V]) const {
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!part.has(from + u)) break;
      const auto g = grad[u].vector(), at = y[u].vector();
#pragma unroll
      for (int j = 0; j < V; ++j) sum[j] += grad_term<T, kLog>(g.at[j], at.at[j]);
    }
  }
  template <bool kLog>
  __device__ void store(const ColumnPart<T, V>& part, int from, const Compute<T> (&sum)[V], Compute<T> bound,
                        Others<T, kLog> (&others)[V], T* out) const {
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!part.has(from + u)) break;
      auto g = grad[u].vector();
      const auto at = y[u].vector();
#pragma unroll
      for (int j = 0; j < V; ++j) g.at[j] = others[j].take(g.at[j], at.at[j], sum[j], bound, from + u, true);
      part.store(out, from + u, g);
    }
  }
};

/// Sets the gradient of each leader to minus the sum of the other gradients of its line. All threads of the
/// block must call it.
template <class T, bool kLog, int V>
__device__ void finish(const ColumnPlan& plan, const ColumnPart<T, V>& part,
                       const Others<T, kLog> (&others)[V], T* out) {
  Compute<T> sum[V];
#pragma unroll
  for (int j = 0; j < V; ++j) sum[j] = others[j].sum;
  part.reduce(plan, sum, Plus());
#pragma unroll
  for (int j = 0; j < V; ++j)
    if (others[j].leader >= 0) part.at(out, others[j].leader)[j] = static_cast<T>(0 - sum[j]);
}

template <class T, bool kLog, int V>
__global__ void __launch_bounds__(kColumnThreads, 1)
    softmax_backward_columns_kept_kernel(T* out, const T* grad, const T* y, std::int64_t n,
                                         const __grid_constant__ ColumnPlan plan, bool whole) {
  const ColumnPart<T, V> part(plan, n);
  const Pairs<T, V, kKept<T, V> / 2> pairs(part, grad, y, 0);
  Compute<T> sum[V] = {};
  pairs.template add<kLog>(part, 0, sum);
  part.reduce(plan, sum, Plus());
  Others<T, kLog> others[V];
  const Compute<T> bound = leader_bound<T, kLog>(whole);
  pairs.template store<kLog>(part, 0, sum, bound, others, out);
  finish(plan, part, others, out);
}

template <class T, bool kLog, int V>
__global__ void __launch_bounds__(kColumnThreads, 1)
    softmax_backward_columns_kernel(T* out, const T* grad, const T* y, std::int64_t n,
                                    const __grid_constant__ ColumnPlan plan, bool whole) {
  constexpr int N = kLoads<T, V> / 2;
  const ColumnPart<T, V> part(plan, n);
  Compute<T> sum[V] = {};
#pragma unroll 1
  for (int from = 0; part.has(from); from += N)
    Pairs<T, V, N>(part, grad, y, from).template add<kLog>(part, from, sum);
  part.reduce(plan, sum, Plus());
  Others<T, kLog> others[V];
  const Compute<T> bound = leader_bound<T, kLog>(whole);
#pragma unroll 1
  for (int from = 0; part.has(from); from += N)
    Pairs<T, V, N>(part, grad, y, from).template store<kLog>(part, from, sum, bound, others, out);
  finish(plan, part, others, out);
}

template <class T, bool kLog, int V>
void forward_as(NdArray& out, const NdArray& x, const Lines& lines) {
  const ColumnPlan plan = plan_columns(lines, V, kKept<T, V>, multiprocessors(out.device()));
  launch(out.device(), column_grid(plan),
         plan.kept ? &softmax_columns_kept_kernel<T, kLog, V> : &softmax_columns_kernel<T, kLog, V>,
         out.address_as<T>(), x.address_as<T>(), lines.n, plan);
}

template <class T, bool kLog, int V>
void backward_as(NdArray& out, const NdArray& grad, const NdArray& y, const Lines& lines, bool whole) {
  const ColumnPlan plan = plan_columns(lines, V, kKept<T, V> / 2, multiprocessors(out.device()));
  launch(out.device(), column_grid(plan),
         plan.kept ? &softmax_backward_columns_kept_kernel<T, kLog, V>
                   : &softmax_backward_columns_kernel<T, kLog, V>,
         out.address_as<T>(), grad.address_as<T>(), y.address_as<T>(), lines.n, plan, whole);
}

/// Calls run.operator()<T, kLog, V>() with the widest vectors that the columns of the arrays permit.
template <class T, class F, class... P>
void with_columns(const Lines& lines, bool log, const F& run, const P*... arrays) {
  constexpr int V = kVectorWidth<T>;
  const bool vectors = rows_are_vectors<T>(lines.inner, arrays...);
  if (log)
    vectors ? run.template operator()<T, true, V>() : run.template operator()<T, true, 1>();
  else
    vectors ? run.template operator()<T, false, V>() : run.template operator()<T, false, 1>();
}

}  // namespace

void softmax_columns(NdArray& out, const NdArray& x, const Lines& lines, bool log) {
  visit_floating(x.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    with_columns<T>(
        lines, log, [&]<class E, bool kLog, int V> { forward_as<E, kLog, V>(out, x, lines); },
        out.address_as<T>(), x.address_as<T>());
  });
}

void softmax_columns_backward(NdArray& out, const NdArray& grad, const NdArray& y, const Lines& lines,
                              bool log, bool whole) {
  visit_floating(y.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    with_columns<T>(
        lines, log, [&]<class E, bool kLog, int V> { backward_as<E, kLog, V>(out, grad, y, lines, whole); },
        out.address_as<T>(), grad.address_as<T>(), y.address_as<T>());
  });
}

}  // namespace ebb::cuda
