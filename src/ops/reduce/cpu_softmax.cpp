// The CPU kernels softmax and softmax_backward, with Eigen's vectorized exp.
#include <ebb/core/visit.h>

#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/exp.h"
#include "kernel/cpu/lines.h"
#include "kernel/cpu/parts.h"
#include "kernel/cpu/reduce.h"
#include "kernel/reducers.h"
#include "ops/reduce/softmax_kernels.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ebb::cpu {
namespace {

using Eigen::Dynamic;
template <class T>
using Row = Eigen::Map<Eigen::Array<T, Dynamic, 1>>;
template <class T>
using ConstRow = Eigen::Map<const Eigen::Array<T, Dynamic, 1>>;

constexpr std::int64_t kExpCost = 8;
constexpr std::int64_t kTile = 128;

template <class Op>
typename Op::Acc reduce_row(const Op& op, const typename Op::In* x, std::int64_t n) {
  if (n <= kReduceBlock) return reduce_run(op, x, n, 0);
  Cascade<Op> cascade(op);
  for (std::int64_t i = 0; i < n; i += kReduceBlock)
    cascade.push(reduce_run(op, x + i, std::min(kReduceBlock, n - i), 0));
  return cascade.total();
}

/// A result above this bound has a probability over 1/2 (with kLog, results are logarithms of probabilities).
/// The element with this result is called the leader of its line (the vector of elements along the
/// dimension).
template <class T, bool kLog>
constexpr T kLeaderBound = kLog ? T(-0.6931) : T(0.5);

template <class T>
bool any_above(T bound, const T* x, std::int64_t n) {
  int any = 0;
  for (std::int64_t i = 0; i < n; ++i) any |= x[i] > bound;
  return any != 0;
}
/// Returns the position of the first element above `bound`, or n.
template <class T>
std::int64_t find_above(T bound, const T* x, std::int64_t n) {
  constexpr std::int64_t kBlock = 64;
  std::int64_t i = 0;
  while (i + kBlock <= n && !any_above(bound, x + i, kBlock)) i += kBlock;
  return std::find_if(x + i, x + n, [&](T element) { return element > bound; }) - x;
}

template <class T, bool kLog>
void forward_line(T* y, const T* x, std::int64_t n) {
  const T top = reduce_row(reducers::Extreme<T, true>(), x, n);
  const reducers::Sum<T> add;
  if constexpr (!kLog) {
    Row<T>(y, n) = exp_of(ConstRow<T>(x, n) - top);
    Row<T>(y, n) *= T(1) / reduce_row(add, y, n);
  } else {
    T part[1024];
    const auto total = [&](auto&& change) {
      Cascade<reducers::Sum<T>> sum(add);
      for (std::int64_t i = 0; i < n; i += 1024) {
        const std::int64_t m = std::min<std::int64_t>(1024, n - i);
        Row<T>(part, m) = exp_of(ConstRow<T>(x + i, m) - top);
        change(part, m);
        sum.push(reduce_run(add, part, m, 0));
      }
      return sum.total();
    };
    T sum = total([](T*, std::int64_t) {}), log;
    if (sum < 2) {
      std::int64_t ones = 0;
      sum = total([&](T* values, std::int64_t m) { ones += take_ones(values, m); });
      log = std::log1p(sum + static_cast<T>(ones - 1));
    } else {
      log = std::log(sum);
    }
    Row<T>(y, n) = (ConstRow<T>(x, n) - top) - log;
  }
}

/// Computes the gradient (g - sum(g y)) y, or for log_softmax g - e^y sum(g). For a leader, whose probability
/// is over 1/2, the difference may lose digits by cancellation. The gradients of a line add up to 0, so the
/// gradient of the leader is minus the sum of the others.
template <class T, bool kLog>
void backward_line(T* out, const T* g, const T* y, std::int64_t n, bool whole) {
  const reducers::Sum<T> add;
  if constexpr (kLog) {
    const T total = reduce_row(add, g, n);
    Row<T>(out, n) = ConstRow<T>(g, n) - exp_of(ConstRow<T>(y, n)) * total;
  } else {
    Cascade<reducers::Sum<T>> total(add);
    T part[1024];
    for (std::int64_t i = 0; i < n; i += 1024) {
      const std::int64_t m = std::min<std::int64_t>(1024, n - i);
      Row<T>(part, m) = ConstRow<T>(g + i, m) * ConstRow<T>(y + i, m);
      total.push(reduce_run(add, part, m, 0));
    }
    Row<T>(out, n) = (ConstRow<T>(g, n) - total.total()) * ConstRow<T>(y, n);
  }
  const std::int64_t leader = whole ? find_above(kLeaderBound<T, kLog>, y, n) : n;
  if (leader == n || std::isnan(out[leader])) return;
  out[leader] = 0;
  out[leader] = 0 - reduce_row(add, out, n);
}

/// One value for each of several neighbouring lines.
template <class T>
class Tile {
 public:
  explicit Tile(std::int64_t width) : width_(width) {}
  Row<T> row() { return {store_.data(), width_}; }
  T* data() { return store_.data(); }

 private:
  std::int64_t width_;
  Eigen::Array<T, kTile, 1> store_;
};

/// Adds powers[c] to sum[c], or counts it in ones[c] if it is 1. The logarithm of the total is then
/// log1p(sum[c] + ones[c] - 1), which is accurate even if the total is close to 1.
template <class T>
void add_but_ones(T* __restrict sum, T* __restrict ones, const T* __restrict powers, std::int64_t width) {
  for (std::int64_t c = 0; c < width; ++c) {
    const bool one = powers[c] == 1;
    sum[c] += one ? T(0) : powers[c];
    ones[c] += one ? T(1) : T(0);
  }
}

/// Computes softmax along `width` adjacent lines. y may be x.
template <class T, bool kLog>
void forward_block(T* y, const T* x, std::int64_t n, std::int64_t stride, std::int64_t width) {
  Tile<T> tops(width), sums(width), parts(width), beyonds(width);
  auto top = tops.row(), sum = sums.row(), part = parts.row(), beyond = beyonds.row();
  const reducers::Extreme<T, true> max;
  top = ConstRow<T>(x, width);
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t c = 0; c < width; ++c) top[c] = max.merge(top[c], x[i * stride + c]);
  beyond.setConstant(-1);  // counts the exponentials that are 1, except the first
  sum_by_runs(kColumnRun, n, sum.data(), width, [&](std::int64_t first, std::int64_t rows, T*) {
    sum.setZero();
    for (std::int64_t i = first; i < first + rows; ++i) {
      if constexpr (kLog) {
        part = exp_of(ConstRow<T>(x + i * stride, width) - top);
        add_but_ones(sums.data(), beyonds.data(), parts.data(), width);
      } else {
        Row<T> row(y + i * stride, width);
        row = exp_of(ConstRow<T>(x + i * stride, width) - top);
        sum += row;
      }
    }
  });
  if constexpr (kLog)
    sum = (sum + beyond).log1p();
  else
    sum = sum.inverse();
  for (std::int64_t i = 0; i < n; ++i) {
    Row<T> row(y + i * stride, width);
    if constexpr (kLog)
      row = (ConstRow<T>(x + i * stride, width) - top) - sum;
    else
      row *= sum;
  }
}

/// Adds a row to the sums of columns, except the elements that are leaders. `leader` is the row of each
/// column's leader, or -1.
template <class T>
void add_but_leader(T* __restrict sum, const std::int32_t* __restrict leader, std::int32_t row,
                    const T* __restrict x, std::int64_t width) {
  for (std::int64_t c = 0; c < width; ++c) {
    const T element = x[c];
    sum[c] += leader[c] == row ? T(0) : element;
  }
}

/// Computes the gradient of softmax along `width` adjacent lines. `out` may be g.
template <class T, bool kLog>
void backward_block(T* out, const T* g, const T* y, std::int64_t n, std::int64_t stride, std::int64_t width,
                    bool whole) {
  Tile<T> totals(width);
  auto total = totals.row();
  sum_by_runs(kColumnRun, n, total.data(), width, [&](std::int64_t first, std::int64_t rows, T*) {
    total.setZero();
    for (std::int64_t i = first; i < first + rows; ++i) {
      const ConstRow<T> row(g + i * stride, width);
      if constexpr (kLog)
        total += row;
      else
        total += row * ConstRow<T>(y + i * stride, width);
    }
  });
  std::int32_t leaders[kTile];
  std::fill_n(leaders, width, -1);
  bool any = false;
  for (std::int64_t i = 0; i < n; ++i) {
    const ConstRow<T> row(g + i * stride, width), result(y + i * stride, width);
    Row<T> to(out + i * stride, width);
    if constexpr (kLog)
      to = row - exp_of(result) * total;
    else
      to = (row - total) * result;
    if (!whole || !any_above(kLeaderBound<T, kLog>, result.data(), width)) continue;
    any = true;
    for (std::int64_t c = 0; c < width; ++c)
      if (result[c] > kLeaderBound<T, kLog>) leaders[c] = static_cast<std::int32_t>(i);
  }
  if (!any) return;
  Tile<T> others(width);
  sum_by_runs(kColumnRun, n, others.data(), width, [&](std::int64_t first, std::int64_t rows, T*) {
    others.row().setZero();
    for (std::int64_t i = first; i < first + rows; ++i)
      add_but_leader(others.data(), leaders, static_cast<std::int32_t>(i), out + i * stride, width);
  });
  for (std::int64_t c = 0; c < width; ++c) {
    if (leaders[c] < 0) continue;
    T& own = out[leaders[c] * stride + c];
    if (!std::isnan(own)) own = 0 - others.data()[c];
  }
}

// Copies a line that is strided or has 16 bits to contiguous memory in the accumulation type. The copy is
// aligned, so that the results do not depend on the address. Without alignment the address would determine
// which elements Eigen processes one by one, and Eigen's scalar exp() differs from its vector exp() in the
// last bits.
template <class Acc>
using Line = Eigen::Array<Acc, Eigen::Dynamic, 1>;
template <class T>
void gather(reducers::Accumulator<T>* to, const T* from, std::int64_t n, std::int64_t stride) {
  if (stride == 1) return convert_contiguous(to, from, n);
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<reducers::Accumulator<T>>(from[i * stride]);
}
template <class T>
void scatter(T* to, const reducers::Accumulator<T>* from, std::int64_t n, std::int64_t stride) {
  if (stride == 1) return convert_contiguous(to, from, n);
  for (std::int64_t i = 0; i < n; ++i) to[i * stride] = static_cast<T>(from[i]);
}

// Converts n rows of `width` elements. The first element of row i is from[i * from_stride].
template <class To, class From>
void convert_rows(To* to, std::int64_t to_stride, const From* from, std::int64_t from_stride, std::int64_t n,
                  std::int64_t width) {
  for (std::int64_t i = 0; i < n; ++i) convert_contiguous(to + i * to_stride, from + i * from_stride, width);
}

// Returns whether interleaved lines are processed in blocks. The blocks of 16-bit elements are copied to the
// accumulation type, so longer lines would need much memory.
template <class T>
bool in_blocks(const Lines& lines) {
  constexpr std::int64_t kLongest = 4096;
  return lines.inner >= 8 && (std::is_same_v<reducers::Accumulator<T>, T> || lines.n <= kLongest);
}

template <class T, bool kLog>
void forward(T* y, const T* x, const Lines& lines) {
  using Acc = reducers::Accumulator<T>;
  const std::int64_t n = lines.n;
  if constexpr (std::is_same_v<Acc, T>) {
    if (lines.inner == 1)
      return for_each_line(lines, kExpCost,
                           [&](std::int64_t i) { forward_line<T, kLog>(y + i * n, x + i * n, n); });
  }
  if (in_blocks<T>(lines))
    return for_each_block<kTile>(lines, kExpCost, [&](std::int64_t at, std::int64_t width) {
      if constexpr (std::is_same_v<Acc, T>) {
        forward_block<T, kLog>(y + at, x + at, n, lines.inner, width);
      } else {
        Line<Acc> block(n * width);
        convert_rows(block.data(), width, x + at, lines.inner, n, width);
        forward_block<Acc, kLog>(block.data(), block.data(), n, width, width);
        convert_rows(y + at, lines.inner, block.data(), width, n, width);
      }
    });
  for_each_line(lines, kExpCost, [&](std::int64_t i) {
    Line<Acc> line(2 * n);
    gather<T>(line.data(), x + lines.start(i), n, lines.inner);
    forward_line<Acc, kLog>(line.data() + n, line.data(), n);
    scatter<T>(y + lines.start(i), line.data() + n, n, lines.inner);
  });
}

template <class T, bool kLog>
void backward(T* out, const T* g, const T* y, const Lines& lines, bool whole) {
  using Acc = reducers::Accumulator<T>;
  const std::int64_t n = lines.n;
  if constexpr (std::is_same_v<Acc, T>) {
    if (lines.inner == 1)
      return for_each_line(lines, kLog ? kExpCost : 2, [&](std::int64_t i) {
        backward_line<T, kLog>(out + i * n, g + i * n, y + i * n, n, whole);
      });
  }
  if (in_blocks<T>(lines))
    return for_each_block<kTile>(lines, kLog ? kExpCost : 2, [&](std::int64_t at, std::int64_t width) {
      if constexpr (std::is_same_v<Acc, T>) {
        backward_block<T, kLog>(out + at, g + at, y + at, n, lines.inner, width, whole);
      } else {
        Line<Acc> grads(n * width), results(n * width);
        convert_rows(grads.data(), width, g + at, lines.inner, n, width);
        convert_rows(results.data(), width, y + at, lines.inner, n, width);
        backward_block<Acc, kLog>(grads.data(), grads.data(), results.data(), n, width, width, whole);
        convert_rows(out + at, lines.inner, grads.data(), width, n, width);
      }
    });
  for_each_line(lines, kExpCost, [&](std::int64_t i) {
    Line<Acc> line(3 * n);
    gather<T>(line.data(), g + lines.start(i), n, lines.inner);
    gather<T>(line.data() + n, y + lines.start(i), n, lines.inner);
    backward_line<Acc, kLog>(line.data() + 2 * n, line.data(), line.data() + n, n, whole);
    scatter<T>(out + lines.start(i), line.data() + 2 * n, n, lines.inner);
  });
}

}  // namespace

void softmax(NdArray& out, const NdArray& x, std::int64_t dim, bool log) {
  if (x.numel() == 0) return;
  visit_floating(x.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    (log ? forward<T, true> : forward<T, false>)(out.address_as<T>(), x.address_as<T>(),
                                                 Lines(x.sizes(), dim));
  });
}

void softmax_backward(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log,
                      bool whole) {
  if (y.numel() == 0) return;
  visit_floating(y.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    (log ? backward<T, true> : backward<T, false>)(out.address_as<T>(), grad.address_as<T>(),
                                                   y.address_as<T>(), Lines(y.sizes(), dim), whole);
  });
}

}  // namespace ebb::cpu
