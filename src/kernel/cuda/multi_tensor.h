// One launch for many tensors. Their addresses are part of the kernel's arguments, so no copy and no wait are
// needed. A list that does not fit into the arguments of one launch takes several launches.
#pragma once

#include "kernel/call/arguments.h"
#include "kernel/convert.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/map.h"

#include <algorithm>

namespace ebb::cuda {

constexpr unsigned kListThreads = 256;
constexpr std::size_t kListBytes = 3600;  // every device allows 4 KB of arguments; the functor uses the rest

/// A part of a list with N arrays per entry. Each block processes one chunk; chunks are numbered in the order
/// of entries.
template <int N>
struct ListPart {
  static constexpr int kMost = static_cast<int>((kListBytes - 8) / (N * sizeof(void*) + 8 + 4));
  void* at[N][kMost];
  std::int64_t counts[kMost];
  std::uint32_t first_blocks[kMost];
  std::uint32_t entries = 0;

  __device__ std::uint32_t entry_of(std::uint32_t block) const {
    std::uint32_t low = 0, high = entries;
    while (high - low > 1) {
      const std::uint32_t middle = (low + high) / 2;
      if (first_blocks[middle] <= block)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
};

/// Elements per block: a few 16-byte vectors for each thread.
template <class T>
constexpr std::int64_t kListChunk = kListThreads * (16 / sizeof(T)) * 4;

namespace detail {

/// The memory ranges that a launch writes, to detect overlaps.
class Written {
 public:
  /// Adds [data, data + bytes). Returns false, without adding it, if it overlaps an earlier range.
  bool add(const void* data, std::int64_t bytes) {
    const Range r{static_cast<const char*>(data), static_cast<const char*>(data) + bytes};
    if (count_ > 0 && r.begin < hull_.end && hull_.begin < r.end)
      for (int i = 0; i < count_; ++i)
        if (r.begin < ranges_[i].end && ranges_[i].begin < r.end) return false;
    hull_ = count_ == 0 ? r : Range{std::min(hull_.begin, r.begin), std::max(hull_.end, r.end)};
    ranges_[count_++] = r;
    return true;
  }
  void clear() { count_ = 0; }

 private:
  struct Range {
    const char *begin, *end;
  };
  Range ranges_[ListPart<1>::kMost];
  Range hull_{};
  int count_ = 0;
};

}  // namespace detail

/// Divides the list into parts that fit into the kernel arguments, and calls run(part, blocks) for each.
/// Entries whose first arrays overlap (a parameter listed twice) are in different parts, so that they are
/// processed one after another.
template <class T, int N, class Run>
void for_each_part(const EntryList& list, const Run& run) {
  ListPart<N> part;
  std::int64_t blocks = 0;
  detail::Written written;
  const auto flush = [&] {
    if (part.entries > 0) run(part, static_cast<std::uint32_t>(blocks));
    part.entries = 0;
    blocks = 0;
    written.clear();
  };
  for (const TensorEntry& entry : list.entries) {
    if (entry.count == 0) continue;
    const std::int64_t more = (entry.count + kListChunk<T> - 1) / kListChunk<T>;
    const auto bytes = entry.count * static_cast<std::int64_t>(sizeof(T));
    if (part.entries == ListPart<N>::kMost || blocks + more > INT32_MAX) flush();
    if (!written.add(entry.at[0], bytes)) {
      flush();
      written.add(entry.at[0], bytes);
    }
    for (int k = 0; k < N; ++k) part.at[k][part.entries] = entry.at[static_cast<std::size_t>(k)];
    part.counts[part.entries] = entry.count;
    part.first_blocks[part.entries++] = static_cast<std::uint32_t>(blocks);
    blocks += more;
  }
  flush();
}

/// The calling block's chunk of a part. The first two arrays of an entry have element type T, the others S.
template <class T, int N, class S = T>
struct ListChunk {
  static constexpr int kFront = N < 2 ? N : 2, kRest = N - kFront;
  T* at[kFront];
  S* rest[kRest > 0 ? kRest : 1];
  std::int64_t count;
  bool aligned = true;  // every array is aligned to whole vectors

  __device__ explicit ListChunk(const ListPart<N>& part) {
    const std::uint32_t entry = part.entry_of(blockIdx.x);
    const std::int64_t begin =
        static_cast<std::int64_t>(blockIdx.x - part.first_blocks[entry]) * kListChunk<T>;
    const std::int64_t left = part.counts[entry] - begin;
    count = left < kListChunk<T> ? left : kListChunk<T>;
    for (int k = 0; k < kFront; ++k) at[k] = find<T>(part.at[k][entry], begin);
    for (int k = 0; k < kRest; ++k) rest[k] = find<S>(part.at[kFront + k][entry], begin);
  }

 private:
  template <class A>
  __device__ A* find(void* array, std::int64_t begin) {
    A* const from = static_cast<A*>(array) + begin;
    aligned = aligned && reinterpret_cast<std::uintptr_t>(from) % (16 / sizeof(T) * sizeof(A)) == 0;
    return from;
  }
};

/// `Body` is passed by value. It has kWritten, in which bit k is set if it modifies array k, and Element
/// element(), which is called once per thread. Element has operator()(Compute<T> (&values)[N]), which
/// computes the new values of all arrays at one index.
template <class T, int N, class S, class Body>
__global__ void __launch_bounds__(kListThreads)
    list_kernel(const __grid_constant__ ListPart<N> part, const __grid_constant__ Body body) {
  using C = Compute<T>;
  using Chunk = ListChunk<T, N, S>;
  constexpr int V = static_cast<int>(16 / sizeof(T));
  const Chunk chunk(part);
  const auto element = body.element();
  const std::int64_t vectors = chunk.aligned ? chunk.count / V : 0;
  for (std::int64_t i = threadIdx.x; i < vectors; i += kListThreads) {
    Vector<T, V> front[Chunk::kFront];
    Vector<S, V> rest[Chunk::kRest > 0 ? Chunk::kRest : 1];
#pragma unroll
    for (int k = 0; k < Chunk::kFront; ++k) front[k] = reinterpret_cast<const Vector<T, V>*>(chunk.at[k])[i];
#pragma unroll
    for (int k = 0; k < Chunk::kRest; ++k) rest[k] = reinterpret_cast<const Vector<S, V>*>(chunk.rest[k])[i];
#pragma unroll
    for (int j = 0; j < V; ++j) {
      C values[N];
#pragma unroll
      for (int k = 0; k < N; ++k)
        values[k] = k < Chunk::kFront ? static_cast<C>(front[k < Chunk::kFront ? k : 0].at[j])
                                      : static_cast<C>(rest[k < Chunk::kFront ? 0 : k - Chunk::kFront].at[j]);
      element(values);
#pragma unroll
      for (int k = 0; k < Chunk::kFront; ++k) front[k].at[j] = static_cast<T>(values[k]);
#pragma unroll
      for (int k = 0; k < Chunk::kRest; ++k) rest[k].at[j] = static_cast<S>(values[Chunk::kFront + k]);
    }
#pragma unroll
    for (int k = 0; k < Chunk::kFront; ++k)
      if ((Body::kWritten >> k) & 1u) reinterpret_cast<Vector<T, V>*>(chunk.at[k])[i] = front[k];
#pragma unroll
    for (int k = 0; k < Chunk::kRest; ++k)
      if ((Body::kWritten >> (Chunk::kFront + k)) & 1u)
        reinterpret_cast<Vector<S, V>*>(chunk.rest[k])[i] = rest[k];
  }
  for (std::int64_t i = vectors * V + threadIdx.x; i < chunk.count; i += kListThreads) {
    C values[N];
#pragma unroll
    for (int k = 0; k < Chunk::kFront; ++k) values[k] = static_cast<C>(chunk.at[k][i]);
#pragma unroll
    for (int k = 0; k < Chunk::kRest; ++k) values[Chunk::kFront + k] = static_cast<C>(chunk.rest[k][i]);
    element(values);
#pragma unroll
    for (int k = 0; k < Chunk::kFront; ++k)
      if ((Body::kWritten >> k) & 1u) chunk.at[k][i] = static_cast<T>(values[k]);
#pragma unroll
    for (int k = 0; k < Chunk::kRest; ++k)
      if ((Body::kWritten >> (Chunk::kFront + k)) & 1u)
        chunk.rest[k][i] = static_cast<S>(values[Chunk::kFront + k]);
  }
}

/// Runs the body on every element of the list's entries. Arrays after the second have element type S.
template <class T, int N, class S = T, class Body>
void for_each_in_list(const EntryList& list, const Body& body) {
  static_assert(sizeof(ListPart<N>) + sizeof(Body) <= 4096);
  for_each_part<T, N>(list, [&](const ListPart<N>& part, std::uint32_t blocks) {
    launch_independent(list.device, Grid{dim3(blocks), dim3(kListThreads)}, &list_kernel<T, N, S, Body>, part,
                       body);
  });
}

}  // namespace ebb::cuda
