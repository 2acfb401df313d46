// A thread block that works on one matrix.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "ops/linalg/decomposition_kernels.h"

#include <algorithm>

namespace ebb::cuda {

constexpr int kBlockThreads = 256;

/// The position of a thread in its block.
struct Block {
  int thread, threads, lane, warp, warps;
  __device__ Block()
      : thread(static_cast<int>(threadIdx.x)),
        threads(static_cast<int>(blockDim.x)),
        lane(thread % kWarp),
        warp(thread / kWarp),
        warps(threads / kWarp) {}
};

/// Returns a grid with one block for each of `count` matrices. The number of threads of a block is a power of
/// 2 that grows with `lines`, the number of rows or columns.
inline Grid block_grid(std::int64_t count, std::int64_t lines) {
  int threads = kWarp;
  while (threads < kBlockThreads && threads < 2 * lines) threads *= 2;
  const std::int64_t most = std::int64_t{1} << 30;
  return {dim3(static_cast<unsigned>(std::min(count, most))), dim3(static_cast<unsigned>(threads))};
}

}  // namespace ebb::cuda
