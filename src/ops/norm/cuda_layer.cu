// The backward pass of layer_norm with one read of its inputs. A thread group computes dx row by row. Each of
// its threads processes the same columns in all rows, and accumulates the terms of these columns in the
// gradients of weight and bias. A second pass adds the sums of the blocks.
#include <ebb/core/visit.h>

#include "kernel/call/arguments.h"
#include "kernel/cuda/row.h"
#include "ops/norm/cuda.h"
#include "ops/norm/cuda_affine.h"
#include "ops/norm/norm_plan.h"

namespace ebb::cuda {
namespace {

using kernels::NormGrads;
using kernels::NormSaved;

constexpr int kColumns = 8;  // columns of a thread, with two sums for each column

// The number of threads of a multiprocessor, which registers limit, and the largest number of threads for one
// row.
template <class T>
constexpr int kResident = sizeof(T) == 8 ? 512 : 1024;

// Prefetches the next row into the L2 cache.
__device__ void prefetch(const void* address) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
  static_cast<void>(address);
#endif
}

template <class T>
struct LayerGradArgs {
  using C = Compute<T>;
  T* dx;
  const T *dy, *x, *weight, *more;  // the last two may be null; `more` is added to dx
  const C *mean, *rstd;
  PairSum<C>* partial;  // [blocks, n]; null if neither weight nor bias needs a gradient
  Lines lines;
  bool centred;
};

/// The values of one row that a thread processes; zeros for rows past the end.
template <class T>
struct LayerRow {
  using C = Compute<T>;
  using Part = RowPart<T, kColumns>;
  Packed<T, Part::kWidth> dy[Part::kUnits], x[Part::kUnits];
  C mean = 0, rstd = 0;

  __device__ LayerRow(const LayerGradArgs<T>& args, const Part& part, std::int64_t row, std::int64_t start) {
    const bool there = row < args.lines.count();
    part.load(args.dy + start, dy, there);
    part.load(args.x + start, x, there);
    if (there) {
      mean = args.mean[row];
      rstd = args.rstd[row];
    }
  }
};

/// Returns the sum of the group to each of its threads. Groups larger than a warp consist of whole warps and
/// use one barrier. Consecutive calls must alternate between two scratch arrays of kWarp elements.
template <class C>
__device__ PairSum<C> team_sum(PairSum<C> value, int size, PairSum<C>* scratch) {
  if (size <= kWarp) return shuffle_first(warp_reduce(value, Plus(), size), size);
  const unsigned lane = threadIdx.x % kWarp, warps = static_cast<unsigned>(size) / kWarp;
  value = warp_reduce(value, Plus());
  if (lane == 0) scratch[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = PairSum<C>{C(0), C(0)};
  if (lane < warps) value = scratch[lane];
  return shuffle_first(warp_reduce(value, Plus()));
}

template <class T, bool kVectors>
__global__ void __launch_bounds__(kResident<T>, 1)
    layer_norm_backward_kernel(const __grid_constant__ LayerGradArgs<T> args) {
  using C = Compute<T>;
  using Part = typename LayerRow<T>::Part;
  using Unit = typename Part::Unit;
  constexpr int V = Part::kWidth, kUnits = Part::kUnits;
  constexpr int kShared = kTeamBlock / 2;  // threads that pass their sums to other threads of the block
  __shared__ PairSum<C> scratch[2][kWarp];
  __shared__ PairSum<C> meeting[kColumns][kShared];
  const RowTeam team(args.lines);
  const Part part(team, args.lines.n, kVectors);
  const C share = 1 / static_cast<C>(args.lines.n);
  const std::int64_t rows = args.lines.count(), step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
  // The weight is loaded from the cache each time, to save registers.
  const auto weight_of = [&](int u) { return part.load(args.weight, u, args.weight != nullptr).vector(); };
  PairSum<C> total[kUnits][V] = {};
  int turn = 0;
  // All groups of a block iterate equally often, because they share barriers and shuffles.
  const std::int64_t apart_rows = step * args.lines.n;
  std::int64_t start = team.line * args.lines.n;
  for (std::int64_t row = team.line; row - threadIdx.y < rows; row += step, start += apart_rows) {
    const LayerRow<T> at(args, part, row, start);
    if (kVectors && row + step < rows)
#pragma unroll
      for (int u = 0; u < kUnits; ++u)
        if (part.has(u, 0)) {
          prefetch(args.dy + start + apart_rows + part.index(u, 0));
          prefetch(args.x + start + apart_rows + part.index(u, 0));
        }
    PairSum<C> sum{C(0), C(0)};
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const Unit grads = at.dy[u].vector(), values = at.x[u].vector(), weight = weight_of(u);
#pragma unroll
      for (int j = 0; j < V; ++j) {
        const C dy = static_cast<C>(grads.at[j]), apart = static_cast<C>(values.at[j]) - at.mean;
        const C g = args.weight ? dy * static_cast<C>(weight.at[j]) : dy;
        sum = sum + PairSum<C>{g, g * apart};
        total[u][j] = total[u][j] + PairSum<C>{dy * apart * at.rstd, dy};
      }
    }
    sum = team_sum(sum, team.size, scratch[turn]);
    turn ^= 1;
    if (row >= rows) continue;
    const C average = args.centred ? sum.first * share : C(0), slope = sum.second * at.rstd * at.rstd * share;
    T* const dx = args.dx + start;
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const Unit grads = at.dy[u].vector(), values = at.x[u].vector(), weight = weight_of(u),
                 more = part.load(args.more + start, u, args.more != nullptr).vector();
      Unit result;
#pragma unroll
      for (int j = 0; j < V; ++j) {
        const C dy = static_cast<C>(grads.at[j]), apart = static_cast<C>(values.at[j]) - at.mean;
        const C g = args.weight ? dy * static_cast<C>(weight.at[j]) : dy;
        result.at[j] = static_cast<T>((g - average - apart * slope) * at.rstd + static_cast<C>(more.at[j]));
      }
      part.store(dx, u, result);
    }
  }
  if (!args.partial) return;
  // Adds the sums of the block's groups pairwise. The number of groups is a power of 2.
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    const unsigned place = (threadIdx.y % half) * blockDim.x + threadIdx.x;
    if (threadIdx.y >= half && threadIdx.y < 2 * half)
#pragma unroll
      for (int i = 0; i < kColumns; ++i) meeting[i][place] = total[i / V][i % V];
    __syncthreads();
    if (threadIdx.y < half)
#pragma unroll
      for (int i = 0; i < kColumns; ++i) total[i / V][i % V] = total[i / V][i % V] + meeting[i][place];
    __syncthreads();
  }
  if (threadIdx.y != 0) return;
  PairSum<C>* const to = args.partial + blockIdx.x * args.lines.n;
#pragma unroll
  for (int u = 0; u < kUnits; ++u)
#pragma unroll
    for (int j = 0; j < V; ++j)
      if (part.has(u, j)) to[part.index(u, j)] = total[u][j];
}

template <class T>
bool backward_as(NormGrads& out, const NdArray& dy, const NormSaved& in, const Lines& lines, bool centred) {
  using C = Compute<T>;
  if (lines.n > kColumns * kResident<T>) return false;
  const LayerPlan plan =
      plan_layer_backward(lines.count(), lines.n, kColumns, kResident<T>, multiprocessors(dy.device()));
  LayerGradArgs<T> args{out.dx.address_as<T>(),
                        dy.address_as<T>(),
                        in.x.address_as<T>(),
                        data_or_null<T>(in.weight),
                        data_or_null<T>(in.more),
                        in.mean.address_as<C>(),
                        in.rstd.address_as<C>(),
                        nullptr,
                        lines,
                        centred};
  const bool vectors = rows_are_vectors<T>(lines.n, args.dx, args.dy, args.x, args.weight, args.more);
  const AffineSums<T> sums{data_or_null<T>(out.dweight), data_or_null<T>(out.dbias)};
  NdArray scratch;
  if (sums.dweight || sums.dbias) {
    scratch = NdArray::empty({plan.blocks, lines.n, 2}, dtype_of<C>(), dy.device());
    args.partial = reinterpret_cast<PairSum<C>*>(scratch.address_as<C>());
  }
  launch(dy.device(),
         {dim3(grid_blocks(plan.blocks)),
          dim3(static_cast<unsigned>(plan.team), static_cast<unsigned>(plan.teams))},
         vectors ? &layer_norm_backward_kernel<T, true> : &layer_norm_backward_kernel<T, false>, args);
  if (args.partial)
    merge_pieces(dy.device(), PiecesArgs<AffineSums<T>>{sums, args.partial, plan.blocks, lines.n});
  return true;
}

}  // namespace

bool layer_norm_backward_one_pass(NormGrads& out, const NdArray& dy, const NormSaved& in, const Lines& lines,
                                  bool centred) {
  bool done = false;
  visit_floating(dy.dtype(), "layer_norm_backward",
                 [&]<class T> { done = backward_as<T>(out, dy, in, lines, centred); });
  return done;
}

}  // namespace ebb::cuda
