// Parts of fused kernels that reduce rows of elementwise results (compile/device_program.cpp). Thread groups
// reduce each row without atomics, so the order depends only on sizes and on the alignment of the arrays.
#pragma once

#include "kernel/reducers.h"
#include "ops/elementwise/cuda_chain.h"

namespace ebb::cuda {

/// The division of `rows` rows of `length` elements. Each row has `pieces` chunks of at most `piece`
/// elements. A team, a group of `team` threads of one block, reduces one chunk. If a row has several chunks,
/// a second launch merges their partial results.
struct RowSpan {
  std::int64_t rows, length, pieces, piece;
  std::int64_t team;      // the number of threads of a team, a power of 2
  std::int64_t head;      // the number of elements before the first vector of the arrays
  std::uint64_t aligned;  // as in ChainSpan
  std::int64_t merges;    // 1 in the second launch
};

/// A reducer of kernel/reducers.h, and the arrays of its results.
template <class F>
struct Reduction {
  alignas(8) F formula;
  typename F::Out* out;
  typename F::Acc* partial;
};

/// The accumulators of one thread: independent parts of a row, or adjacent columns.
template <class F, int kLanes = 4>
struct Lanes {
  typename F::Acc at[kLanes];
  EBB_HD Lanes(const F& formula) {
#pragma unroll
    for (int l = 0; l < kLanes; ++l) at[l] = formula.identity();
  }
};

/// Accumulates a vector. Its elements are bit-cast to F::In, because some dtypes share one reducer.
template <class F, int kLanes, class T, int V>
EBB_HD void take(const F& formula, Lanes<F, kLanes>& lanes, const Vector<T, V>& value) {
#pragma unroll
  for (int j = 0; j < V; ++j) {
    typename F::Acc& lane = lanes.at[j % kLanes];
    lane = formula.merge(lane, formula.load(__builtin_bit_cast(typename F::In, value.at[j]), 0));
  }
}

/// Merges the totals of `count` threads of a block whose indices are `step` apart. Only the thread of rank 0
/// may use the returned value.
template <int kThreads, class F>
__device__ typename F::Acc merged(const F& formula, const typename F::Acc& total, std::uint32_t thread,
                                  std::uint32_t rank, std::uint32_t count, std::uint32_t step) {
  __shared__ typename F::Acc scratch[kThreads];
  scratch[thread] = total;
  for (std::uint32_t half = count / 2; half > 0; half /= 2) {
    __syncthreads();
    if (rank < half) scratch[thread] = formula.merge(scratch[thread], scratch[thread + half * step]);
  }
  const typename F::Acc all = scratch[thread];
  __syncthreads();  // the next reduction may use the same scratch memory
  return all;
}

/// One thread of a team. In the first launch the team reduces one chunk of a row; in the second launch it
/// merges the partial results of all chunks of a row.
template <int kThreads>
struct Team {
  const RowSpan& span;
  std::uint32_t thread, threads, rank;
  std::int64_t job;

  __device__ Team(const RowSpan& all, std::uint32_t block, std::uint32_t at)
      : span(all),
        thread(at),
        threads(static_cast<std::uint32_t>(all.team)),
        rank(at & (threads - 1)),
        job(std::int64_t{block} * (kThreads / threads) + at / threads) {}

  /// Ends a chunk: merges the results of the threads. Stores the result in to.out if a row has only one
  /// chunk, otherwise in to.partial.
  template <class F>
  __device__ void end(const Reduction<F>& to, const Lanes<F>& lanes) const {
    const F& f = to.formula;
    const auto all =
        merged<kThreads>(f, f.merge(f.merge(lanes.at[0], lanes.at[1]), f.merge(lanes.at[2], lanes.at[3])),
                         thread, rank, threads, 1);
    if (rank != 0 || job >= span.rows * span.pieces) return;
    if (span.pieces == 1)
      to.out[job] = f.finish(all);
    else
      to.partial[job] = all;
  }

  /// Merges the partial results of a row in a fixed order.
  template <class F>
  __device__ void merge(const Reduction<F>& to) const {
    typename F::Acc total = to.formula.identity();
    if (job < span.rows)
      for (std::int64_t p = rank; p < span.pieces; p += threads)
        total = to.formula.merge(total, to.partial[job * span.pieces + p]);
    const auto all = merged<kThreads>(to.formula, total, thread, rank, threads, 1);
    if (rank == 0 && job < span.rows) to.out[job] = to.formula.finish(all);
  }
};

/// Runs one thread. In the first launch it processes every `team.threads`-th vector of the team's chunk, and
/// every `team.threads`-th of the chunk's elements outside of the vectors.
template <int V, int kThreads, class Chain>
__device__ void run_rows(const Chain& chain, std::uint32_t block, std::uint32_t thread) {
  const RowSpan& span = chain.span;
  const Team<kThreads> team(span, block, thread);
  if (span.merges != 0) return chain.merge(team);
  auto totals = chain.totals();
  if (team.job < span.rows * span.pieces) {
    const std::int64_t row = span.pieces == 1 ? team.job : team.job / span.pieces;
    const std::int64_t from = (team.job - row * span.pieces) * span.piece, left = span.length - from;
    const std::int64_t begin = row * span.length + from, n = left < span.piece ? left : span.piece;
    std::int64_t head = (span.head - begin) & (V - 1);
    if (head > n) head = n;
    const std::int64_t units = (n - head) / V;
    for (std::int64_t i = team.rank; i < units; i += team.threads)
      chain.template run<V>(begin + head + i * V, totals);
    if constexpr (V > 1) {
      for (std::int64_t i = team.rank; i < n - units * V; i += team.threads)
        chain.template run<1>(begin + (i < head ? i : i + units * V), totals);
    }
  }
  chain.end(team, totals);
}

}  // namespace ebb::cuda
