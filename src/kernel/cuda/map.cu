#include "kernel/cuda/map.h"

#include <cstring>

namespace ebb::cuda {
namespace {

// Whether vectors of `width` elements can be used: the innermost dimension is contiguous or broadcast in
// every array, whole vectors fit into it, and all addresses are aligned. Sets `splat`.
template <int N>
bool takes_vectors(const ElementwisePlan<N>& plan, const MapArgs<N>& args, const MapKernels<N>& kernels,
                   std::uint32_t& splat) {
  splat = 0;
  if (kernels.width == 1 || plan.numel < kernels.width) return false;
  if (plan.dims > 1 && plan.sizes[0] % kernels.width != 0) return false;
  for (int i = 0; i < N; ++i) {
    if (!args.base[i]) continue;
    const std::int64_t inner = plan.dims > 0 ? plan.strides[i][0] : 0;
    if (inner == 0 && i > 0) {
      splat |= 1u << i;
      continue;
    }
    const std::int64_t bytes = std::int64_t{kernels.width} * kernels.sizes[i];
    if (inner != kernels.sizes[i] || reinterpret_cast<std::uintptr_t>(args.base[i]) % bytes != 0)
      return false;
    for (int d = 1; d < plan.dims; ++d)
      if (plan.strides[i][d] % bytes != 0) return false;
  }
  return true;
}

}  // namespace

template <int N>
void launch_map(const char* name, const MapKernels<N>& kernels, NdArray& out,
                const std::array<MapInput, N - 1>& in, const void* op, std::size_t op_bytes) {
  if (out.numel() == 0) return;
  const NdArray* arrays[N] = {&out};
  const NdArray value(out.storage(), {}, {}, 0, out.dtype());  // stands for a single value: walks nothing
  for (int i = 1; i < N; ++i) arrays[i] = in[i - 1].array ? in[i - 1].array : &value;
  const ElementwisePlan<N> whole =
      plan_elementwise<N>(name, *reinterpret_cast<const NdArray* const(*)[N]>(&arrays));
  for_each_32_bit_part(whole, [&](const ElementwisePlan<N>& part, const std::int64_t(&from)[N]) {
    MapArgs<N> args;
    std::memcpy(args.op, op, op_bytes);
    args.base[0] = out.data_as<char>() + from[0];
    for (int i = 1; i < N; ++i) {
      const NdArray* x = in[i - 1].array;
      args.base[i] = x ? x->data_as<char>() + from[i] : nullptr;
      args.bits[i] = in[i - 1].bits;
    }
    const bool vectors = takes_vectors(part, args, kernels, args.splat);
    const int width = vectors ? kernels.width : 1;
    args.plan = index_plan(part, width);
    args.last = vectors ? static_cast<std::uint32_t>((part.sizes[0] - 1) % width + 1) : 1;
    const std::uint32_t per_block = map_units_per_block(width);
    const Grid grid{dim3((args.plan.units + per_block - 1) / per_block), dim3(kMapThreads)};
    launch_independent(out.device(), grid, vectors ? kernels.vector : kernels.plain, args);
  });
}

template void launch_map<1>(const char*, const MapKernels<1>&, NdArray&, const std::array<MapInput, 0>&,
                            const void*, std::size_t);
template void launch_map<2>(const char*, const MapKernels<2>&, NdArray&, const std::array<MapInput, 1>&,
                            const void*, std::size_t);
template void launch_map<3>(const char*, const MapKernels<3>&, NdArray&, const std::array<MapInput, 2>&,
                            const void*, std::size_t);
template void launch_map<4>(const char*, const MapKernels<4>&, NdArray&, const std::array<MapInput, 3>&,
                            const void*, std::size_t);
template void launch_map<5>(const char*, const MapKernels<5>&, NdArray&, const std::array<MapInput, 4>&,
                            const void*, std::size_t);
template void launch_map<6>(const char*, const MapKernels<6>&, NdArray&, const std::array<MapInput, 5>&,
                            const void*, std::size_t);
template void launch_map<7>(const char*, const MapKernels<7>&, NdArray&, const std::array<MapInput, 6>&,
                            const void*, std::size_t);

}  // namespace ebb::cuda
