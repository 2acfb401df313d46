// The distribution of interleaved lines (the elements along the reduced dimension) over threads, each of
// which loads vectors of V neighbouring lines, and reductions over the threads of a line.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/lines.h"

namespace ebb::cuda {

/// The elements of V neighbouring columns that one thread processes, in arrays of T.
template <class T, int V>
struct ColumnPart {
  // The number of partial results of a block: one for each unit and warp.
  static constexpr int kPartials = V > 1 ? kColumnBlock : kColumnThreads;
  using Unit = Packed<T, V>;

  int thread, rank, units;   // `units` is the number of elements in each line that the thread processes
  std::int64_t first, step;  // the offset of the first such element, and the distance between them

  __device__ ColumnPart(const ColumnPlan& plan, std::int64_t n)
      : thread(static_cast<int>(threadIdx.x)), rank(plan.rank(thread)), units(0), first(0) {
    const std::int64_t unit = plan.unit(blockIdx.x, thread), row = plan.inner * V;
    step = plan.ranks * row;
    if (unit >= plan.units || rank >= n) return;
    units = static_cast<int>((n - rank + plan.ranks - 1) / plan.ranks);
    first = plan.start(unit, n) + rank * row;
  }
  __device__ bool has(int u) const { return u < units; }
  template <class P>
  __device__ P* at(P* data, int u) const {
    return data + first + u * step;
  }
  __device__ Unit load(const T* from, int u) const { return Unit::load(at(from, u)); }
  __device__ void store(T* to, int u, const Vector<T, V>& values) const { store_vector(at(to, u), values); }

  /// Returns the merged values of the V lines of a unit to each of the unit's threads. All threads of the
  /// block must call it.
  template <class C, class Merge>
  __device__ void reduce(const ColumnPlan& plan, C (&value)[V], const Merge& merge) const {
    __shared__ Vector<C, V> scratch[kPartials];
    const int of_warp = plan.ranks_of_a_warp(), warps = plan.warps(), place = plan.place(thread);
    const int side = plan.across * plan.apart;
    for (int delta = of_warp / 2; delta > 0; delta /= 2)
#pragma unroll
      for (int j = 0; j < V; ++j)
        value[j] = merge(value[j], shuffle_down(value[j], static_cast<unsigned>(delta * plan.across),
                                                of_warp * plan.across));
    if ((rank & (of_warp - 1)) == 0) {
      Vector<C, V>& mine = scratch[rank / of_warp * side + place];
#pragma unroll
      for (int j = 0; j < V; ++j) mine.at[j] = value[j];
    }
    __syncthreads();
#pragma unroll 1
    for (int w = 0; w < warps; ++w) {
      const Vector<C, V> other = scratch[w * side + place];
#pragma unroll
      for (int j = 0; j < V; ++j) value[j] = w == 0 ? other.at[j] : merge(value[j], other.at[j]);
    }
    __syncthreads();
  }
};

inline Grid column_grid(const ColumnPlan& plan) {
  return {dim3(grid_blocks(plan.blocks)), dim3(static_cast<unsigned>(plan.threads()))};
}

}  // namespace ebb::cuda
