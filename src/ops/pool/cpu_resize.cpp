// The CPU kernel resize_axis: each output element is a weighted sum of a window of the input.
#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "kernel/cpu/parts.h"
#include "ops/pool/resample_kernels.h"

#include <algorithm>

namespace ebb::cpu {
namespace {

// Computes to[i], the sum over k < n of weight(k) row(k)[i]. Rows with weight 0 are not read.
template <class To, class C, class Weight, class Row>
void weigh_rows(To* to, std::int64_t inner, std::int64_t n, C* sums, const Weight& weight, const Row& row) {
  sum_by_runs(kColumnRun, n, sums, inner, [&](std::int64_t first, std::int64_t rows, C* run) {
    std::fill_n(run, inner, C(0));
    for (std::int64_t k = first; k < first + rows; ++k) {
      const C w = weight(k);
      if (w == C(0)) continue;
      const auto* const from = row(k);
      for (std::int64_t i = 0; i < inner; ++i) run[i] += w * static_cast<C>(from[i]);
    }
  });
  for (std::int64_t i = 0; i < inner; ++i) to[i] = static_cast<To>(sums[i]);
}

/// Pointers to the data of an AxisTable, for loops.
template <class C>
struct Windows {
  const std::int64_t *starts, *users;
  const C* weights;
  std::int64_t width;
};

template <class Sum, class C>
Sum weighed(Sum sum, C weight, C x) {
  return weight == C(0) ? sum : sum + static_cast<Sum>(weight) * static_cast<Sum>(x);
}

/// Resizes a contiguous row: to[r] is the weighted sum of window r. kWidth is the width of the windows, or 0
/// if the width is known only at run time.
template <int kWidth, class To, class From, class C>
void weigh_line(To* to, const From* from, std::int64_t rows, const Windows<C>& of) {
  const std::int64_t width = kWidth ? kWidth : of.width;
  for (std::int64_t r = 0; r < rows; ++r) {
    const From* const at = from + of.starts[r];
    const C* const weights = of.weights + r * width;
    C sum(0);
    for (std::int64_t k = 0; k < width; ++k) sum = weighed(sum, weights[k], static_cast<C>(at[k]));
    to[r] = static_cast<To>(sum);
  }
}
/// Computes the transpose of weigh_line().
template <class To, class From, class C>
void weigh_line_transposed(To* to, const From* from, std::int64_t rows, const Windows<C>& of) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t begin = of.users[2 * r], end = of.users[2 * r + 1];
    const auto total = [&](auto sum) {
      for (std::int64_t o = begin; o < end; ++o)
        sum = weighed(sum, of.weights[o * of.width + r - of.starts[o]], static_cast<C>(from[o]));
      return static_cast<C>(sum);
    };
    to[r] = static_cast<To>(end - begin > kColumnRun ? total(double()) : total(C()));
  }
}

}  // namespace

void axis_table(AxisTable& table, const resizing::AxisRule& rule) {
  const std::int64_t width = rule.width();
  auto* const starts = table.starts.address_as<std::int64_t>();
  visit_float_double(table.weights.dtype(), "upsample", [&]<class C> {
    for (std::int64_t o = 0; o < rule.out; ++o)
      starts[o] = resizing::window_of(rule, width, o, table.weights.address_as<C>() + o * width);
  });
  // The starts of windows never decrease, so the windows that contain an element are consecutive.
  auto* const users = table.users.address_as<std::int64_t>();
  for (std::int64_t i = 0; i < rule.in; ++i) {
    users[2 * i] = std::lower_bound(starts, starts + rule.out, i - width + 1) - starts;
    users[2 * i + 1] = std::upper_bound(starts, starts + rule.out, i) - starts;
  }
}

void resize_axis(NdArray& out, const NdArray& in, const AxisTable& table, AxisPosition place,
                 bool transposed) {
  const std::int64_t inner = place.inner, width = table.weights.sizes()[1];
  const std::int64_t small = table.users.sizes()[0], large = table.starts.sizes()[0];
  const std::int64_t rows = transposed ? small : large, in_rows = transposed ? large : small;
  const auto* const starts = table.starts.address_as<std::int64_t>();
  const auto* const users = table.users.address_as<std::int64_t>();
  // The number of elements of a row that are summed at a time; their sums fit into the cache.
  constexpr std::int64_t kPiece = 1024;
  const std::int64_t pieces = (inner + kPiece - 1) / kPiece;
  kernels::visit_resize(out.dtype(), in.dtype(), [&]<class To, class From> {
    using C = Compute<To>;
    const C* const weights = table.weights.address_as<C>();
    if (inner == 1) {
      const Windows<C> windows{starts, users, weights, width};
      const auto line = transposed   ? &weigh_line_transposed<To, From, C>
                        : width == 1 ? &weigh_line<1, To, From, C>
                        : width == 2 ? &weigh_line<2, To, From, C>
                                     : &weigh_line<0, To, From, C>;
      return parallel_for(0, place.outer, std::max<std::int64_t>(1, kGrain / (large * width)),
                          [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t o = begin; o < end; ++o)
                              line(out.address_as<To>() + o * rows, in.address_as<From>() + o * in_rows, rows,
                                   windows);
                          });
    }
    const std::int64_t work = std::max<std::int64_t>(1, std::min(inner, kPiece) * width);
    parallel_for(
        0, place.outer * rows * pieces, std::max<std::int64_t>(1, kGrain / work),
        [&](std::int64_t begin, std::int64_t end) {
          C sums[kPiece];
          for (std::int64_t job = begin; job < end; ++job) {
            const std::int64_t at = job % pieces * kPiece, row = job / pieces, r = row % rows;
            const From* const from = in.address_as<From>() + row / rows * in_rows * inner + at;
            To* const to = out.address_as<To>() + row * inner + at;
            const std::int64_t n = std::min(kPiece, inner - at);
            if (transposed) {
              const std::int64_t first = users[2 * r];
              weigh_rows(
                  to, n, users[2 * r + 1] - first, sums,
                  [&](std::int64_t k) { return weights[(first + k) * width + r - starts[first + k]]; },
                  [&](std::int64_t k) { return from + (first + k) * inner; });
            } else {
              weigh_rows(
                  to, n, width, sums, [&](std::int64_t k) { return weights[r * width + k]; },
                  [&](std::int64_t k) { return from + (starts[r] + k) * inner; });
            }
          }
        });
  });
}

}  // namespace ebb::cpu
