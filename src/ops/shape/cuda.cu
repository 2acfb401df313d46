// The device kernels join (cat and stack) and triangle (tril and triu). join uses one launch for all
// contiguous inputs, and one copy for each other input.
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/cuda/walk.h"
#include "ops/common/kernels.h"
#include "ops/shape/join_plan.h"
#include "ops/shape/kernels.h"

#include <algorithm>

namespace ebb::cuda {
namespace {

template <class Unit>
__global__ void __launch_bounds__(kJoinThreads) join_kernel(const __grid_constant__ JoinPlan plan) {
  const int piece = plan.piece_of(blockIdx.x);
  const Unit* const from = reinterpret_cast<const Unit*>(plan.from[piece]);
  Unit* const to = reinterpret_cast<Unit*>(plan.out);
  const std::uint32_t units = plan.units[piece];
  const std::uint32_t first = (blockIdx.x - plan.blocks[piece]) * (kJoinThreads * kJoinLoads) + threadIdx.x;
  Unit value[kJoinLoads];
#pragma unroll
  for (int k = 0; k < kJoinLoads; ++k)
    if (first + k * kJoinThreads < units) value[k] = from[first + k * kJoinThreads];
#pragma unroll
  for (int k = 0; k < kJoinLoads; ++k)
    if (first + k * kJoinThreads < units) to[plan.place(piece, first + k * kJoinThreads)] = value[k];
}

void launch_join(Device device, const JoinPlan& plan) {
  const Grid grid{dim3(plan.blocks[plan.count]), dim3(kJoinThreads)};
  switch (plan.unit) {
    case 16:
      return launch_independent(device, grid, &join_kernel<Vector<std::uint32_t, 4>>, plan);
    case 8:
      return launch_independent(device, grid, &join_kernel<std::uint64_t>, plan);
    case 4:
      return launch_independent(device, grid, &join_kernel<std::uint32_t>, plan);
    case 2:
      return launch_independent(device, grid, &join_kernel<std::uint16_t>, plan);
    default:
      return launch_independent(device, grid, &join_kernel<std::uint8_t>, plan);
  }
}

}  // namespace

void join(NdArray& out, const std::vector<NdArray>& pieces, std::int64_t dim) {
  const auto at_dim = static_cast<std::size_t>(dim);
  std::int64_t rows = 1, inner = element_size(out.dtype());
  for (std::size_t d = 0; d < at_dim; ++d) rows *= out.sizes()[d];
  for (std::size_t d = at_dim + 1; d < out.sizes().size(); ++d) inner *= out.sizes()[d];
  const std::int64_t pitch = out.sizes()[at_dim] * inner;
  const auto slice = [&](std::int64_t begin, std::int64_t length) {
    DimVector sizes(out.sizes());
    sizes[at_dim] = length;
    return out.as_strided(sizes, out.strides(), out.offset() + begin * out.strides()[at_dim]);
  };
  std::vector<JoinRun> runs;
  std::int64_t begin = 0;
  for (const NdArray& piece : pieces) {
    const std::int64_t length = piece.sizes()[at_dim];
    const JoinRun run{piece.address_as<const char>(), begin * inner, length * inner};
    if (out.is_contiguous() && piece.is_contiguous() && run.width <= INT32_MAX / rows) {
      runs.push_back(run);
    } else {
      NdArray place = slice(begin, length);
      copy(place, piece);
    }
    begin += length;
  }
  for (std::size_t first = 0; first < runs.size(); first += kJoinPieces) {
    const std::size_t count = std::min<std::size_t>(kJoinPieces, runs.size() - first);
    launch_join(out.device(),
                plan_join(out.address_as<char>(), pitch, rows, runs.data() + first, static_cast<int>(count)));
  }
}

namespace {

template <class T>
struct Triangle {
  T* out;
  const T* x;
  DeviceWalk<2> walk;
  std::int64_t rows, columns, diagonal;
  bool lower;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[2];
    walk.offsets(i, at);
    const std::int64_t column = i % columns, edge = i / columns % rows + diagonal;
    out[at[0]] = (lower ? column <= edge : column >= edge) ? x[at[1]] : T(0);
  }
};

}  // namespace

void triangle(NdArray& out, const NdArray& x, std::int64_t diagonal, bool lower) {
  if (out.numel() == 0) return;
  const std::size_t rank = out.sizes().size();
  const DeviceWalk<2> walk(lower ? "tril" : "triu", out.sizes(), {out.strides(), x.strides()});
  visit_bits(out.dtype(), [&]<class T> {
    for_each(out.device(), out.numel(),
             Triangle<T>{out.address_as<T>(), x.address_as<T>(), walk, out.sizes()[rank - 2],
                         out.sizes()[rank - 1], diagonal, lower});
  });
}

}  // namespace ebb::cuda
