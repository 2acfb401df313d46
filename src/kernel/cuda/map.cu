// Launches elementwise kernels.
#include "kernel/cuda/map.h"
#include "kernel/map_plan.h"

#include <cstring>

namespace ebb::cuda {
template <int N>
void launch_map(const char* name, const MapKernels<N>& kernels, NdArray& out,
                const std::array<Operand, N - 1>& in, const void* op, std::size_t op_bytes) {
  if (out.numel() == 0) return;
  const NdArray* arrays[N] = {&out};
  for (int i = 1; i < N; ++i) arrays[i] = in[i - 1].array;
  const ElementwisePlan<N> whole =
      plan_elementwise<N>(name, *reinterpret_cast<const NdArray* const(*)[N]>(&arrays));
  std::uintptr_t addresses[N];
  int sizes[N];
  for (int i = 0; i < N; ++i) sizes[i] = static_cast<int>(element_size(kernels.dtypes[i]));
  constexpr std::int64_t kNowhere[N] = {};
  const auto launch_part = [&](const ElementwisePlan<N>& part, const CrossTile& tile) {
    MapArgs<N> args;
    std::memcpy(args.op, op, op_bytes);
    for (int i = 0; i < N; ++i) {
      args.base[i] = reinterpret_cast<char*>(addresses[i]);
      args.bits[i] = i == 0 || in[i - 1].array ? 0 : element_bits(in[i - 1].value, kernels.dtypes[i]);
    }
    const bool vectors = tile.along > 0 ? plan_tiles(args.map, part, tile, addresses, sizes, kernels.width)
                                        : plan_vectors(args.map, part, addresses, sizes, kernels.width);
    if (!vectors && tile.along == 0) index_plan(args.map.plan, part);
    const Grid grid{dim3(map_blocks(args.map.plan.units, vectors ? kernels.width : 1, N - 1)),
                    dim3(kMapThreads)};
    launch_independent(out.device(), grid, vectors ? kernels.vector : kernels.plain, args);
  };
  const auto locate = [&](const std::int64_t(&from)[N], const std::int64_t(&further)[N]) {
    for (int i = 0; i < N; ++i) {
      const NdArray* x = i == 0 ? &out : in[i - 1].array;
      addresses[i] = x ? reinterpret_cast<std::uintptr_t>(x->address_as<char>() + from[i] + further[i]) : 0;
    }
  };
  for_each_32_bit_part(whole, [&](const ElementwisePlan<N>& part, const std::int64_t(&from)[N]) {
    locate(from, kNowhere);
    const CrossTile tile = cross_tile(part, addresses, sizes, kernels.width);
    for_each_tiled_part(
        part, tile,
        [&](const ElementwisePlan<N>& piece, const std::int64_t(&further)[N], const CrossTile& of_piece) {
          locate(from, further);
          launch_part(piece, of_piece);
        });
  });
}

template void launch_map<1>(const char*, const MapKernels<1>&, NdArray&, const std::array<Operand, 0>&,
                            const void*, std::size_t);
template void launch_map<2>(const char*, const MapKernels<2>&, NdArray&, const std::array<Operand, 1>&,
                            const void*, std::size_t);
template void launch_map<3>(const char*, const MapKernels<3>&, NdArray&, const std::array<Operand, 2>&,
                            const void*, std::size_t);
template void launch_map<4>(const char*, const MapKernels<4>&, NdArray&, const std::array<Operand, 3>&,
                            const void*, std::size_t);
template void launch_map<5>(const char*, const MapKernels<5>&, NdArray&, const std::array<Operand, 4>&,
                            const void*, std::size_t);
template void launch_map<6>(const char*, const MapKernels<6>&, NdArray&, const std::array<Operand, 5>&,
                            const void*, std::size_t);
template void launch_map<7>(const char*, const MapKernels<7>&, NdArray&, const std::array<Operand, 6>&,
                            const void*, std::size_t);

}  // namespace ebb::cuda
