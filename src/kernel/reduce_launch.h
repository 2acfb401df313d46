// The assignment of a reduction to the threads of a device. It is a pure function of the plan, of the input's
// alignment and of the device's size.
#pragma once

#include "kernel/elementwise_plan.h"
#include "kernel/grid.h"
#include "kernel/reduce_plan.h"

namespace ebb {

constexpr int kReduceDims = 16;
constexpr int kReduceThreads = 256;
constexpr int kReduceTeam = 256;  // threads per output, at most
constexpr int kReduceLoads = 4;   // vectors that a thread has in flight
// Rows up to this length use only one warp each if there are many rows. The final merge then has fewer steps
// and needs no barrier. Longer rows use more threads, because longer sums of one thread would lose accuracy.
constexpr std::int64_t kWarpRow = 8192;
// The number of concurrent blocks per multiprocessor, for which the compiler limits the kernels' registers.
// Kernels that need more registers have kWideReduceBlocks.
constexpr int kReduceBlocks = 4, kWideReduceBlocks = 2;

/// Merged dimensions for a device. Positions are in row-major order: the last dimension is the innermost.
struct DeviceDims {
  int dims = 0;
  bool small = true;  // every position fits 31 bits
  std::int64_t sizes[kReduceDims];
  FastDivisor divisors[kReduceDims];
  std::int64_t in_strides[kReduceDims];
  std::int64_t out_strides[kReduceDims];

  DeviceDims() = default;
  /// Positions count units of `width` elements of the last dimension.
  DeviceDims(const SmallVector<ReduceDim, 6>& from, std::int64_t count, int width = 1) {
    EBB_CHECK(from.size() <= kReduceDims, "reduction: the input's strides are too irregular: more than ",
              kReduceDims, " dimensions remain after merging. Call .contiguous() on the input.");
    dims = static_cast<int>(from.size());
    small = count <= INT32_MAX;
    for (int d = 0; d < dims; ++d) {
      const int unit = d + 1 == dims ? width : 1;
      sizes[d] = ceil_div(from[d].size, unit);
      if (small) divisors[d] = FastDivisor(static_cast<std::uint32_t>(sizes[d]));
      in_strides[d] = from[d].in_stride * unit;
      out_strides[d] = from[d].out_stride * unit;
    }
  }

  /// Computes the element offsets `in` and `out` of the position `place` in the input and in the output.
  EBB_HD void offsets(std::int64_t place, std::int64_t& in, std::int64_t& out) const {
    in = out = 0;
    for (int d = dims - 1; d >= 0; --d) {
      std::int64_t next = 0;
      if (d > 0) next = small ? divisors[d].divide(static_cast<std::uint32_t>(place)) : place / sizes[d];
      const std::int64_t at = place - next * sizes[d];
      place = next;
      in += at * in_strides[d];
      out += at * out_strides[d];
    }
  }
  EBB_HD std::int64_t in_offset(std::int64_t place) const {
    if (dims <= 1) return dims == 0 ? 0 : place * in_strides[0];
    std::int64_t in, out;
    offsets(place, in, out);
    return in;
  }
};

struct ReduceLaunch {
  bool columns = false;  // the outputs are contiguous in memory, the reduced elements are not
  // In the row kernel: true if the reduced elements of an output form one contiguous run, which may have any
  // alignment.
  bool run = false;
  int width = 1;  // elements per vector
  /// In the row kernel: threads per output, and outputs per block. In the column kernel: units of `width`
  /// columns per block, and rows that a block reads in parallel.
  int threads = 1, others = 1;
  std::int64_t pieces = 1, piece = 0;  // number of chunks of the reduced elements, and elements per chunk
  std::int64_t blocks = 0;
  /// The threads and outputs of the second pass, which merges the chunks of each output.
  int piece_threads = 1, piece_outputs = 1;
  std::int64_t piece_blocks = 0;
};

namespace detail {

// Teams that fit into a warp share a block. Larger teams need the block's barriers, so each such team has its
// own block.
constexpr int teams_of_a_block(int threads) { return threads <= 32 ? kReduceThreads / threads : 1; }

inline bool strides_divide(const SmallVector<ReduceDim, 6>& dims, std::size_t count, int width) {
  for (std::size_t d = 0; d < count; ++d)
    if (dims[d].in_stride % width != 0) return false;
  return true;
}

inline bool starts_together(const SmallVector<ReduceDim, 6>& dims) {
  return !dims.empty() && dims.back().in_stride == 1;
}

}  // namespace detail

/// Returns the number of chunks, at most `most`, into which each of `jobs` jobs is divided. The device runs
/// `at_once` blocks concurrently, one wave. The result is chosen so that the chunks nearly fill a whole
/// number of waves, at most four. If the jobs alone fill four waves, they are not divided.
constexpr std::int64_t whole_waves(std::int64_t jobs, std::int64_t at_once, std::int64_t most) {
  constexpr int kWaves = 4;
  std::int64_t best = 1;
  if (jobs >= kWaves * at_once) return best;
  for (int waves = 1; waves <= kWaves; ++waves) {
    const std::int64_t whole = waves * at_once / jobs, pieces = whole < most ? whole : most;
    // The time is proportional to waves / pieces. More chunks also cost time, in the second pass and because
    // they are shorter, so they are used only if they save a tenth of the time.
    if (pieces > best &&
        10 * pieces * ceil_div(jobs * best, at_once) >= 11 * best * ceil_div(jobs * pieces, at_once))
      best = pieces;
  }
  return best;
}

/// Plans a launch. `address` is the input's address, and `size` the size of an element in bytes. row_width
/// and column_width are the vector widths of the row kernel and the column kernel. blocks_at_once is the
/// number of concurrent blocks per multiprocessor.
inline ReduceLaunch plan_reduce_launch(const ReducePlan& plan, std::uintptr_t address, int size,
                                       int row_width, int column_width, int multiprocessors,
                                       int blocks_at_once = kReduceBlocks) {
  ReduceLaunch launch;
  const bool rows = detail::starts_together(plan.reduced);
  launch.columns = !rows && detail::starts_together(plan.kept) && plan.kept.back().size >= 8;
  const auto aligned = [&](int width) {
    return address % (static_cast<std::uintptr_t>(width) * static_cast<std::uintptr_t>(size)) == 0;
  };
  const std::int64_t at_once = blocks_at_once * std::int64_t{multiprocessors};
  std::int64_t jobs, least;
  if (launch.columns) {
    if (aligned(column_width) && plan.kept.back().size % column_width == 0 &&
        detail::strides_divide(plan.kept, plan.kept.size() - 1, column_width) &&
        detail::strides_divide(plan.reduced, plan.reduced.size(), column_width))
      launch.width = column_width;
    const std::int64_t units = plan.outputs / launch.width, deep = ceil_div(plan.count, kReduceLoads);
    launch.threads = covering_power(units, 1, kReduceThreads / covering_power(deep, 1, 8));
    launch.others = covering_power(deep, 1, kReduceThreads / launch.threads);
    jobs = ceil_div(units, launch.threads);
    least = 8 * kReduceLoads * std::int64_t{launch.others};
  } else {
    launch.run = rows && plan.reduced.size() == 1 && plan.count >= 2 * row_width;
    if (launch.run || (rows && aligned(row_width) && plan.reduced.back().size % row_width == 0 &&
                       detail::strides_divide(plan.kept, plan.kept.size(), row_width) &&
                       detail::strides_divide(plan.reduced, plan.reduced.size() - 1, row_width)))
      launch.width = row_width;
    const bool fills_by_warps = plan.outputs >= 2 * detail::teams_of_a_block(32) * at_once;
    launch.threads = covering_power(ceil_div(plan.count, kReduceLoads * launch.width), 1,
                                    fills_by_warps && plan.count <= kWarpRow ? 32 : kReduceTeam);
    launch.others = detail::teams_of_a_block(launch.threads);
    jobs = ceil_div(plan.outputs, launch.others);
    least = 8192;
  }
  // Divides the reduced elements into chunks of whole vectors, so that the blocks form whole waves. Chunks
  // have at least `least` elements, so that the division saves more than the second pass costs.
  launch.piece = plan.count;
  if (plan.count >= 2 * least) {
    const std::int64_t pieces = whole_waves(jobs, at_once, plan.count / least);
    if (pieces > 1) launch.piece = ceil_div(ceil_div(plan.count, pieces), 64) * 64;
    launch.pieces = ceil_div(plan.count, launch.piece);
  }
  launch.blocks =
      launch.columns ? jobs * launch.pieces : ceil_div(plan.outputs * launch.pieces, launch.others);
  launch.piece_threads = covering_power(launch.pieces, 1, kReduceThreads);
  launch.piece_outputs = detail::teams_of_a_block(launch.piece_threads);
  launch.piece_blocks = ceil_div(plan.outputs, launch.piece_outputs);
  return launch;
}

}  // namespace ebb
