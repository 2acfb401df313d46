// The reductions of the CPU: one template over a functor. Work is divided into chunks that depend only on the
// shape. Partial results are combined pairwise, which keeps the error of float sums small at little cost.
#pragma once

#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/reduce_short_rows.h"
#include "kernel/cpu/scratch.h"
#include "kernel/reduce_plan.h"

#include <type_traits>

namespace ebb::cpu {

// A functor `Op` has: In, Acc, Out; Acc identity(); Acc load(In x, std::int64_t output); Acc merge(Acc a, Acc
// b) with a before b; Out finish(Acc). kPerOutput is true if load() uses the index of the output.

constexpr std::int64_t kReduceBlock = 4096;   // elements that lanes sum before pairwise merging starts
constexpr std::int64_t kReducePiece = 32768;  // elements per task when threads share a single output
constexpr std::int64_t kReduceRows = 16;      // rows of a column sum that are read together
constexpr std::int64_t kReduceTile = 1024;    // columns per task

/// Merges partial results pairwise, like a binary counter: push() merges two results only if they contain the
/// same number of pushed values.
template <class Op>
class Cascade {
  using Acc = typename Op::Acc;

 public:
  explicit Cascade(const Op& op) : op_(op) {}
  void push(Acc value) {
    int level = 0;
    for (std::uint64_t bits = pushed_; bits & 1; bits >>= 1) value = op_.merge(levels_[level++], value);
    levels_[level] = value;
    ++pushed_;
  }
  Acc total() const {
    Acc value = op_.identity();
    bool first = true;
    int level = 0;
    for (std::uint64_t bits = pushed_; bits; bits >>= 1, ++level) {
      if (!(bits & 1)) continue;
      value = first ? levels_[level] : op_.merge(levels_[level], value);
      first = false;
    }
    return value;
  }

 private:
  const Op& op_;
  std::uint64_t pushed_ = 0;
  Acc levels_[48];
};

/// Merges 2 * Width lanes pairwise into lane 0. The width is a compile-time constant, so that the lanes stay
/// in registers.
template <int Width, class Op>
[[gnu::always_inline]] inline void merge_lanes(const Op& op, typename Op::Acc* acc) {
  for (int l = 0; l < Width; ++l) acc[l] = op.merge(acc[l], acc[l + Width]);
  if constexpr (Width > 1) merge_lanes<Width / 2>(op, acc);
}

/// True if elements of Half are loaded as floats, so that they can be converted in bulk.
template <class Op>
concept LoadsHalvesAsFloats = std::is_same_v<typename Op::In, Half> && requires {
  static_cast<typename Op::Acc (Op::*)(float, std::int64_t) const>(&Op::load);
};

/// Prefetches `bytes` bytes at a fixed distance after x. For short rows, the hardware prefetcher starts too
/// late.
[[gnu::always_inline]] inline void fetch_ahead(const void* x, std::size_t bytes) {
  constexpr std::size_t kAhead = 2048, kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine)
    __builtin_prefetch(static_cast<const char*>(x) + kAhead + at);
}

/// Reduces n contiguous elements with `Lanes` accumulators; n is a positive multiple of `Lanes`.
template <int Lanes, class Op, class X>
typename Op::Acc reduce_lanes(const Op& op, const X* x, std::int64_t n, std::int64_t output) {
  typename Op::Acc acc[Lanes];
  for (int l = 0; l < Lanes; ++l) acc[l] = op.load(x[l], output);
  for (std::int64_t i = Lanes; i < n; i += Lanes) {
    if constexpr (Lanes > kFewLanes) fetch_ahead(x + i, Lanes * sizeof(X));
    for (int l = 0; l < Lanes; ++l) acc[l] = op.merge(acc[l], op.load(x[i + l], output));
  }
  merge_lanes<Lanes / 2>(op, acc);
  return acc[0];
}

/// Reduces n <= kReduceBlock contiguous elements, of type In or already converted. Uses many lanes, then few
/// lanes for the remainder, then single elements, so that accumulators stay in registers.
template <class Op, class X>
typename Op::Acc reduce_run(const Op& op, const X* x, std::int64_t n, std::int64_t output) {
  using Acc = typename Op::Acc;
  if constexpr (std::is_same_v<X, Half> && LoadsHalvesAsFloats<Op>) {
    float numbers[kReduceBlock];
    convert_contiguous(numbers, x, n);
    return reduce_run(op, numbers, n, output);
  }
  constexpr int kMany = 256 / sizeof(Acc) < 64 ? 256 / sizeof(Acc) : 64;
  Acc total = op.identity();
  std::int64_t done = 0;
  if (n >= 2 * kMany) {
    done = n / kMany * kMany;
    total = reduce_lanes<kMany>(op, x, done, output);
  }
  if (const std::int64_t few = (n - done) / kFewLanes * kFewLanes; few > 0) {
    const Acc rest = reduce_lanes<kFewLanes>(op, x + done, few, output);
    total = done == 0 ? rest : op.merge(total, rest);
    done += few;
  }
  for (; done < n; ++done) total = op.merge(total, op.load(x[done], output));
  return total;
}

/// Reduces the elements with the indices [begin, end) among those that belong to one output.
template <class Op>
typename Op::Acc reduce_range(const Op& op, const typename Op::In* x, const SmallVector<ReduceDim, 6>& dims,
                              std::int64_t begin, std::int64_t end, std::int64_t output) {
  using In = typename Op::In;
  const bool runs = !dims.empty() && dims.back().in_stride == 1;
  if (runs && dims.size() == 1 && end - begin <= kReduceBlock)
    return reduce_run(op, x + begin, end - begin, output);
  Cascade<Op> cascade(op);
  ReduceWalk walk(dims, begin);
  if (runs && (dims.size() == 1 || dims.back().size >= 256)) {
    while (begin < end) {
      const std::int64_t n = std::min({kReduceBlock, walk.left_inside(), end - begin});
      cascade.push(reduce_run(op, x + walk.in(), n, output));
      walk.advance(n);
      begin += n;
    }
    return cascade.total();
  }
  // Short runs, and elements with a stride, are gathered into a block first.
  constexpr std::int64_t kGather = 1024;
  In block[kGather];
  while (begin < end) {
    const std::int64_t filled = std::min(kGather, end - begin);
    for (std::int64_t at = 0; at < filled;) {
      const std::int64_t n = std::min(walk.left_inside(), filled - at);
      const std::int64_t stride = dims.empty() ? 0 : dims.back().in_stride;
      const In* from = x + walk.in();
      for (std::int64_t i = 0; i < n; ++i) block[at + i] = from[i * stride];
      walk.advance(n);
      at += n;
    }
    cascade.push(reduce_run(op, block, filled, output));
    begin += filled;
  }
  return cascade.total();
}

/// Merges `kRows` rows of `width` <= kReduceTile contiguous columns, of type In or already converted, into
/// acc[0 .. width). If kFirst is true, the previous content of acc is ignored.
template <int kRows, bool kFirst, class Op, class X>
void merge_rows(const Op& op, const X* const* rows, std::int64_t width, std::int64_t output,
                typename Op::Acc* acc) {
  if constexpr (std::is_same_v<X, Half> && LoadsHalvesAsFloats<Op>) {
    float numbers[kRows][kReduceTile];
    const float* converted[kRows];
    for (int r = 0; r < kRows; ++r) {
      convert_contiguous(numbers[r], rows[r], width);
      converted[r] = numbers[r];
    }
    return merge_rows<kRows, kFirst>(op, converted, width, output, acc);
  }
#pragma GCC ivdep
  for (std::int64_t i = 0; i < width; ++i) {
    typename Op::Acc value = op.load(rows[0][i], output + i);
    if constexpr (!kFirst) value = op.merge(acc[i], value);
    for (int r = 1; r < kRows; ++r) value = op.merge(value, op.load(rows[r][i], output + i));
    acc[i] = value;
  }
}

/// Merges up to kReduceRows rows of `width` contiguous columns. Reads four rows together, because the
/// hardware prefetches four streams.
template <class Op>
void reduce_rows(const Op& op, const typename Op::In* const* rows, std::int64_t count, std::int64_t width,
                 std::int64_t output, typename Op::Acc* acc) {
  constexpr int kStreams = 4;
  std::int64_t r = count < kStreams ? 1 : kStreams;
  if (count < kStreams)
    merge_rows<1, true>(op, rows, width, output, acc);
  else
    merge_rows<kStreams, true>(op, rows, width, output, acc);
  for (; r + kStreams <= count; r += kStreams) merge_rows<kStreams, false>(op, rows + r, width, output, acc);
  for (; r < count; ++r) merge_rows<1, false>(op, rows + r, width, output, acc);
}

/// Reduces rows [begin, end) of the reduced dimensions (at least one row) for `width` <= kReduceTile columns.
/// Rows are merged pairwise.
template <class Op>
void reduce_columns(const Op& op, const typename Op::In* x, const SmallVector<ReduceDim, 6>& dims,
                    std::int64_t begin, std::int64_t end, std::int64_t width, std::int64_t output,
                    typename Op::Acc* acc) {
  using Acc = typename Op::Acc;
  if (end - begin <= kReduceRows) {
    const typename Op::In* rows[kReduceRows];
    if (dims.size() == 1) {
      for (std::int64_t r = begin; r < end; ++r) rows[r - begin] = x + r * dims[0].in_stride;
    } else {
      ReduceWalk walk(dims, begin);
      for (std::int64_t r = 0; r < end - begin; ++r, walk.advance(1)) rows[r] = x + walk.in();
    }
    return reduce_rows(op, rows, end - begin, width, output, acc);
  }
  const std::int64_t blocks = (end - begin + kReduceRows - 1) / kReduceRows;
  const std::int64_t middle = begin + (blocks + 1) / 2 * kReduceRows;
  reduce_columns(op, x, dims, begin, middle, width, output, acc);
  Acc second[kReduceTile];
  reduce_columns(op, x, dims, middle, end, width, output, second);
  for (std::int64_t i = 0; i < width; ++i) acc[i] = op.merge(acc[i], second[i]);
}

/// Reduces the elements of each output separately. Used if the reduced elements are contiguous, or if no
/// dimension is contiguous.
template <class Op>
void reduce_inner(const Op& op, typename Op::Out* out, const typename Op::In* x, const ReducePlan& plan) {
  using Acc = typename Op::Acc;
  const std::int64_t pieces =
      plan.count > 2 * kReducePiece ? (plan.count + kReducePiece - 1) / kReducePiece : 1;
  if (pieces == 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(plan.count, 1));
    const bool run = plan.reduced.size() == 1 && plan.reduced[0].in_stride == 1 && plan.count <= kReduceBlock;
    const bool together = run && plan.count <= kShortRow && !plan.kept.empty();
    const ReduceDim rows = plan.kept.empty() ? ReduceDim() : plan.kept.back();
    parallel_for(0, plan.outputs, grain, [&](std::int64_t begin, std::int64_t end) {
      ReduceWalk walk(plan.kept, begin);
      if constexpr (joins_rows<Op>)
        while (together && begin + kRowsTogether <= end && walk.left_inside() >= kRowsTogether) {
          typename Op::In block[kShortRow * kRowsTogether];
          Acc total[kRowsTogether];
          transpose_rows(x + walk.in(), rows.in_stride, kRowsTogether, plan.count, block, kRowsTogether);
          reduce_short_rows(op, block, plan.count, total);
          for (std::int64_t r = 0; r < kRowsTogether; ++r)
            out[walk.out() + r * rows.out_stride] = op.finish(total[r]);
          walk.advance(kRowsTogether);
          begin += kRowsTogether;
        }
      while (run && begin < end) {
        const std::int64_t n = std::min(walk.left_inside(), end - begin);
        for (std::int64_t r = 0; r < n; ++r) {
          const std::int64_t o = walk.out() + r * rows.out_stride;
          out[o] = op.finish(reduce_run(op, x + walk.in() + r * rows.in_stride, plan.count, o));
        }
        walk.advance(n);
        begin += n;
      }
      for (; begin < end; ++begin, walk.advance(1))
        out[walk.out()] = op.finish(reduce_range(op, x + walk.in(), plan.reduced, 0, plan.count, walk.out()));
    });
    return;
  }
  const Scratch<Acc> partial(plan.outputs * pieces);
  parallel_for(0, plan.outputs * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t job = begin; job < end; ++job) {
      const ReduceWalk walk(plan.kept, job / pieces);
      const std::int64_t from = job % pieces * kReducePiece, to = std::min(from + kReducePiece, plan.count);
      partial[job] = reduce_range(op, x + walk.in(), plan.reduced, from, to, walk.out());
    }
  });
  ReduceWalk walk(plan.kept, 0);
  for (std::int64_t o = 0; o < plan.outputs; ++o, walk.advance(1)) {
    Cascade<Op> cascade(op);
    for (std::int64_t p = 0; p < pieces; ++p) cascade.push(partial[o * pieces + p]);
    out[walk.out()] = op.finish(cascade.total());
  }
}

/// Reduces contiguous rows of outputs together, for sums over leading dimensions.
template <class Op>
void reduce_outer(const Op& op, typename Op::Out* out, const typename Op::In* x, const ReducePlan& plan) {
  using Acc = typename Op::Acc;
  const ReduceDim columns = plan.kept.back();
  SmallVector<ReduceDim, 6> outer = plan.kept;
  outer.pop_back();
  // Treats several narrow contiguous rows as one row.
  std::int64_t fold = 1;
  if (!Op::kPerOutput && plan.reduced.size() == 1 && plan.reduced[0].in_stride == columns.size &&
      columns.size <= 32)
    fold = std::min<std::int64_t>(64 / columns.size, plan.count);
  SmallVector<ReduceDim, 6> reduced = plan.reduced;
  std::int64_t count = plan.count;
  if (fold > 1) {
    count /= fold;
    reduced[0] = {count, columns.size * fold, 0};
  }
  const std::int64_t row = columns.size * fold;
  const std::int64_t tiles = (row + kReduceTile - 1) / kReduceTile, width = std::min(row, kReduceTile);
  const std::int64_t piece = count * width > 4 * kReducePiece
                                 ? std::max(kReduceRows, kReducePiece / width / kReduceRows * kReduceRows)
                                 : count;
  const std::int64_t pieces = (count + piece - 1) / piece;
  const std::int64_t lines = plan.outputs / columns.size;
  const auto finish = [&](Acc* acc, const ReduceWalk& walk, std::int64_t from, std::int64_t n) {
    if (fold > 1) {
      for (std::int64_t f = 1; f < fold; ++f)
        for (std::int64_t i = 0; i < columns.size; ++i) acc[i] = op.merge(acc[i], acc[f * columns.size + i]);
      for (std::int64_t r = count * fold; r < plan.count; ++r)  // the remaining rows, fewer than `fold`
        for (std::int64_t i = 0; i < columns.size; ++i)
          acc[i] = op.merge(acc[i], op.load(x[walk.in() + r * columns.size + i], 0));
      n = columns.size;
    }
    for (std::int64_t i = 0; i < n; ++i)
      out[walk.out() + (from + i) * columns.out_stride] = op.finish(acc[i]);
  };
  if (pieces == 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (count * width));
    parallel_for(0, lines * tiles, grain, [&](std::int64_t begin, std::int64_t end) {
      Acc acc[kReduceTile];
      for (std::int64_t job = begin; job < end; ++job) {
        const ReduceWalk walk(outer, job / tiles);
        const std::int64_t from = job % tiles * kReduceTile, n = std::min(kReduceTile, row - from);
        reduce_columns(op, x + walk.in() + from, reduced, 0, count, n, walk.out() + from, acc);
        finish(acc, walk, from, n);
      }
    });
    return;
  }
  const Scratch<Acc> partial(lines * tiles * pieces * width);
  const auto part = [&](std::int64_t job) { return partial.get() + job * width; };
  parallel_for(0, lines * tiles * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t tile = job / pieces, p = job % pieces;
      const ReduceWalk walk(outer, tile / tiles);
      const std::int64_t from = tile % tiles * kReduceTile, n = std::min(kReduceTile, row - from);
      reduce_columns(op, x + walk.in() + from, reduced, p * piece, std::min(count, (p + 1) * piece), n,
                     walk.out() + from, part(job));
    }
  });
  for (std::int64_t tile = 0; tile < lines * tiles; ++tile) {
    const ReduceWalk walk(outer, tile / tiles);
    const std::int64_t from = tile % tiles * kReduceTile, n = std::min(kReduceTile, row - from);
    for (std::int64_t step = 1; step < pieces; step *= 2)
      for (std::int64_t p = 0; p + step < pieces; p += 2 * step)
        for (std::int64_t i = 0; i < n; ++i)
          part(tile * pieces + p)[i] =
              op.merge(part(tile * pieces + p)[i], part(tile * pieces + p + step)[i]);
    finish(part(tile * pieces), walk, from, n);
  }
}

/// out = the reduction of x over the dimensions in `mask`.
template <class Op>
void reduce(const Op& op, NdArray& out, const NdArray& x, DimMask mask) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  Out* to = out.address_as<Out>();
  const In* from = x.address_as<In>();
  if (out.numel() == 0) return;
  if (out.numel() == 1 && x.is_contiguous() && x.numel() <= kReduceBlock) {
    *to = op.finish(reduce_run(op, from, x.numel(), 0));
    return;
  }
  const ReducePlan plan = plan_reduce(x.sizes(), x.strides(), mask);
  if (plan.count == 0) {
    std::fill_n(to, plan.outputs, op.finish(op.identity()));
    return;
  }
  const bool inner = !plan.reduced.empty() && plan.reduced.back().in_stride == 1;
  if (!inner && !plan.kept.empty() && plan.kept.back().in_stride == 1 &&
      (plan.kept.back().out_stride == 1 || !Op::kPerOutput))
    reduce_outer(op, to, from, plan);
  else
    reduce_inner(op, to, from, plan);
}

}  // namespace ebb::cpu
