// Thread groups ("teams") that process one line of an array together. A line is a one-dimensional slice along
// one dimension (kernel/lines.h). Contiguous lines (rows) are stored in registers if they fit, and otherwise
// streamed as vectors. If lines are interleaved, 32 adjacent lines share a block, so that reads are
// coalesced.
#pragma once

#include "kernel/convert.h"
#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/lines.h"

#include <algorithm>

namespace ebb::cuda {

constexpr int kTeamLanes = 8;  // threads for each of 32 interleaved lines

/// Contiguous lines: blockDim = (threads per team, teams per block).
struct RowTeam {
  std::int64_t line, stride = 1;
  int rank, size;
  bool active;

  __device__ explicit RowTeam(const Lines& lines)
      : line(static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y),
        rank(static_cast<int>(threadIdx.x)),
        size(static_cast<int>(blockDim.x)),
        active(line < lines.count()) {}

  /// Merges the values of the team's threads; every thread of the team gets the result. All threads of the
  /// block must call it, even the inactive ones.
  template <class T, class Merge>
  __device__ T reduce(T value, const Merge& merge) const {
    __shared__ T scratch[kWarp];
    if (size > kWarp) return block_reduce(value, scratch, merge, rank, size);
    value = warp_reduce(value, merge, size);
    return shuffle_first(value, size);
  }
  static dim3 threads(const Lines& lines) {
    const int size = covering_power((lines.n + 3) / 4, 4, 512);
    return dim3(static_cast<unsigned>(size), static_cast<unsigned>(size <= kWarp ? 128 / size : 1));
  }
  static dim3 blocks(const Lines& lines) {
    const std::int64_t teams = threads(lines).y;
    return dim3(static_cast<unsigned>((lines.count() + teams - 1) / teams));
  }
};

/// Interleaved lines: blockDim = (32 lines, kTeamLanes).
struct ColumnTeam {
  std::int64_t line, stride;
  int rank, size = kTeamLanes;
  bool active;

  __device__ explicit ColumnTeam(const Lines& lines)
      : line(static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x),
        stride(lines.inner),
        rank(static_cast<int>(threadIdx.y)),
        active(line < lines.count()) {}

  template <class T, class Merge>
  __device__ T reduce(T value, const Merge& merge) const {
    __shared__ T scratch[kTeamLanes][kWarp];
    scratch[rank][threadIdx.x] = value;
    __syncthreads();
    T total = scratch[0][threadIdx.x];
    for (int lane = 1; lane < kTeamLanes; ++lane) total = merge(total, scratch[lane][threadIdx.x]);
    __syncthreads();
    return total;
  }
  static dim3 threads(const Lines&) { return dim3(kWarp, kTeamLanes); }
  static dim3 blocks(const Lines& lines) {
    return dim3(static_cast<unsigned>((lines.count() + kWarp - 1) / kWarp));
  }
};

/// Calls f<Team>(grid) with the team type for the lines.
template <class F>
void with_team(const Lines& lines, const F& f) {
  if (lines.inner == 1)
    f.template operator()<RowTeam>(Grid{RowTeam::blocks(lines), RowTeam::threads(lines)});
  else
    f.template operator()<ColumnTeam>(Grid{ColumnTeam::blocks(lines), ColumnTeam::threads(lines)});
}

/// The number of elements that a thread keeps in registers, for rows of up to kShortRow elements. For longer
/// rows, each kernel chooses the number.
constexpr int kFewElements = 8;
constexpr std::int64_t kShortRow = 32 * kFewElements;

/// Returns the block size of a kernel whose threads keep `elements` elements each.
constexpr int kept_block(int elements) { return elements == kFewElements ? kTeamBlock : kKeptThreads; }

/// The kElements elements of a row of T that a thread keeps in registers.
template <class T, int kElements>
struct RowPart : RowSlots {
  static constexpr int kWidth = kVectorWidth<T>;
  static constexpr int kUnits = kElements / kWidth;
  using Unit = Vector<T, kWidth>;

  __device__ RowPart(const RowTeam& team, std::int64_t length, bool by_vectors)
      : RowSlots{static_cast<int>(length), team.rank, team.size, kWidth, by_vectors} {}

  /// Loads the elements of unit `unit` of a row. Elements beyond the end of the row are zeros; if `there` is
  /// false, all elements are zeros.
  __device__ Packed<T, kWidth> load(const T* row, int unit, bool there = true) const {
    if (vectors) return load_if(there && has(unit, 0), row, index(unit, 0), Unit{});
    Unit values{};
    if (there) {
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
        if (has(unit, j)) values.at[j] = row[index(unit, j)];
    }
    return values;
  }
  /// Loads the thread's units of a row. All loads are issued before the first value is used.
  __device__ void load(const T* row, Packed<T, kWidth> (&to)[kUnits], bool there = true) const {
    if (vectors) {  // one branch for all units
#pragma unroll
      for (int u = 0; u < kUnits; ++u) to[u] = load(row, u, there);
    } else {
#pragma unroll
      for (int u = 0; u < kUnits; ++u) to[u] = load(row, u, there);
    }
  }
  __device__ void store(T* row, int unit, const Unit& values) const {
    if (vectors) {
      if (has(unit, 0)) *reinterpret_cast<Unit*>(row + index(unit, 0)) = values;
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
        if (has(unit, j)) row[index(unit, j)] = values.at[j];
    }
  }
};

/// Returns a grid of teams with at most `most` threads, each of which processes `elements` elements of a row.
inline Grid row_grid(const Lines& lines, int elements, int most = kTeamThreads) {
  const int team = std::min(row_team(lines.n, elements), most), rows = rows_per_block(team);
  return {dim3(grid_blocks(ceil_div(lines.count(), rows))),
          dim3(static_cast<unsigned>(team), static_cast<unsigned>(rows))};
}

/// Returns whether rows of n elements consist of whole aligned vectors in all of these arrays. Null pointers
/// are ignored.
template <class T, class... P>
bool rows_are_vectors(std::int64_t n, const P*... arrays) {
  return n % kVectorWidth<T> == 0 && ((reinterpret_cast<std::uintptr_t>(arrays) % 16 == 0) && ...);
}

/// Calls run.operator()<kElements>(grid) if a team of at most kThreads threads can hold a row in registers,
/// with at most kMany elements per thread. Returns false if the rows are too long.
template <int kMany, int kThreads = kKeptThreads, class F>
bool with_kept_rows(const Lines& lines, const F& run) {
  if (lines.n <= kShortRow)
    run.template operator()<kFewElements>(row_grid(lines, kFewElements));
  else if (lines.n <= std::int64_t{kMany} * kThreads)
    run.template operator()<kMany>(row_grid(lines, kMany));
  else
    return false;
  return true;
}

/// Calls one(i) for single elements and many(i) for aligned vectors of kVectorWidth elements. Each element of
/// a row of n elements is processed by exactly one thread of the team. If `vectors` is false, many() is not
/// called.
template <class T, class One, class Many>
__device__ void stream_row(const RowTeam& team, const T* row, bool vectors, std::int64_t n, const One& one,
                           const Many& many) {
  constexpr int V = kVectorWidth<T>;
  std::int64_t head =
      (V - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % V)) % V;
  if (!vectors || head > n) head = n;
  const std::int64_t units = (n - head) / V;
  for (std::int64_t i = team.rank; i < head; i += team.size) one(i);
#pragma unroll 2
  for (std::int64_t u = team.rank; u < units; u += team.size) many(head + u * V);
  for (std::int64_t i = head + units * V + team.rank; i < n; i += team.size) one(i);
}

/// The groups of adjacent elements that a thread processes next: the group with index u begins at first + u *
/// step, if that is less than `end`.
struct Span {
  std::int64_t first, step, end;
  EBB_HD std::int64_t at(int group) const { return first + group * step; }
  EBB_HD bool has(int group) const { return at(group) < end; }
};

template <class T, int V, int N>
struct Groups {
  Vector<T, V> at[N];
};

/// Loads N groups of V elements of a line. Adjacent elements of the line are `stride` apart if V is 1, and
/// contiguous otherwise. All loads are issued before the first value is used. Elements beyond the end are
/// `other`.
template <int V, int N, class T>
__device__ Groups<T, V, N> load_groups(const T* line, std::int64_t stride, const Span& span, T other) {
  Groups<T, V, N> groups;
  Vector<T, V> past;
  for (int j = 0; j < V; ++j) past.at[j] = other;
#pragma unroll
  for (int u = 0; u < N; ++u)
    groups.at[u] = load_if(span.has(u), line, span.at(u) * (V == 1 ? stride : 1), past);
  return groups;
}

constexpr int kSingleLoads = 8;  // single elements of a line that a thread loads together

/// Calls take.operator()<V, N>(span) for spans that, over all threads of the team, together cover [from, to).
template <int V, int N, class Team, class Take>
__device__ void take_spans(const Team& team, std::int64_t from, std::int64_t to, const Take& take) {
  const std::int64_t step = std::int64_t{V} * team.size;
  for (std::int64_t i = from + std::int64_t{V} * team.rank; i < to; i += N * step)
    take.template operator()<V, N>(Span{i, step, to});
}

/// Processes a whole line: as vectors where they are aligned, and as single elements before and after them.
/// If `vectors` is false or the line is a column, all elements are processed one by one.
template <int N, class T, class Take>
__device__ void take_line(const RowTeam& team, const T* row, bool vectors, std::int64_t n, const Take& take) {
  constexpr int V = kVectorWidth<T>;
  std::int64_t head =
      (V - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % V)) % V;
  if (!vectors || head > n) head = n;
  const std::int64_t tail = head + (n - head) / V * V;
  take_spans<V, N>(team, head, tail, take);
#pragma unroll 1
  for (int part = 0; part < 2; ++part)
    take_spans<1, kSingleLoads>(team, part == 0 ? 0 : tail, part == 0 ? head : n, take);
}
template <int N, class T, class Take>
__device__ void take_line(const ColumnTeam& team, const T*, bool, std::int64_t n, const Take& take) {
  take_spans<1, kSingleLoads>(team, 0, n, take);
}

/// Returns whether two arrays have the same misalignment, so that their rows can be streamed together.
template <class A, class B>
bool streams_with(const A* a, const B* b) {
  return (reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b)) % 16 == 0;
}

}  // namespace ebb::cuda
