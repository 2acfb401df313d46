// The CPU kernels join and triangle.
#include "kernel/cpu/vector.h"
#include "kernel/cpu/walk.h"
#include "ops/common/kernels.h"
#include "ops/shape/kernels.h"

#include <algorithm>
#include <cstring>

namespace ebb::cpu {

namespace {

// Returns the distance between the rows of x in elements, or -1 if a row is not contiguous or the distance is
// not constant. A row consists of `dim` and the dimensions after it.
std::int64_t pitch_of(const NdArray& x, std::size_t dim) {
  std::int64_t inside = 1, rows = 1, pitch = 0;
  for (std::size_t d = x.sizes().size(); d-- > 0;) {
    const std::int64_t size = x.sizes()[d], stride = x.strides()[d];
    if (size == 1) continue;
    if (d >= dim) {
      if (stride != inside) return -1;
      inside *= size;
      continue;
    }
    if (rows == 1) pitch = stride;
    if (stride != pitch * rows) return -1;
    rows *= size;
  }
  return pitch;
}

struct RowPiece {
  const char* from;
  std::int64_t pitch, size;  // bytes
};

// Joins row by row, so that the result is written in order. Returns false and does nothing if there is only
// one row, or if rows are too short or not contiguous.
bool join_rows(NdArray& out, const std::vector<NdArray>& pieces, std::size_t dim) {
  constexpr std::int64_t kWorthCalling = 64;
  const std::int64_t bytes = element_size(out.dtype());
  std::int64_t rows = 1, inner = bytes;
  for (std::size_t d = 0; d < out.sizes().size(); ++d) (d < dim ? rows : inner) *= out.sizes()[d];
  if (rows == 1 || inner < kWorthCalling * static_cast<std::int64_t>(pieces.size())) return false;
  const std::int64_t out_pitch = pitch_of(out, dim) * bytes;
  std::vector<RowPiece> parts;
  for (const NdArray& piece : pieces) {
    const std::int64_t pitch = pitch_of(piece, dim);
    if (pitch < 0 || out_pitch < 0) return false;
    parts.push_back({piece.address_as<const char>(), pitch * bytes, piece.numel() / rows * bytes});
  }
  char* const to = out.address_as<char>();
  parallel_for(0, rows, std::max<std::int64_t>(kGrain * 4 / inner, 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   char* at = to + row * out_pitch;
                   for (const RowPiece& part : parts) {
                     move_bytes(at, part.from + row * part.pitch, static_cast<std::size_t>(part.size));
                     at += part.size;
                   }
                 }
               });
  return true;
}

}  // namespace

void join(NdArray& out, const std::vector<NdArray>& pieces, std::int64_t dim) {
  const auto at_dim = static_cast<std::size_t>(dim);
  if (join_rows(out, pieces, at_dim)) return;
  std::int64_t begin = 0;
  for (const NdArray& piece : pieces) {
    NdArray place =
        out.as_strided(piece.sizes(), out.strides(), out.offset() + begin * out.strides()[at_dim]);
    copy(place, piece);
    begin += piece.sizes()[at_dim];
  }
}

void triangle(NdArray& out, const NdArray& x, std::int64_t diagonal, bool lower) {
  if (out.numel() == 0) return;
  const std::size_t rank = out.sizes().size();
  const std::int64_t columns = out.sizes()[rank - 1], rows = out.sizes()[rank - 2];
  const std::int64_t out_step = out.strides()[rank - 1], x_step = x.strides()[rank - 1];
  visit_bits(out.dtype(), [&]<class T> {
    T* const to = static_cast<T*>(out.address());
    const T* const from = static_cast<const T*>(x.address());
    const std::int64_t grain = std::max<std::int64_t>(kGrain / columns, 1);
    parallel_for(0, out.numel() / columns, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) {
        std::int64_t rest = line, out_at = 0, x_at = 0;
        for (std::size_t d = rank - 1; d-- > 0;) {
          out_at += rest % out.sizes()[d] * out.strides()[d];
          x_at += rest % out.sizes()[d] * x.strides()[d];
          rest /= out.sizes()[d];
        }
        const std::int64_t edge = line % rows + diagonal;  // the column of the diagonal
        const std::int64_t kept_from = lower ? 0 : std::clamp<std::int64_t>(edge, 0, columns);
        const std::int64_t kept_to = lower ? std::clamp<std::int64_t>(edge + 1, 0, columns) : columns;
        T* const o = to + out_at;
        const T* const i = from + x_at;
        if (out_step == 1 && x_step == 1) {
          std::fill(o, o + kept_from, T{});
          if (o != i) std::copy(i + kept_from, i + kept_to, o + kept_from);
          std::fill(o + kept_to, o + columns, T{});
          continue;
        }
        for (std::int64_t c = 0; c < kept_from; ++c) o[c * out_step] = T{};
        if (o != i || out_step != x_step)
          for (std::int64_t c = kept_from; c < kept_to; ++c) o[c * out_step] = i[c * x_step];
        for (std::int64_t c = kept_to; c < columns; ++c) o[c * out_step] = T{};
      }
    });
  });
}

}  // namespace ebb::cpu
