// softmax on the device: a line is read once into shared memory where it fits, and written once.
#include "ops/softmax/cuda.h"

#include <ebb/core/visit.h>

#include <type_traits>

#include "kernel/convert.h"
#include "kernel/cuda/team.h"
#include "ops/reduce/math.h"

namespace ebb::cuda {
namespace {

constexpr std::int64_t kCachedBytes =
    96 << 10;  // shared memory of a block that still leaves two on a multiprocessor

// Elements of a line, kept in shared memory or read again.
template <class T>
struct Line {
  using C = Compute<T>;
  const T* from;
  C* cache;
  std::int64_t stride;

  __device__ C first(std::int64_t i) const {
    const C value = static_cast<C>(from[i * stride]);
    if (cache) cache[i] = value;
    return value;
  }
  __device__ C again(std::int64_t i) const { return cache ? cache[i] : static_cast<C>(from[i * stride]); }
};

// The team's part of the block's shared memory; null when there is none.
template <class C, class Team>
__device__ C* cache_of(const Lines& lines, bool cached, int arrays) {
  if constexpr (std::is_same_v<Team, RowTeam>)
    return cached ? dynamic_shared<C>() + static_cast<std::int64_t>(threadIdx.y) * lines.n * arrays : nullptr;
  else
    return nullptr;
}

template <class T, bool kLog, class Team>
__global__ void softmax_kernel(T* out, const T* x, Lines lines, bool cached) {
  using C = Compute<T>;
  const Team team(lines);
  const std::int64_t start = team.active ? lines.start(team.line) : 0;
  const Line<T> line{x + start, cache_of<C, Team>(lines, cached, 1), team.stride};
  const reducing::Extreme<C, true> max;
  C top = max.identity();
  if (team.active)
    for (std::int64_t i = team.rank; i < lines.n; i += team.size) top = max.merge(top, line.first(i));
  top = team.reduce(top, [&](C a, C b) { return max.merge(a, b); });
  C sum = 0;
  if (team.active)
    for (std::int64_t i = team.rank; i < lines.n; i += team.size) {
      const C e = std::exp(line.again(i) - top);
      if (!kLog && line.cache) line.cache[i] = e;
      sum += e;
    }
  sum = team.reduce(sum, Plus());
  if (!team.active) return;
  const C scale = kLog ? std::log(sum) : C(1) / sum;
  for (std::int64_t i = team.rank; i < lines.n; i += team.size) {
    const C value = line.again(i);
    C y;
    if constexpr (kLog)
      y = (value - top) - scale;
    else
      y = (line.cache ? value : std::exp(value - top)) * scale;
    out[start + i * team.stride] = static_cast<T>(y);
  }
}

template <class T, bool kLog, class Team>
__global__ void softmax_backward_kernel(T* out, const T* grad, const T* y, Lines lines, bool cached) {
  using C = Compute<T>;
  const Team team(lines);
  const std::int64_t start = team.active ? lines.start(team.line) : 0;
  C* const cache = cache_of<C, Team>(lines, cached, 2);
  const Line<T> g{grad + start, cache, team.stride},
      result{y + start, cache ? cache + lines.n : nullptr, team.stride};
  C sum = 0;
  if (team.active)
    for (std::int64_t i = team.rank; i < lines.n; i += team.size) {
      const C value = g.first(i), at = result.first(i);
      sum += kLog ? value : value * at;
    }
  sum = team.reduce(sum, Plus());
  if (!team.active) return;
  for (std::int64_t i = team.rank; i < lines.n; i += team.size) {
    const C value = g.again(i), at = result.again(i);
    out[start + i * team.stride] = static_cast<T>(kLog ? value - std::exp(at) * sum : (value - sum) * at);
  }
}

// Adds the shared memory that caches `arrays` lines a team, if it fits.
template <class T, class Team>
bool cache_lines(Grid& grid, const Lines& lines, int arrays) {
  const std::int64_t bytes =
      lines.n * arrays * static_cast<std::int64_t>(grid.threads.y * sizeof(Compute<T>));
  if (!std::is_same_v<Team, RowTeam> || bytes > kCachedBytes) return false;
  grid.shared_bytes = static_cast<std::size_t>(bytes);
  return true;
}

}  // namespace

void softmax(NdArray& out, const NdArray& x, std::int64_t dim, bool log) {
  if (x.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  visit_floating(x.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    with_team(lines, [&]<class Team>(Grid grid) {
      const bool cached = cache_lines<T, Team>(grid, lines, 1);
      launch(out.device(), grid, log ? &softmax_kernel<T, true, Team> : &softmax_kernel<T, false, Team>,
             out.data_as<T>(), x.data_as<T>(), lines, cached);
    });
  });
}

void softmax_backward(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log) {
  if (y.numel() == 0) return;
  const Lines lines(y.sizes(), dim);
  visit_floating(y.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    with_team(lines, [&]<class Team>(Grid grid) {
      const bool cached = cache_lines<T, Team>(grid, lines, 2);
      launch(out.device(), grid,
             log ? &softmax_backward_kernel<T, true, Team> : &softmax_backward_kernel<T, false, Team>,
             out.data_as<T>(), grad.data_as<T>(), y.data_as<T>(), lines, cached);
    });
  });
}

void register_softmax() {
  kernels::softmax.set_cuda(&softmax);
  kernels::softmax_backward.set_cuda(&softmax_backward);
}

}  // namespace ebb::cuda
