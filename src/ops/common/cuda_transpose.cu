// Transposing copies through shared memory, so that both reads and writes are coalesced.
#include "kernel/convert.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/walk.h"
#include "ops/common/cuda_transpose.h"

namespace ebb::cuda {
namespace {

constexpr int kTileThreads = 32, kTileRows = 8;

template <class To, class From>
constexpr int kSide = sizeof(To) < 4 || sizeof(From) < 4 ? 64 : 32;

template <class To, class From>
__global__ void __launch_bounds__(kTileThreads* kTileRows)
    transpose_kernel(To* out, const From* x, const __grid_constant__ TransposePlan plan) {
  constexpr int S = kSide<To, From>;
  __shared__ To
      tile[S][S + (sizeof(To) < 4 ? 4 / sizeof(To) : 1)];  // the padding puts the next row at the next bank
  std::int64_t row, column, to, from;
  plan.tile(blockIdx.x, S, row, column, to, from);
  const int across = static_cast<int>(threadIdx.x), down = static_cast<int>(threadIdx.y);
  const std::int64_t rows = plan.rows - row, columns = plan.columns - column;
  const From* const in = x + from + row + column * plan.in_column;
  From value[S / kTileRows][S / kTileThreads];
#pragma unroll
  for (int i = 0; i < S / kTileRows; ++i)
#pragma unroll
    for (int k = 0; k < S / kTileThreads; ++k) {
      const int c = down + i * kTileRows, r = across + k * kTileThreads;
      if (c < columns && r < rows) value[i][k] = in[c * plan.in_column + r];
    }
#pragma unroll
  for (int i = 0; i < S / kTileRows; ++i)
#pragma unroll
    for (int k = 0; k < S / kTileThreads; ++k) {
      const int c = down + i * kTileRows, r = across + k * kTileThreads;
      if (c < columns && r < rows) tile[c][r] = convert<To>(value[i][k]);
    }
  __syncthreads();
  To* const result = out + to + row * plan.out_row + column;
#pragma unroll
  for (int i = 0; i < S / kTileRows; ++i)
#pragma unroll
    for (int k = 0; k < S / kTileThreads; ++k) {
      const int r = down + i * kTileRows, c = across + k * kTileThreads;
      if (c < columns && r < rows) result[r * plan.out_row + c] = tile[c][r];
    }
}

template <class To, class From>
bool transpose_as(NdArray& out, const NdArray& x, const ElementwisePlan<2>& walk) {
  TransposePlan plan;
  if (!plan_transpose(plan, walk, sizeof(To), sizeof(From), kSide<To, From>)) return false;
  launch(out.device(), {dim3(static_cast<unsigned>(plan.blocks)), dim3(kTileThreads, kTileRows)},
         &transpose_kernel<To, From>, out.address_as<To>(), x.address_as<From>(), plan);
  return true;
}

template <class To>
bool transpose_from(NdArray& out, const NdArray& x, const ElementwisePlan<2>& walk) {
  switch (x.dtype()) {
    case kFloat:
      return transpose_as<To, float>(out, x, walk);
    case kHalf:
      return transpose_as<To, Half>(out, x, walk);
    case kBFloat16:
      return transpose_as<To, BFloat16>(out, x, walk);
    default:
      return false;
  }
}

}  // namespace

bool transpose(NdArray& out, const NdArray& x, const ElementwisePlan<2>& walk) {
  if (out.dtype() == x.dtype()) {
    bool done = false;
    visit_bits(out.dtype(), [&]<class T> { done = transpose_as<T, T>(out, x, walk); });
    return done;
  }
  switch (out.dtype()) {
    case kFloat:
      return transpose_from<float>(out, x, walk);
    case kHalf:
      return transpose_from<Half>(out, x, walk);
    case kBFloat16:
      return transpose_from<BFloat16>(out, x, walk);
    default:
      return false;
  }
}

}  // namespace ebb::cuda
