// The CPU kernels gather, scatter, masked_fill and nonzero.
#include <ebb/core/visit.h>

#include "kernel/cpu/walk.h"
#include "ops/index/combine.h"
#include "ops/index/cpu_wide_sums.h"
#include "ops/index/kernels.h"

#include <algorithm>
#include <atomic>
#include <functional>

namespace ebb::cpu {

namespace {

using Run2 = std::array<std::int64_t, 2>;
using Run3 = std::array<std::int64_t, 3>;

// Returns the strides of x with the stride of `dim` set to 0, because the index gives the position along
// `dim`.
DimVector strides_without(const NdArray& x, std::int64_t dim) {
  DimVector strides(x.strides());
  strides[dim] = 0;
  return strides;
}

using indexing::combine;

// The arguments are passed by value, because references would force the loop variables into memory.
[[noreturn, gnu::cold, gnu::noinline]] void fail_outside(const char* op, std::int64_t index, std::int64_t dim,
                                                         std::int64_t size) {
  ebb::detail::fail<IndexError>(op, ": index ", index, " is out of bounds for dimension ", dim, " with size ",
                                size, ".");
}

// Checks that indices along `dim` are in [0, size). Each index is checked when it is used, because the check
// then overlaps with the loads of elements. With a separate pass over the indices, the main loop would have
// no branches, but the pass would take additional time.
struct Inside {
  const char* op;
  std::int64_t dim, size;

  std::int64_t operator()(std::int64_t index) const {
    if (static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(size)) [[unlikely]]
      fail_outside(op, index, dim, size);
    return index;
  }
};

// Returns whether the index may repeat a value along `dim` so often that a float sum loses accuracy.
bool line_may_repeat_often(const NdArray& index, std::int64_t dim) {
  const std::int64_t length = index.sizes()[dim], step = index.strides()[dim];
  if (length <= kMostFloatTerms) return false;
  DimVector lines(index.sizes());
  for (std::int64_t d = 0; d < index.dim(); ++d)
    if (d == dim || index.strides()[d] == 0) lines[d] = 1;
  std::atomic<bool> found = false;
  const std::int64_t* const places = index.address_as<std::int64_t>();
  Walk<1>(lines, {index.strides()}).weighted(length, [&](std::int64_t count, const auto& at, const auto& by) {
    for (std::int64_t l = 0; l < count && !found; ++l)
      if (may_repeat_often(places + at[0] + l * by[0], length, step)) found = true;
  });
  return found;
}

// Computes o[k * step[0]] = base[k * step[2] + places[k * step[1]] * stride]. The loops of gather_run() and
// scatter_run() are separate functions so that their variables stay in registers.
template <class T>
[[gnu::noinline]] void gather_run(T* o, const T* base, const std::int64_t* places, std::int64_t n, Run3 step,
                                  std::int64_t stride, Inside inside) {
  if (step == Run3{1, 1, 0} && stride == 1)
    for (std::int64_t k = 0; k < n; ++k) o[k] = base[inside(places[k])];
  else
    for (std::int64_t k = 0; k < n; ++k)
      o[k * step[0]] = base[k * step[2] + inside(places[k * step[1]]) * stride];
}

// Calls put(o[k * step[2] + places[k * step[0]] * stride], values[k * step[1]]) for each k < n.
template <class T, class Put>
[[gnu::noinline]] void scatter_run(T* o, const T* values, const std::int64_t* places, std::int64_t n,
                                   Run3 step, std::int64_t stride, Inside inside, Put put) {
  const auto [place_step, value_step, out_step] = step;
  if (place_step == 1 && out_step == 0 && stride == 1)
    for (std::int64_t k = 0; k < n; ++k) put(o[inside(places[k])], values[k * value_step]);
  else
    for (std::int64_t k = 0; k < n; ++k)
      put(o[k * out_step + inside(places[k * place_step]) * stride], values[k * value_step]);
}

}  // namespace

void gather(NdArray& out, const NdArray& x, std::int64_t dim, const NdArray& index) {
  if (out.numel() == 0) return;
  const DimVector moving = strides_without(x, dim);
  const Walk<3> walk(out.sizes(), {out.strides(), index.strides(), moving});
  const std::int64_t stride = x.strides()[dim];
  const Inside inside{"gather", dim, x.sizes()[dim]};
  const std::int64_t* const which = index.address_as<std::int64_t>();
  visit_bits(out.dtype(), [&]<class T> {
    T* const to = static_cast<T*>(out.address());
    const T* const from = static_cast<const T*>(x.address());
    walk([=](std::int64_t n, const Run3& at, const Run3& step) {
      gather_run(to + at[0], from + at[2], which + at[1], n, step, stride, inside);
    });
  });
}

void scatter(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src,
             kernels::ScatterOp op) {
  if (index.numel() == 0) return;
  const DimVector moving = strides_without(out, dim);
  const std::int64_t stride = out.strides()[dim];
  const Inside inside{"scatter", dim, out.sizes()[dim]};
  // The longest dimension other than `dim` is divided among threads. Two threads then never write the same
  // element.
  std::int64_t along = -1;
  for (std::int64_t d = 0; d < index.dim(); ++d)
    if (d != dim && index.sizes()[d] > 1 && (along < 0 || index.sizes()[d] > index.sizes()[along])) along = d;
  const std::int64_t length = along < 0 ? 1 : index.sizes()[along];
  const bool rounds = op == kernels::ScatterOp::add || op == kernels::ScatterOp::multiply;
  visit_all(out.dtype(), "scatter", [&]<class T> {
    if constexpr (is_half_v<T> || std::is_same_v<T, float>)
      if (is_half_v<T> ? rounds && index.sizes()[dim] > 1
                       : op == kernels::ScatterOp::add && line_may_repeat_often(index, dim)) {
        DimVector lines(index.sizes());
        lines[dim] = 1;
        const auto combine_by = [&](auto merge) {
          combine_lines(out.address_as<T>(), index.address_as<std::int64_t>(), src.address_as<T>(),
                        Walk<3>(lines, {index.strides(), src.strides(), out.strides()}),
                        ScatterLines{index.sizes()[dim], index.strides()[dim], src.strides()[dim], stride},
                        out.sizes()[dim], merge, inside);
        };
        return op == kernels::ScatterOp::add ? combine_by(std::plus<double>())
                                             : combine_by(std::multiplies<double>());
      }
    const std::int64_t grain = std::max<std::int64_t>(kGrain * length / index.numel(), 1);
    parallel_for(0, length, grain, [&](std::int64_t begin, std::int64_t end) {
      DimVector sizes(index.sizes());
      std::int64_t index_at = 0, src_at = 0, out_at = 0;
      if (along >= 0) {
        sizes[along] = end - begin;
        index_at = begin * index.strides()[along];
        src_at = begin * src.strides()[along];
        out_at = begin * out.strides()[along];
      }
      const std::int64_t* const which = index.address_as<std::int64_t>() + index_at;
      const T* const from = src.address_as<T>() + src_at;
      T* const to = out.address_as<T>() + out_at;
      const Walk<3> walk(sizes, {index.strides(), src.strides(), moving});
      const auto write = [&](auto&& put) {
        walk.serial([&](std::int64_t n, const Run3& at, const Run3& step) {
          scatter_run(to + at[2], from + at[1], which + at[0], n, step, stride, inside, put);
        });
      };
      if (op == kernels::ScatterOp::assign)
        write([](T& o, T v) { o = v; });
      else if (op == kernels::ScatterOp::add)
        write([](T& o, T v) { o = combine(o, v, kernels::ScatterOp::add); });
      else
        write([op](T& o, T v) { o = combine(o, v, op); });
    });
  });
}

void masked_fill(NdArray& out, const NdArray& mask, const NdArray& value) {
  if (out.numel() == 0) return;
  const Walk<2> walk(out.sizes(), {out.strides(), mask.strides()});
  const auto* const where = static_cast<const std::uint8_t*>(mask.address());
  visit_bits(out.dtype(), [&]<class T> {
    const T v = *static_cast<const T*>(value.address());
    T* const to = static_cast<T*>(out.address());
    // Blends with bit masks, because a branch on the mask would be unpredictable.
    const auto fill = [v](T& o, std::uint8_t m) {
      const T chosen = static_cast<T>(T(0) - static_cast<T>(m != 0));
      o = static_cast<T>((v & chosen) | (o & static_cast<T>(~chosen)));
    };
    walk([=](std::int64_t n, const Run2& at, const Run2& step) {
      T* const o = to + at[0];
      const std::uint8_t* const m = where + at[1];
      if (step[0] == 1 && step[1] == 1)
        for (std::int64_t k = 0; k < n; ++k) fill(o[k], m[k]);
      else
        for (std::int64_t k = 0; k < n; ++k) fill(o[k * step[0]], m[k * step[1]]);
    });
  });
}

void nonzero(NdArray& out, const NdArray& x) {
  const std::int64_t dims = x.dim(), n = dims == 0 ? 1 : x.sizes().back();
  const std::int64_t step = dims == 0 ? 1 : x.strides().back();
  visit_all(x.dtype(), "nonzero", [&]<class Element> {
    using T = std::conditional_t<std::is_same_v<Element, bool>, std::uint8_t, Element>;
    const T* const from = static_cast<const T*>(x.address());
    const auto counts = [](T value) {
      if constexpr (std::is_integral_v<T>)
        return value != T{};
      else
        return static_cast<double>(value) != 0;
    };
    // Calls row(at, elements) for each row of x in row-major order, for any strides; `at` contains the
    // indices of the row. for_rows is called twice: the first call counts the nonzero elements, and the
    // second call writes their indices.
    const auto for_rows = [&](auto&& row) {
      DimVector at(static_cast<std::size_t>(dims), 0);
      std::int64_t offset = 0;
      for (std::int64_t rows = n == 0 ? 0 : x.numel() / n; rows > 0; --rows) {
        row(at, from + offset);
        for (std::int64_t d = dims - 1; d-- > 0;) {
          offset += x.strides()[d];
          if (++at[d] < x.sizes()[d]) break;
          offset -= x.sizes()[d] * x.strides()[d];
          at[d] = 0;
        }
      }
    };
    std::int64_t left = 0;
    for_rows([&](const DimVector&, const T* row) {
      if (step == 1)
        for (std::int64_t k = 0; k < n; ++k) left += counts(row[k]);
      else
        for (std::int64_t k = 0; k < n; ++k) left += counts(row[k * step]);
    });
    out = NdArray::empty({left, dims}, kLong);
    std::int64_t* to = out.address_as<std::int64_t>();
    constexpr std::int64_t kChunk = 512;
    std::int64_t places[kChunk];
    for_rows([&](const DimVector& at, const T* row) {
      for (std::int64_t begin = 0; begin < n; begin += kChunk) {
        // Writes each position k to places[found]. If element k is zero, the next position overwrites k. This
        // avoids a branch, which would be unpredictable.
        std::int64_t found = 0;
        for (std::int64_t k = begin, end = std::min(n, begin + kChunk); k < end; ++k) {
          places[found] = k;
          found += counts(row[k * step]);
        }
        for (std::int64_t d = 0; d + 1 < dims; ++d)
          for (std::int64_t i = 0; i < found; ++i) to[i * dims + d] = at[d];
        if (dims > 0)
          for (std::int64_t i = 0; i < found; ++i) to[(i + 1) * dims - 1] = places[i];
        to += found * dims;
      }
    });
  });
}

}  // namespace ebb::cpu
