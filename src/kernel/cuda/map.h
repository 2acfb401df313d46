// Elementwise kernels: out[i] = op(in0[i], in1[i], ...) for any strides, with 16-byte vectors if
// plan_vectors() (map_plan.h) finds a plan.
#pragma once

#include "kernel/call/arguments.h"
#include "kernel/convert.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/map_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace ebb::cuda {

constexpr int kMapThreads = 256;

using ebb::detail::Operand;

/// The arguments of a map kernel; operand 0 is the output.
template <int N>
struct MapArgs {
  MapPlan<N> map;
  char* base[N];          // null for an input that is a single value
  std::uint64_t bits[N];  // the single value
  alignas(8) unsigned char op[48];
};

/// The kernels of one op and dtype: one with vectors and one without.
template <int N>
struct MapKernels {
  void (*vector)(MapArgs<N>) = nullptr;
  void (*plain)(MapArgs<N>) = nullptr;
  int width = 1;                  // elements per vector
  std::array<DType, N> dtypes{};  // the operands' dtypes
};

/// Queues the kernel on out's device. `op` contains the functor's bytes.
template <int N>
void launch_map(const char* name, const MapKernels<N>& kernels, NdArray& out,
                const std::array<Operand, N - 1>& in, const void* op, std::size_t op_bytes);

/// Returns the number of units per thread. It is chosen so that a thread has about 32 bytes of each input in
/// flight.
constexpr int map_unroll(int width, int inputs) {
  if (width == 1) return 4;
  return width >= 8 ? 2 : width == 4 && inputs > 1 ? 2 : 4;
}

/// Returns the number of blocks for `units` units. There are at most 2^31 units, so the number of blocks does
/// not exceed the grid's limit.
constexpr std::uint32_t map_blocks(std::uint32_t units, int width, int inputs) {
  const auto each = static_cast<std::uint32_t>(kMapThreads * map_unroll(width, inputs));
  return (units - 1) / each + 1;
}

/// The units of one thread and their offsets.
template <int N, int U>
struct MapOffsets {
  std::uint32_t unit[U];
  std::int32_t offset[U][N];
};

// The loaded inputs of U units of V elements, starting with operand I.
template <int V, int U, class... In>
struct Packs {
  template <int I, int N>
  EBB_HD void load(const MapArgs<N>&, const MapOffsets<N, U>&) {}
  template <int I, int N>
  EBB_HD void load_one(const MapArgs<N>&, std::uint32_t) {}
  template <class R, class Op, class... C>
  EBB_HD R apply(const Op& op, int, int, C... values) const {
    return static_cast<R>(op(values...));
  }
};

template <int V, int U, class First, class... Rest>
struct Packs<V, U, First, Rest...> {
  Vector<First, V> head[U];
  Packs<V, U, Rest...> tail;

  // Loads one operand for all units. There is only one branch per operand, which all threads take in the same
  // way, so that the loads of all units directly follow each other.
  template <int I, int N>
  EBB_HD void load(const MapArgs<N>& args, const MapOffsets<N, U>& offsets) {
    const char* const base = args.base[I];
    if (!base) {
      const First value = single<I>(args);
#pragma unroll
      for (int u = 0; u < U; ++u) fill(u, value);
    } else if (V == 1 || args.map.access[I] == Access::vector) {
#pragma unroll
      for (int u = 0; u < U; ++u)
        head[u] = *reinterpret_cast<const Vector<First, V>*>(base + args.map.skip[I] + offsets.offset[u][I]);
    } else if (args.map.access[I] == Access::splat) {
      First value[U];
#pragma unroll
      for (int u = 0; u < U; ++u) value[u] = *reinterpret_cast<const First*>(base + offsets.offset[u][I]);
#pragma unroll
      for (int u = 0; u < U; ++u) fill(u, value[u]);
    } else {
#pragma unroll
      for (int u = 0; u < U; ++u) {
        const std::uint32_t first = args.map.head + offsets.unit[u] * args.map.spacing;
#pragma unroll
        for (int j = 0; j < V; ++j)
          head[u].at[j] = *reinterpret_cast<const First*>(
              base + offsets.offset[u][I] +
              args.map.element[I].offset(first + static_cast<std::uint32_t>(j)));
      }
    }
    tail.template load<I + 1>(args, offsets);
  }
  // Loads the single element with index `element`.
  template <int I, int N>
  EBB_HD void load_one(const MapArgs<N>& args, std::uint32_t element) {
    if (args.base[I])
      head[0].at[0] = *reinterpret_cast<const First*>(args.base[I] + args.map.element[I].offset(element));
    else
      head[0].at[0] = single<I>(args);
    tail.template load_one<I + 1>(args, element);
  }
  template <class R, class Op, class... C>
  EBB_HD R apply(const Op& op, int u, int j, C... values) const {
    return tail.template apply<R>(op, u, j, values..., static_cast<Compute<First>>(head[u].at[j]));
  }

 private:
  template <int I, int N>
  EBB_HD static First single(const MapArgs<N>& args) {
    First value;
    __builtin_memcpy(static_cast<void*>(&value), &args.bits[I], sizeof(First));
    return value;
  }
  EBB_HD void fill(int u, First value) {
#pragma unroll
    for (int j = 0; j < V; ++j) head[u].at[j] = value;
  }
};

/// Processes the units of one thread. Loads all units before it computes the first one. `In` are the element
/// types of the inputs, and R is the element type of the output. The position in the grid is an argument, so
/// that the body also runs on the host.
template <class Op, class R, int V, class... In>
EBB_HD void map_units(const MapArgs<1 + sizeof...(In)>& args, std::uint32_t block, std::uint32_t thread) {
  constexpr int N = 1 + sizeof...(In), U = map_unroll(V, N - 1);
  const Op& op = *reinterpret_cast<const Op*>(args.op);
  const IndexPlan<N>& plan = args.map.plan;
  const std::uint32_t first = block * (kMapThreads * U) + thread;
  // Units beyond the end load the last unit and store nothing, so that loads need no branches.
  MapOffsets<N, U> offsets;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const std::uint32_t unit = first + static_cast<std::uint32_t>(u) * kMapThreads;
    offsets.unit[u] = unit < plan.units ? unit : plan.units - 1;
  }
  if (plan.dims <= 1) {
#pragma unroll
    for (int u = 0; u < U; ++u)
      for (int i = 0; i < N; ++i)
        offsets.offset[u][i] = static_cast<std::int32_t>(offsets.unit[u]) * plan.strides[i][0];
  } else {
#pragma unroll
    for (int u = 0; u < U; ++u) plan.offsets(offsets.unit[u], offsets.offset[u]);
  }
  Packs<V, U, In...> packs;
  packs.template load<1>(args, offsets);
#pragma unroll
  for (int u = 0; u < U; ++u) {
    Vector<R, V> result;
#pragma unroll
    for (int j = 0; j < V; ++j) result.at[j] = packs.template apply<R>(op, u, j);
    if (first + static_cast<std::uint32_t>(u) * kMapThreads < plan.units)
      *reinterpret_cast<Vector<R, V>*>(args.base[0] + args.map.skip[0] + offsets.offset[u][0]) = result;
  }
  if constexpr (V > 1) {
    if (block != 0 || thread >= args.map.remainder) return;
    const std::uint32_t element = thread < args.map.head ? thread : thread + plan.units * V;
    Packs<1, 1, In...> one;
    one.template load_one<1>(args, element);
    *reinterpret_cast<R*>(args.base[0] + args.map.element[0].offset(element)) =
        one.template apply<R>(op, 0, 0);
  }
}

template <class Op, class R, int V, class... In>
__global__ void __launch_bounds__(kMapThreads)
    map_kernel(const __grid_constant__ MapArgs<1 + sizeof...(In)> args) {
  map_units<Op, R, V, In...>(args, blockIdx.x, threadIdx.x);
}

/// Returns the kernels for a functor and its element types.
template <class Op, class R, class... In>
constexpr MapKernels<1 + sizeof...(In)> map_kernels() {
  constexpr int N = 1 + sizeof...(In);
  constexpr std::size_t widest = std::max({sizeof(R), sizeof(In)...});
  constexpr int V = static_cast<int>(16 / widest);
  static_assert(sizeof(Op) <= sizeof(MapArgs<N>::op));
  return {&map_kernel<Op, R, V, In...>, &map_kernel<Op, R, 1, In...>, V, {dtype_of<R>(), dtype_of<In>()...}};
}

}  // namespace ebb::cuda
