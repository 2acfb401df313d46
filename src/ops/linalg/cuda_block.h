// A block of threads that works on one matrix.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "ops/linalg/batch.h"

#include <algorithm>

namespace ebb::cuda {

constexpr int kBlockThreads = 256;

/// Where a thread stands.
struct Block {
  int thread, threads, lane, warp, warps;
  __device__ Block()
      : thread(static_cast<int>(threadIdx.x)),
        threads(static_cast<int>(blockDim.x)),
        lane(thread % kWarp),
        warp(thread / kWarp),
        warps(threads / kWarp) {}
};

/// A block a matrix, of as many threads (a power of 2) as `lines` rows or columns keep busy.
inline Grid block_grid(std::int64_t count, std::int64_t lines) {
  int threads = kWarp;
  while (threads < kBlockThreads && threads < 2 * lines) threads *= 2;
  const std::int64_t most = std::int64_t{1} << 30;
  return {dim3(static_cast<unsigned>(std::min(count, most))), dim3(static_cast<unsigned>(threads))};
}

}  // namespace ebb::cuda
