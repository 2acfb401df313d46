// Running merges along lines: a block a contiguous line, tile by tile with a carry; a thread a line where
// they interleave.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/lines.h"

namespace ebb::cuda {

// A functor `Op` has: Acc; Acc load(std::int64_t line_start, std::int64_t i) for the i-th element in the
// order of the scan; Acc merge(Acc before, Acc next); void store(std::int64_t line_start, std::int64_t i,
// Acc).

constexpr int kScanThreads = 256;

template <class Op>
__global__ void __launch_bounds__(kScanThreads) scan_rows_kernel(const __grid_constant__ Op op, Lines lines) {
  using Acc = typename Op::Acc;
  __shared__ Acc warps[kScanThreads / kWarp];
  __shared__ Acc carried;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const std::int64_t start = lines.start(blockIdx.x);
  for (std::int64_t tile = 0; tile < lines.n; tile += kScanThreads) {
    const std::int64_t i = tile + thread;
    // Lanes past the end repeat the last element; nothing of theirs is stored or reaches those before.
    Acc value = op.load(start, i < lines.n ? i : lines.n - 1);
    for (int delta = 1; delta < kWarp; delta *= 2) {
      const Acc before = shuffle_up(value, static_cast<unsigned>(delta));
      if (lane >= delta) value = op.merge(before, value);
    }
    if (lane == kWarp - 1) warps[warp] = value;
    __syncthreads();
    Acc before = warps[0];
    for (int w = 1; w < warp; ++w) before = op.merge(before, warps[w]);
    if (warp > 0) value = op.merge(before, value);
    if (tile > 0) value = op.merge(carried, value);
    if (i < lines.n) op.store(start, i, value);
    __syncthreads();
    if (thread == kScanThreads - 1) carried = value;
    __syncthreads();
  }
}

template <class Op>
__global__ void __launch_bounds__(kScanThreads)
    scan_columns_kernel(const __grid_constant__ Op op, Lines lines) {
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (line >= lines.count()) return;
  const std::int64_t start = lines.start(line);
  typename Op::Acc value = op.load(start, 0);
  op.store(start, 0, value);
  for (std::int64_t i = 1; i < lines.n; ++i) {
    value = op.merge(value, op.load(start, i));
    op.store(start, i, value);
  }
}

template <class Op>
void scan_lines(Device device, const Op& op, const Lines& lines) {
  if (lines.inner == 1)
    launch(device, {dim3(static_cast<unsigned>(lines.outer)), dim3(kScanThreads)}, &scan_rows_kernel<Op>, op,
           lines);
  else
    launch_independent(device, grid_for(lines.count(), kScanThreads), &scan_columns_kernel<Op>, op, lines);
}

}  // namespace ebb::cuda
