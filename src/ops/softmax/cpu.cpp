// softmax on the CPU: exponentials by Eigen's packets.
#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/exp.h"
#include "kernel/cpu/lines.h"
#include "kernel/cpu/parts.h"
#include "kernel/cpu/reduce.h"
#include "kernel/reducers.h"
#include "ops/softmax/kernels.h"

#include <ebb/core/visit.h>

#include <Eigen/Core>

#include <cmath>

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

template <class T, bool kLog>
void forward_line(T* y, const T* x, std::int64_t n) {
  const T top = reduce_row(reducing::Extreme<T, true>(), x, n);
  if constexpr (!kLog) {
    Row<T>(y, n) = exp_of(ConstRow<T>(x, n) - top);
    Row<T>(y, n) *= T(1) / reduce_row(reducing::Sum<T>(), y, n);
  } else {
    const reducing::Sum<T> add;
    Cascade<reducing::Sum<T>> total(add);
    T part[1024];
    for (std::int64_t i = 0; i < n; i += 1024) {
      const std::int64_t m = std::min<std::int64_t>(1024, n - i);
      Row<T>(part, m) = exp_of(ConstRow<T>(x + i, m) - top);
      total.push(reduce_run(add, part, m, 0));
    }
    Row<T>(y, n) = (ConstRow<T>(x, n) - top) - std::log(total.total());
  }
}

template <class T, bool kLog>
void backward_line(T* out, const T* g, const T* y, std::int64_t n) {
  if constexpr (kLog) {
    const T total = reduce_row(reducing::Sum<T>(), g, n);
    Row<T>(out, n) = ConstRow<T>(g, n) - exp_of(ConstRow<T>(y, n)) * total;
  } else {
    const reducing::Sum<T> add;
    Cascade<reducing::Sum<T>> total(add);
    T part[1024];
    for (std::int64_t i = 0; i < n; i += 1024) {
      const std::int64_t m = std::min<std::int64_t>(1024, n - i);
      Row<T>(part, m) = ConstRow<T>(g + i, m) * ConstRow<T>(y + i, m);
      total.push(reduce_run(add, part, m, 0));
    }
    Row<T>(out, n) = (ConstRow<T>(g, n) - total.total()) * ConstRow<T>(y, n);
  }
}

template <class T, bool kLog>
void forward_block(T* y, const T* x, std::int64_t n, std::int64_t stride, std::int64_t width) {
  Eigen::Array<T, kTile, 1> top_store, sum_store, part_store;
  Row<T> top(top_store.data(), width), sum(sum_store.data(), width), part(part_store.data(), width);
  const reducing::Extreme<T, true> max;
  top = ConstRow<T>(x, width);
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t c = 0; c < width; ++c) top[c] = max.merge(top[c], x[i * stride + c]);
  sum_by_runs(kColumnRun, n, sum.data(), width, [&](std::int64_t first, std::int64_t rows, T*) {
    sum.setZero();
    for (std::int64_t i = first; i < first + rows; ++i) {
      if constexpr (kLog) {
        part = exp_of(ConstRow<T>(x + i * stride, width) - top);
        sum += part;
      } else {
        Row<T> row(y + i * stride, width);
        row = exp_of(ConstRow<T>(x + i * stride, width) - top);
        sum += row;
      }
    }
  });
  if constexpr (kLog)
    sum = sum.log();
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

template <class T, bool kLog>
void backward_block(T* out, const T* g, const T* y, std::int64_t n, std::int64_t stride, std::int64_t width) {
  Eigen::Array<T, kTile, 1> store;
  Row<T> total(store.data(), width);
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
  for (std::int64_t i = 0; i < n; ++i) {
    const ConstRow<T> row(g + i * stride, width), result(y + i * stride, width);
    if constexpr (kLog)
      Row<T>(out + i * stride, width) = row - exp_of(result) * total;
    else
      Row<T>(out + i * stride, width) = (row - total) * result;
  }
}

// A line whose elements lie apart or are of 16 bits, brought together in the type that is computed in.
// Aligned, for which elements Eigen takes one by one depends on the address, and its exp() of one has other
// bits than of several.
template <class Acc>
using Line = Eigen::Array<Acc, Eigen::Dynamic, 1>;
template <class T>
void gather(reducing::Accumulator<T>* to, const T* from, std::int64_t n, std::int64_t stride) {
  if (stride == 1) return convert_contiguous(to, from, n);
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<reducing::Accumulator<T>>(from[i * stride]);
}
template <class T>
void scatter(T* to, const reducing::Accumulator<T>* from, std::int64_t n, std::int64_t stride) {
  if (stride == 1) return convert_contiguous(to, from, n);
  for (std::int64_t i = 0; i < n; ++i) to[i * stride] = static_cast<T>(from[i]);
}

template <class T, bool kLog>
void forward(T* y, const T* x, const Lines& lines) {
  using Acc = reducing::Accumulator<T>;
  const std::int64_t n = lines.n;
  if constexpr (std::is_same_v<Acc, T>) {
    if (lines.inner == 1)
      return for_each_line(lines, kExpCost,
                           [&](std::int64_t i) { forward_line<T, kLog>(y + i * n, x + i * n, n); });
    if (lines.inner >= 8)
      return for_each_block<kTile>(lines, kExpCost, [&](std::int64_t at, std::int64_t width) {
        forward_block<T, kLog>(y + at, x + at, n, lines.inner, width);
      });
  }
  for_each_line(lines, kExpCost, [&](std::int64_t i) {
    Line<Acc> line(2 * n);
    gather<T>(line.data(), x + lines.start(i), n, lines.inner);
    forward_line<Acc, kLog>(line.data() + n, line.data(), n);
    scatter<T>(y + lines.start(i), line.data() + n, n, lines.inner);
  });
}

template <class T, bool kLog>
void backward(T* out, const T* g, const T* y, const Lines& lines) {
  using Acc = reducing::Accumulator<T>;
  const std::int64_t n = lines.n;
  if constexpr (std::is_same_v<Acc, T>) {
    if (lines.inner == 1)
      return for_each_line(lines, kLog ? kExpCost : 2, [&](std::int64_t i) {
        backward_line<T, kLog>(out + i * n, g + i * n, y + i * n, n);
      });
    if (lines.inner >= 8)
      return for_each_block<kTile>(lines, kLog ? kExpCost : 2, [&](std::int64_t at, std::int64_t width) {
        backward_block<T, kLog>(out + at, g + at, y + at, n, lines.inner, width);
      });
  }
  for_each_line(lines, kExpCost, [&](std::int64_t i) {
    Line<Acc> line(3 * n);
    gather<T>(line.data(), g + lines.start(i), n, lines.inner);
    gather<T>(line.data() + n, y + lines.start(i), n, lines.inner);
    backward_line<Acc, kLog>(line.data() + 2 * n, line.data(), line.data() + n, n);
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

void softmax_backward(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log) {
  if (y.numel() == 0) return;
  visit_floating(y.dtype(), log ? "log_softmax" : "softmax", [&]<class T> {
    (log ? backward<T, true> : backward<T, false>)(out.address_as<T>(), grad.address_as<T>(),
                                                   y.address_as<T>(), Lines(y.sizes(), dim));
  });
}

}  // namespace ebb::cpu
