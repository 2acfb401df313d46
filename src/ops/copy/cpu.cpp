// Copies and fills on the CPU: whole blocks where the layouts allow, tiles for transposed operands, rows
// else.
#include <ebb/core/visit.h>

#include "kernel/cpu/parallel.h"
#include "ops/copy/kernels.h"
#include "ops/copy/row.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ebb::cpu {
namespace {

// Dimensions of a copy from the outermost to the innermost of the destination, merged where both sides allow.
struct Plan {
  DimVector sizes, to, from;
  std::size_t dims() const { return sizes.size(); }
};

Plan make_plan(const NdArray& out, const NdArray& x) {
  DimVector order;
  for (std::size_t i = 0; i < out.sizes().size(); ++i) {
    if (out.sizes()[i] == 1) continue;
    std::size_t at = order.size();
    const auto outer = [&](std::int64_t j) {
      const std::int64_t a = out.strides()[j], b = out.strides()[i];
      return a != b ? a > b : x.strides()[j] >= x.strides()[i];
    };
    while (at > 0 && !outer(order[at - 1])) --at;
    order.insert(order.begin() + at, static_cast<std::int64_t>(i));
  }
  Plan p;
  for (std::int64_t i : order) {
    const std::int64_t size = out.sizes()[i], to = out.strides()[i], from = x.strides()[i];
    if (p.dims() && p.to.back() == to * size && p.from.back() == from * size) {
      p.sizes.back() *= size;
      p.to.back() = to;
      p.from.back() = from;
    } else {
      p.sizes.push_back(size);
      p.to.push_back(to);
      p.from.push_back(from);
    }
  }
  if (!p.dims()) p.sizes.push_back(1), p.to.push_back(1), p.from.push_back(1);
  return p;
}

struct Ends {
  char* to;
  const char* from;
  std::int64_t to_size, from_size;
  CopyRow row;
};

// Every row of the innermost dimension, cut at any element so that one long row is shared among threads too.
void copy_rows(const Plan& p, const Ends& ends) {
  const std::size_t last = p.dims() - 1;
  const std::int64_t inner = p.sizes[last];
  std::int64_t total = 1;
  for (std::int64_t s : p.sizes) total *= s;
  parallel_for(0, total, kGrain, [&](std::int64_t begin, std::int64_t end) {
    DimVector index(p.dims(), 0);
    std::int64_t rest = begin, to = 0, from = 0;
    for (std::size_t d = p.dims(); d-- > 0;) {
      index[d] = rest % p.sizes[d];
      rest /= p.sizes[d];
      to += index[d] * p.to[d];
      from += index[d] * p.from[d];
    }
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t n = std::min(inner - index[last], end - at);
      ends.row(ends.to + to * ends.to_size, p.to[last], ends.from + from * ends.from_size, p.from[last], n);
      at += n;
      to -= index[last] * p.to[last];
      from -= index[last] * p.from[last];
      index[last] = 0;
      for (std::size_t d = last; d-- > 0;) {
        to += p.to[d];
        from += p.from[d];
        if (++index[d] < p.sizes[d]) break;
        to -= p.sizes[d] * p.to[d];
        from -= p.sizes[d] * p.from[d];
        index[d] = 0;
      }
    }
  });
}

// Rows of a few elements cost more to start than to copy: the longest dimension goes innermost instead.
void lengthen_rows(Plan& p, std::int64_t few) {
  const std::size_t last = p.dims() - 1;
  if (p.sizes[last] >= few) return;
  std::size_t longest = last;
  for (std::size_t d = 0; d < last; ++d)
    if (p.sizes[d] > p.sizes[longest]) longest = d;
  std::swap(p.sizes[last], p.sizes[longest]);
  std::swap(p.to[last], p.to[longest]);
  std::swap(p.from[last], p.from[longest]);
}

// The destination runs along the last dimension, the source along dimension `across`: tiles keep both in
// cache.
void copy_tiles(const Plan& p, std::size_t across, const Ends& ends) {
  constexpr std::int64_t kTile = 32;
  const std::size_t last = p.dims() - 1;
  const std::int64_t width = p.sizes[last], height = p.sizes[across];
  const std::int64_t columns = (width + kTile - 1) / kTile, rows = (height + kTile - 1) / kTile;
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < last; ++d)
    if (d != across) outer *= p.sizes[d];
  parallel_for(0, outer * rows * columns, kGrain / (kTile * kTile),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t tile = begin; tile < end; ++tile) {
                   const std::int64_t column = tile % columns * kTile, row = tile / columns % rows * kTile;
                   std::int64_t rest = tile / columns / rows;
                   std::int64_t to = column * p.to[last] + row * p.to[across];
                   std::int64_t from = column * p.from[last] + row * p.from[across];
                   for (std::size_t d = last; d-- > 0;) {
                     if (d == across) continue;
                     const std::int64_t i = rest % p.sizes[d];
                     rest /= p.sizes[d];
                     to += i * p.to[d];
                     from += i * p.from[d];
                   }
                   const std::int64_t n = std::min(kTile, width - column), m = std::min(kTile, height - row);
                   for (std::int64_t r = 0; r < m; ++r)
                     ends.row(ends.to + (to + r * p.to[across]) * ends.to_size, p.to[last],
                              ends.from + (from + r * p.from[across]) * ends.from_size, p.from[last], n);
                 }
               });
}

// Same dtype means same bits: four loops serve all ten.
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
  char* const to = out.data_as<char>();
  const char* const from = x.data_as<char>();
  if (out.dtype() == x.dtype()) {
    // Below this a second thread costs more than it brings.
    constexpr std::int64_t kBytes = 1 << 20;
    parallel_for(0, n * to_size, kBytes, [&](std::int64_t b, std::int64_t e) {
      std::memcpy(to + b, from + b, static_cast<std::size_t>(e - b));
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

}  // namespace

void copy(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  if (same_dense_layout(out, x)) return copy_flat(out, x);
  const bool same = out.dtype() == x.dtype();
  const Ends ends{out.data_as<char>(), x.data_as<char>(), element_size(out.dtype()), element_size(x.dtype()),
                  same ? bits_row(element_size(out.dtype())) : copy_row(out.dtype(), x.dtype())};
  Plan p = make_plan(out, x);
  const std::size_t last = p.dims() - 1;
  constexpr std::int64_t kWorthTiling = 8;
  if (p.from[last] > 1 && p.sizes[last] >= kWorthTiling)
    for (std::size_t d = 0; d < last; ++d)
      if (p.from[d] == 1 && p.sizes[d] >= kWorthTiling) return copy_tiles(p, d, ends);
  lengthen_rows(p, kWorthTiling);
  copy_rows(p, ends);
}

void fill(NdArray& out, const Scalar& value) {
  if (out.numel() == 0) return;
  visit_all(out.dtype(), "fill_", [&]<class T> {
    const T v = element<T>(value);
    if (out.is_dense()) {
      T* const data = out.data_as<T>();
      parallel_for(0, out.numel(), 8 * kGrain,
                   [&](std::int64_t b, std::int64_t e) { std::fill(data + b, data + e, v); });
      return;
    }
    NdArray one = NdArray::empty({}, out.dtype());
    *one.data_as<T>() = v;
    copy(out, one.expand(out.sizes()));
  });
}

}  // namespace ebb::cpu
