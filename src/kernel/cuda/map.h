// Elementwise kernels: out[i] = op(in0[i], in1[i], ...) for any strides, by 16-byte vectors where the
// innermost dimension of every array is contiguous or broadcast.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kernel/convert.h"
#include "kernel/cuda/launch.h"
#include "kernel/index_plan.h"

namespace ebb::cuda {

constexpr int kMapThreads = 256;

/// An input: an array that broadcasts to the output, or, where `array` is null, the bits of one element.
struct MapInput {
  const NdArray* array = nullptr;
  std::uint64_t bits = 0;
};

/// What a map kernel reads; operand 0 is the output.
template <int N>
struct MapArgs {
  IndexPlan<N> plan;
  char* base[N];          // null for an input that is one value
  std::uint64_t bits[N];  // that value
  std::uint32_t splat;    // bit i: operand i does not move along the innermost dimension
  std::uint32_t last;     // elements in the last unit
  alignas(8) unsigned char op[48];
};

/// The two kernels of one op and dtype.
template <int N>
struct MapKernels {
  void (*vector)(MapArgs<N>) = nullptr;
  void (*plain)(MapArgs<N>) = nullptr;
  int width = 1;               // elements of a vector
  std::array<int, N> sizes{};  // bytes of an element of each operand
};

/// Queues the map on out's device. `op` is the functor's bytes.
template <int N>
void launch_map(const char* name, const MapKernels<N>& kernels, NdArray& out,
                const std::array<MapInput, N - 1>& in, const void* op, std::size_t op_bytes);

template <class T, int V>
struct alignas(sizeof(T) * V) Vector {
  T at[V];
};

// The loaded inputs of one unit.
template <int V, class... In>
struct Pack {
  template <int I, int N>
  EBB_HD void load(const MapArgs<N>&, const std::int32_t (&)[N], int) {}
  template <class R, class Op, class... C>
  EBB_HD R apply(const Op& op, int, C... values) const {
    return static_cast<R>(op(values...));
  }
};

template <int V, class First, class... Rest>
struct Pack<V, First, Rest...> {
  Vector<First, V> head;
  Pack<V, Rest...> tail;

  template <int I, int N>
  EBB_HD void load(const MapArgs<N>& args, const std::int32_t (&offsets)[N], int count) {
    if (!args.base[I] || (V > 1 && ((args.splat >> I) & 1u))) {
      First value;
      if (args.base[I])
        value = *reinterpret_cast<const First*>(args.base[I] + offsets[I]);
      else
        __builtin_memcpy(static_cast<void*>(&value), &args.bits[I], sizeof(First));
      for (int j = 0; j < V; ++j) head.at[j] = value;
    } else {
      const First* from = reinterpret_cast<const First*>(args.base[I] + offsets[I]);
      if (count == V)
        head = *reinterpret_cast<const Vector<First, V>*>(from);
      else
        for (int j = 0; j < V; ++j) head.at[j] = j < count ? from[j] : First();
    }
    tail.template load<I + 1>(args, offsets, count);
  }
  template <class R, class Op, class... C>
  EBB_HD R apply(const Op& op, int j, C... values) const {
    return tail.template apply<R>(op, j, values..., static_cast<Compute<First>>(head.at[j]));
  }
};

/// One thread's work: `kUnroll` units, all loaded before the first is computed, so that many loads are under
/// way. `In` are the element types of the inputs, R that of the output. The body takes its place in the grid
/// as arguments: it runs on a host too.
template <class Op, class R, int V, class... In>
EBB_HD void map_units(const MapArgs<1 + sizeof...(In)>& args, std::uint32_t block, std::uint32_t thread) {
  constexpr int N = 1 + sizeof...(In);
  constexpr int kUnroll = V == 1 ? 4 : V >= 8 ? 2 : 8 / V;
  const Op& op = *reinterpret_cast<const Op*>(args.op);
  const std::uint32_t first = block * (kMapThreads * kUnroll) + thread;
  Pack<V, In...> packs[kUnroll];
  std::int32_t places[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::uint32_t unit = first + static_cast<std::uint32_t>(u) * kMapThreads;
    if (unit >= args.plan.units) break;
    std::int32_t offsets[N];
    args.plan.offsets(unit, offsets);
    places[u] = offsets[0];
    packs[u].template load<1>(args, offsets, unit + 1 == args.plan.units ? static_cast<int>(args.last) : V);
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::uint32_t unit = first + static_cast<std::uint32_t>(u) * kMapThreads;
    if (unit >= args.plan.units) break;
    Vector<R, V> result;
#pragma unroll
    for (int j = 0; j < V; ++j) result.at[j] = packs[u].template apply<R>(op, j);
    R* const to = reinterpret_cast<R*>(args.base[0] + places[u]);
    const int count = unit + 1 == args.plan.units ? static_cast<int>(args.last) : V;
    if (count == V)
      *reinterpret_cast<Vector<R, V>*>(to) = result;
    else
      for (int j = 0; j < V; ++j)
        if (j < count) to[j] = result.at[j];
  }
}

/// Units of one block of a map kernel for vectors of V.
constexpr std::uint32_t map_units_per_block(int v) {
  return static_cast<std::uint32_t>(kMapThreads * (v == 1 ? 4 : v >= 8 ? 2 : 8 / v));
}

template <class Op, class R, int V, class... In>
__global__ void __launch_bounds__(kMapThreads)
    map_kernel(const __grid_constant__ MapArgs<1 + sizeof...(In)> args) {
  map_units<Op, R, V, In...>(args, blockIdx.x, threadIdx.x);
}

/// The pair of kernels for a functor and its element types.
template <class Op, class R, class... In>
constexpr MapKernels<1 + sizeof...(In)> map_kernels() {
  constexpr int N = 1 + sizeof...(In);
  constexpr std::size_t widest = std::max({sizeof(R), sizeof(In)...});
  constexpr int V = static_cast<int>(16 / widest);
  static_assert(sizeof(Op) <= sizeof(MapArgs<N>::op));
  return {&map_kernel<Op, R, V, In...>,
          &map_kernel<Op, R, 1, In...>,
          V,
          {static_cast<int>(sizeof(R)), static_cast<int>(sizeof(In))...}};
}

}  // namespace ebb::cuda
