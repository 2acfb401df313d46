// Copies, fills and additions on the CPU, for arrays of any strides. A copy moves whole blocks if the layouts
// permit, and tiles if the operands are transposed. Otherwise it runs one contiguous loop for each innermost
// dimension.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/arithmetic.h"
#include "kernel/cpu/transpose.h"
#include "kernel/cpu/vector.h"
#include "kernel/cpu/walk.h"
#include "ops/common/copy_row.h"
#include "ops/common/kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ebb::cpu {
namespace {

struct Ends {
  char* to;
  const char* from;
  std::int64_t to_size, from_size;
  CopyRow row;
  bool same_bits;
};

void copy_rows(const Walk<2>& walk, const Ends& ends) {
  if (ends.same_bits && walk.is_unit())
    return walk([to = ends.to, from = ends.from, size = ends.to_size](std::int64_t n,
                                                                      const std::array<std::int64_t, 2>& at,
                                                                      const std::array<std::int64_t, 2>&) {
      move_bytes(to + at[0] * size, from + at[1] * size, static_cast<std::size_t>(n * size));
    });
  walk([&](std::int64_t n, const std::array<std::int64_t, 2>& at, const std::array<std::int64_t, 2>& step) {
    ends.row(ends.to + at[0] * ends.to_size, step[0], ends.from + at[1] * ends.from_size, step[1], n);
  });
}

// Transposes by squares in registers: to[j * to_pitch + i] = from[i * from_pitch + j].
template <class T>
void transpose_tile(const char* from, std::int64_t from_pitch, std::int64_t rows, std::int64_t columns,
                    char* to, std::int64_t to_pitch) {
  transpose(reinterpret_cast<const T*>(from), from_pitch, rows, columns, reinterpret_cast<T*>(to), to_pitch);
}

// Copies by tiles, so that both arrays stay in the cache. The destination is contiguous along the innermost
// dimension, the source along dimension `across`.
void copy_tiles(const Walk<2>& walk, std::size_t across, const Ends& ends) {
  const bool by_squares = ends.same_bits && walk.stride(0, 0) == 1 && ends.to_size >= 2;
  const std::int64_t side = by_squares ? 64 : 32;
  const std::int64_t width = walk.size(0), height = walk.size(across);
  const std::int64_t columns = (width + side - 1) / side, rows = (height + side - 1) / side;
  std::int64_t outer = 1;
  for (std::size_t d = 1; d < walk.dims(); ++d)
    if (d != across) outer *= walk.size(d);
  const auto copy_tile = [&](std::int64_t tile) {
    const std::int64_t column = tile % columns * side, row = tile / columns % rows * side;
    std::int64_t rest = tile / columns / rows;
    std::int64_t to = column * walk.stride(0, 0) + row * walk.stride(0, across);
    std::int64_t from = column * walk.stride(1, 0) + row * walk.stride(1, across);
    for (std::size_t d = 1; d < walk.dims(); ++d) {
      if (d == across) continue;
      const std::int64_t i = rest % walk.size(d);
      rest /= walk.size(d);
      to += i * walk.stride(0, d);
      from += i * walk.stride(1, d);
    }
    const std::int64_t n = std::min(side, width - column), m = std::min(side, height - row);
    if (by_squares)
      return (ends.to_size == 2 ? transpose_tile<std::uint16_t>
              : ends.to_size == 4
                  ? transpose_tile<float>
                  : transpose_tile<double>)(ends.from + from * ends.from_size, walk.stride(1, 0), n, m,
                                            ends.to + to * ends.to_size, walk.stride(0, across));
    for (std::int64_t r = 0; r < m; ++r)
      ends.row(ends.to + (to + r * walk.stride(0, across)) * ends.to_size, walk.stride(0, 0),
               ends.from + (from + r * walk.stride(1, across)) * ends.from_size, walk.stride(1, 0), n);
  };
  parallel_for(0, outer * rows * columns, kGrain / (side * side), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t tile = begin; tile < end; ++tile) copy_tile(tile);
  });
}

// Without conversion a copy only moves bits, so four loops (one for each element size) are enough for all ten
// dtypes.
CopyRow bits_row(std::int64_t size) {
  switch (size) {
    case 1:
      return copy_row(kByte, kByte);
    case 2:
      return copy_row(kShort, kShort);
    case 4:
      return copy_row(kInt, kInt);
    default:
      return copy_row(kLong, kLong);
  }
}

void copy_flat(NdArray& out, const NdArray& x) {
  const std::int64_t to_size = element_size(out.dtype()), from_size = element_size(x.dtype()),
                     n = out.numel();
  char* const to = out.address_as<char>();
  const char* const from = x.address_as<char>();
  if (out.dtype() == x.dtype()) {
    // With fewer bytes, a second thread costs more than it saves.
    constexpr std::int64_t kBytes = 1 << 20;
    parallel_for(0, n * to_size, kBytes, [&](std::int64_t b, std::int64_t e) {
      move_bytes(to + b, from + b, static_cast<std::size_t>(e - b));
    });
    return;
  }
  const CopyRow row = copy_row(out.dtype(), x.dtype());
  parallel_for(0, n, kGrain, [&](std::int64_t b, std::int64_t e) {
    row(to + b * to_size, 1, from + b * from_size, 1, e - b);
  });
}

bool same_dense_layout(const NdArray& a, const NdArray& b) {
  if (a.is_contiguous() && b.is_contiguous()) return true;
  return a.strides() == b.strides() && a.is_dense();
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else
    return wrapping_add(a, b);
}

}  // namespace

void copy(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  if (same_dense_layout(out, x)) return copy_flat(out, x);
  const bool same = out.dtype() == x.dtype();
  const Ends ends{out.address_as<char>(),
                  x.address_as<char>(),
                  element_size(out.dtype()),
                  element_size(x.dtype()),
                  same ? bits_row(element_size(out.dtype())) : copy_row(out.dtype(), x.dtype()),
                  same};
  Walk<2> walk(out.sizes(), {out.strides(), x.strides()});
  constexpr std::int64_t kWorthTiling = 8;
  if (walk.stride(1, 0) > 1 && walk.size(0) >= kWorthTiling)
    for (std::size_t d = walk.dims(); --d > 0;)
      if (walk.stride(1, d) == 1 && walk.size(d) >= kWorthTiling) return copy_tiles(walk, d, ends);
  walk.lengthen_runs(kWorthTiling);
  copy_rows(walk, ends);
}

void fill(NdArray& out, const Scalar& value) {
  if (out.numel() == 0) return;
  visit_all(out.dtype(), "fill_", [&]<class T> {
    // Loops that assign structs are not vectorised, so Half and BFloat16 are filled as integers.
    using Bits = std::conditional_t<is_half_v<T>, std::uint16_t, T>;
    const Bits v = std::bit_cast<Bits>(element<T>(value));
    if (out.is_dense()) {
      Bits* const data = out.address_as<Bits>();
      parallel_for(0, out.numel(), 8 * kGrain,
                   [&](std::int64_t b, std::int64_t e) { std::fill(data + b, data + e, v); });
      return;
    }
    Bits* const to = out.address_as<Bits>();
    const Walk<1> walk(out.sizes(), {out.strides()});
    walk([=](std::int64_t n, const std::array<std::int64_t, 1>& at, const std::array<std::int64_t, 1>& step) {
      Bits* const o = to + at[0];
      if (step[0] == 1)
        std::fill_n(o, n, v);
      else
        for (std::int64_t k = 0; k < n; ++k) o[k * step[0]] = v;
    });
  });
}

void accumulate(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  const Walk<2> walk(out.sizes(), {out.strides(), x.strides()});
  visit_all(out.dtype(), "add", [&]<class T> {
    T* const to = out.address_as<T>();
    const T* const from = x.address_as<T>();
    walk([=](std::int64_t n, const std::array<std::int64_t, 2>& at, const std::array<std::int64_t, 2>& step) {
      T* const o = to + at[0];
      const T* const i = from + at[1];
      if (step[0] == 1 && step[1] == 1)
        for (std::int64_t k = 0; k < n; ++k) o[k] = plus(o[k], i[k]);
      else
        for (std::int64_t k = 0; k < n; ++k) o[k * step[0]] = plus(o[k * step[0]], i[k * step[1]]);
    });
  });
}

}  // namespace ebb::cpu
