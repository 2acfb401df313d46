// Teams: the threads that work on one line of an array together. Where lines are contiguous a team is a row
// of a block; where they interleave, 32 neighbouring lines share a block, so that reads stay together.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/lines.h"

namespace ebb::cuda {

constexpr int kTeamLanes = 8;  // threads that share one of 32 interleaved lines

/// Lines that are contiguous: blockDim = (threads of a team, teams of a block).
struct RowTeam {
  std::int64_t line, stride = 1;
  int rank, size;
  bool active;

  __device__ explicit RowTeam(const Lines& lines)
      : line(static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y),
        rank(static_cast<int>(threadIdx.x)),
        size(static_cast<int>(blockDim.x)),
        active(line < lines.count()) {}

  /// Every thread of the team gets the merged value. All threads of the block must call, inactive ones too.
  template <class T, class Merge>
  __device__ T reduce(T value, const Merge& merge) const {
    __shared__ T scratch[kWarp];
    if (size > kWarp) return block_reduce(value, scratch, merge, rank, size);
    value = warp_reduce(value, merge, size);
    return shuffle_first(value, size);
  }
  static dim3 threads(const Lines& lines) {
    const int size = covering_power((lines.n + 3) / 4, 4, 512);
    return dim3(static_cast<unsigned>(size), static_cast<unsigned>(size <= kWarp ? 128 / size : 1));
  }
  static dim3 blocks(const Lines& lines) {
    const std::int64_t teams = threads(lines).y;
    return dim3(static_cast<unsigned>((lines.count() + teams - 1) / teams));
  }
};

/// Interleaved lines: blockDim = (32 lines, kTeamLanes).
struct ColumnTeam {
  std::int64_t line, stride;
  int rank, size = kTeamLanes;
  bool active;

  __device__ explicit ColumnTeam(const Lines& lines)
      : line(static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x),
        stride(lines.inner),
        rank(static_cast<int>(threadIdx.y)),
        active(line < lines.count()) {}

  template <class T, class Merge>
  __device__ T reduce(T value, const Merge& merge) const {
    __shared__ T scratch[kTeamLanes][kWarp];
    scratch[rank][threadIdx.x] = value;
    __syncthreads();
    T total = scratch[0][threadIdx.x];
    for (int lane = 1; lane < kTeamLanes; ++lane) total = merge(total, scratch[lane][threadIdx.x]);
    __syncthreads();
    return total;
  }
  static dim3 threads(const Lines&) { return dim3(kWarp, kTeamLanes); }
  static dim3 blocks(const Lines& lines) {
    return dim3(static_cast<unsigned>((lines.count() + kWarp - 1) / kWarp));
  }
};

/// Calls f<Team>(grid) with the team that suits the lines.
template <class F>
void with_team(const Lines& lines, const F& f) {
  if (lines.inner == 1)
    f.template operator()<RowTeam>(Grid{RowTeam::blocks(lines), RowTeam::threads(lines)});
  else
    f.template operator()<ColumnTeam>(Grid{ColumnTeam::blocks(lines), ColumnTeam::threads(lines)});
}

}  // namespace ebb::cuda
