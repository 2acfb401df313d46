// Copies, fills and additions on the device, for arrays of any strides. Without conversion a copy only moves
// bits, so four kernels (one for each element size) are enough for all ten dtypes. Transposing copies use
// shared memory, so that both reads and writes are coalesced.
#include <ebb/core/visit.h>

#include "kernel/arithmetic.h"
#include "kernel/convert.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/map.h"
#include "kernel/cuda/walk.h"
#include "kernel/element_types.h"
#include "ops/common/cuda_convert.h"
#include "ops/common/kernels.h"
#include "ops/common/transpose_plan.h"

#include <array>
#include <cstring>

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
      tile[S][S + (sizeof(To) < 4 ? 4 / sizeof(To) : 1)];  // the padding shifts each row by one bank
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

// If the copy is a transpose for which tiles are faster, copies by tiles and returns true. Otherwise returns
// false. The copy may convert among Float, Half and BFloat16.
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

struct Same {
  template <class T>
  EBB_HD T operator()(T x) const {
    return x;
  }
};

template <class T>
struct Constant {
  T value;
  EBB_HD T operator()() const { return value; }
};

bool is_one_block(const ElementwisePlan<2>& walk, std::int64_t size) {
  return walk.dims == 0 || (walk.dims == 1 && walk.strides[0][0] == size && walk.strides[1][0] == size);
}

template <class T>
constexpr MapKernels<2> kSame = map_kernels<Same, T, T>();
template <class T>
constexpr MapKernels<1> kConstant = map_kernels<Constant<T>, T>();

struct Plus {
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return wrapping_add(a, b);
  }
};

constexpr auto kPlus = [] {
  std::array<MapKernels<3>, kElementTypes> table{};
  for_each_element_type(
      [&]<class T> { table[static_cast<int>(dtype_of<T>())] = map_kernels<Plus, T, T, T>(); });
  return table;
}();

}  // namespace

void copy(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  const bool same = out.dtype() == x.dtype();
  const NdArray* const arrays[2] = {&out, &x};
  const ElementwisePlan<2> walk = plan_elementwise<2>("copy", arrays);
  if (same && is_one_block(walk, element_size(out.dtype()))) {
    const DeviceScope scope(out.device());
    return check(cudaMemcpyAsync(out.address_as<char>(), x.address_as<char>(),
                                 static_cast<std::size_t>(walk.numel * element_size(out.dtype())),
                                 cudaMemcpyDeviceToDevice, current_stream(out.device())),
                 "copy");
  }
  if (transpose(out, x, walk)) return;
  const std::array<Operand, 1> in{x};
  const Same nothing;
  if (same)
    return visit_bits(out.dtype(),
                      [&]<class T> { launch_map<2>("copy", kSame<T>, out, in, &nothing, sizeof(nothing)); });
  const MapKernels<2>& kernels = is_floating(out.dtype()) ? convert_to_floating(out.dtype(), x.dtype())
                                                          : convert_to_integral(out.dtype(), x.dtype());
  launch_map<2>("copy", kernels, out, in, &nothing, sizeof(nothing));
}

void fill(NdArray& out, const Scalar& value) {
  visit_all(out.dtype(), "fill_", [&]<class T> {
    const T number = element<T>(value);
    visit_bits(out.dtype(), [&]<class Bits> {
      Constant<Bits> op;
      std::memcpy(&op.value, &number, std::min(sizeof(number), sizeof(op.value)));
      launch_map<1>("fill_", kConstant<Bits>, out, {}, &op, sizeof(op));
    });
  });
}

void accumulate(NdArray& out, const NdArray& x) {
  const Plus plus;
  launch_map<3>("add", kPlus[static_cast<int>(out.dtype())], out, {out, x}, &plus, sizeof(plus));
}

}  // namespace ebb::cuda
