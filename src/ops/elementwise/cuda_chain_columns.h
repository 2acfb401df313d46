// Parts of fused kernels that reduce columns of elementwise results (compile/device_program.cpp). Adjacent
// threads process adjacent columns, so that loads and stores are coalesced. The order of the reduction
// depends only on sizes.
#pragma once

#include "ops/elementwise/cuda_chain_rows.h"

namespace ebb::cuda {

/// One thread of a reduction of columns. In the first launch it reduces V adjacent columns over one chunk of
/// the rows. If there are several chunks, a second launch follows, in which it merges the partial results of
/// one column.
template <int V, int kThreads>
struct ColumnTeam {
  const RowSpan& span;  // `team` adjacent threads process adjacent columns; the pieces are chunks of rows
  std::uint32_t thread, across, down, rank;
  std::int64_t column, piece;

  __device__ ColumnTeam(const RowSpan& all, std::uint32_t block, std::uint32_t at)
      : span(all),
        thread(at),
        across(static_cast<std::uint32_t>(all.team)),
        down(kThreads / across),
        rank(at / across) {
    const std::int64_t pieces = span.merges != 0 ? 1 : span.pieces, tile = block / pieces;
    piece = block - tile * pieces;
    column = (tile * across + (at & (across - 1))) * (span.merges != 0 ? 1 : V);
  }

  /// Ends a chunk: merges the results of the threads. Stores the result in to.out if there is only one chunk,
  /// otherwise in to.partial.
  template <class F>
  __device__ void end(const Reduction<F>& to, const Lanes<F, V>& lanes) const {
#pragma unroll
    for (int j = 0; j < V; ++j) {
      const auto all = merged<kThreads>(to.formula, lanes.at[j], thread, rank, down, across);
      if (rank != 0 || column >= span.length) continue;
      if (span.pieces == 1)
        to.out[column + j] = to.formula.finish(all);
      else
        to.partial[piece * span.length + column + j] = all;
    }
  }

  /// Merges the partial results of a column in a fixed order.
  template <class F>
  __device__ void merge(const Reduction<F>& to) const {
    typename F::Acc total = to.formula.identity();
    if (column < span.length)
      for (std::int64_t p = rank; p < span.pieces; p += down)
        total = to.formula.merge(total, to.partial[p * span.length + column]);
    const auto all = merged<kThreads>(to.formula, total, thread, rank, down, across);
    if (rank == 0 && column < span.length) to.out[column] = to.formula.finish(all);
  }
};

/// Runs one thread. In the first launch it processes one vector of columns in every `team.down`-th row of its
/// chunk.
template <int V, int kThreads, class Chain>
__device__ void run_columns(const Chain& chain, std::uint32_t block, std::uint32_t thread) {
  const RowSpan& span = chain.span;
  const ColumnTeam<V, kThreads> team(span, block, thread);
  if (span.merges != 0) return chain.merge(team);
  auto totals = chain.totals();
  if (team.column < span.length) {
    const std::int64_t from = team.piece * span.piece, left = span.rows - from;
    const std::int64_t end = from + (left < span.piece ? left : span.piece);
    for (std::int64_t row = from + team.rank; row < end; row += team.down)
      chain.template run<V>(row * span.length + team.column, totals);
  }
  chain.end(team, totals);
}

}  // namespace ebb::cuda
