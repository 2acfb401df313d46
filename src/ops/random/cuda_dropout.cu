// draw_philox and dropout on the device. dropout needs one read, one write, and no mask in memory.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/device.h"
#include "kernel/cuda/map.h"
#include "kernel/cuda/walk.h"
#include "ops/common/dropout.h"
#include "ops/random/kernels.h"

namespace ebb::cuda {
namespace {

bool is_aligned(const NdArray& x) { return reinterpret_cast<std::uintptr_t>(x.address()) % 16 == 0; }

/// The elements of a thread: kChunks chunks of kChunk neighbours. The chunks of a warp's threads are
/// contiguous. Several groups of random words are computed together and share the round keys.
template <class T>
struct DropoutUnit {
  static constexpr int kChunk = sizeof(T) == 2 ? 8 : 4, kGroups = kChunk / 4;
  static constexpr int kChunks = sizeof(T) == 4 ? 4 : 2, kEach = kChunks * kChunk;
  static constexpr int kVector = kVectorWidth<T>, kVectors = kChunk / kVector;
  using C = Compute<T>;
  T* to;
  const T* from;
  std::int64_t count;
  bool aligned;
  random::Dropout rule;

  static std::int64_t units(std::int64_t count) { return ceil_div(count, kEach * kWarp) * kWarp; }

  __device__ void operator()(std::int64_t unit) const {
    const std::int64_t warp = unit / kWarp, first = (warp * kChunks * kWarp + unit % kWarp) * kChunk;
    if (aligned && (warp + 1) * kWarp * kEach <= count)
      whole(first);
    else
      part(first);
  }

 private:
  static constexpr std::int64_t kApart =
      std::int64_t{kWarp} * kChunk;  // the distance between two chunks of a thread

  __device__ void whole(std::int64_t first) const {
    Packed<T, kVector> loaded[kChunks][kVectors];
    std::uint64_t groups[kChunks * kGroups];
    C values[kChunks * kGroups][4];
#pragma unroll
    for (int c = 0; c < kChunks; ++c)
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        loaded[c][v] = Packed<T, kVector>::load(from + first + c * kApart + v * kVector);
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
        groups[c * kGroups + g] = static_cast<std::uint64_t>((first + c * kApart) / 4 + g);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const auto vector = loaded[c][v].vector();
#pragma unroll
        for (int j = 0; j < kVector; ++j) {
          const int k = v * kVector + j;
          values[c * kGroups + k / 4][k % 4] = static_cast<C>(vector.at[j]);
        }
      }
    }
    rule(groups, values);
#pragma unroll
    for (int c = 0; c < kChunks; ++c)
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        Vector<T, kVector> vector;
#pragma unroll
        for (int j = 0; j < kVector; ++j) {
          const int k = v * kVector + j;
          vector.at[j] = static_cast<T>(values[c * kGroups + k / 4][k % 4]);
        }
        store_vector(to + first + c * kApart + v * kVector, vector);
      }
  }

  __device__ void part(std::int64_t first) const {
#pragma unroll 1
    for (int i = 0; i < kChunks * kGroups; ++i) {
      const std::int64_t begin = first + i / kGroups * kApart + i % kGroups * 4;
      C values[4] = {};
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (begin + j < count) values[j] = static_cast<C>(from[begin + j]);
      rule(static_cast<std::uint64_t>(begin / 4), values);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (begin + j < count) to[begin + j] = static_cast<T>(values[j]);
    }
  }
};

}  // namespace

void draw_philox(Philox& out, Device device, Generator& generator) { out = next_philox(device, generator); }

void dropout(NdArray& out, const NdArray& x, const random::Dropout& rule) {
  visit_floating(x.dtype(), "dropout", [&]<class T> {
    using Unit = DropoutUnit<T>;
    const Unit unit{out.address_as<T>(), x.address_as<T>(), x.numel(), is_aligned(out) && is_aligned(x),
                    rule};
    for_each(x.device(), Unit::units(unit.count), unit);
  });
}

}  // namespace ebb::cuda
