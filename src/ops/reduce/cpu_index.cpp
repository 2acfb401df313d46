// The CPU kernel extreme_index: the largest or smallest element along a dimension, and its first index.
#include <ebb/core/visit.h>

#include "kernel/cpu/reduce.h"
#include "kernel/cpu/vector.h"
#include "kernel/reducers.h"
#include "ops/reduce/kernels.h"

#include <algorithm>
#include <cstring>

namespace ebb::cpu {
namespace {

template <class T, bool kLargest>
struct Search {
  using Acc = typename reducers::Extreme<T, kLargest>::Acc;
  static bool better(Acc a, Acc b) {
    const bool beyond = kLargest ? a > b : a < b;
    if constexpr (std::is_integral_v<Acc>)
      return beyond;
    else
      return beyond | ((a != a) & (b == b));
  }

  // Returns n elements of x as values to compare. Half is converted in bulk, to `block`.
  static const reducers::Loaded<T>* loaded(const T* x, std::int64_t n, reducers::Loaded<T>* block) {
    if constexpr (std::is_same_v<T, Half>) {
      convert_contiguous(block, x, n);
      return block;
    } else {
      return x;
    }
  }

  // Finds the value in a first loop, which vectorizes, then its index.
  static std::int64_t in_run(const T* x, std::int64_t n) {
    if constexpr (std::is_same_v<T, Acc> && std::is_floating_point_v<T>)
      if (n >= kAtOnce && n <= kReduceBlock) return place_of(best_of(x, n), x, n);
    const reducers::Extreme<T, kLargest> op;
    Acc best = op.load(x[0], 0);
    for (std::int64_t i = 0; i < n; i += kReduceBlock)
      best = op.merge(best, reduce_run(op, x + i, std::min(kReduceBlock, n - i), 0));
    return place_of(best, x, n);
  }

  static constexpr std::int64_t kAtOnce = kVectorBytes / sizeof(Acc);
  // Returns the extreme of at least kAtOnce elements. The last vector may overlap the previous one.
  static Acc best_of(const T* x, std::int64_t n) {
    using Register = Vector<Acc, kAtOnce>;
    Register best;
    std::memcpy(&best, x, sizeof best);
    for (std::int64_t i = kAtOnce; i < n; i += kAtOnce) {
      Register next;
      std::memcpy(&next, x + std::min(i, n - kAtOnce), sizeof next);
      const auto take = (kLargest ? next > best : next < best) | (next != next);
      best = take ? next : best;
    }
    Acc found = best[0];
    for (std::int64_t l = 1; l < kAtOnce; ++l)
      if (better(best[l], found)) found = best[l];
    return found;
  }

  static std::int64_t place_of(Acc best, const T* x, std::int64_t n) {
    if (reducers::is_nan(best)) return first_place(x, n, [](Acc value) { return reducers::is_nan(value); });
    return first_place(x, n, [best](Acc value) { return value == best; });
  }
  // Finds the block that contains the value in a loop that vectorizes, then the element in the block.
  template <class Is>
  static std::int64_t first_place(const T* x, std::int64_t n, const Is& is) {
    std::int64_t i = pass_blocks<128>(x, 0, n, is);
    i = pass_blocks<16>(x, i, n, is);
    while (!is(static_cast<Acc>(x[i]))) ++i;
    return i;
  }
  // Skips all whole blocks from `i` on that do not contain the value.
  template <std::int64_t kBlock, class Is>
  static std::int64_t pass_blocks(const T* x, std::int64_t i, std::int64_t n, const Is& is) {
    reducers::Loaded<T> block[kBlock];
    for (; i + kBlock <= n; i += kBlock) {
      const auto* const values = loaded(x + i, kBlock, block);
      int here = 0;  // a bool would prevent vectorization
      for (std::int64_t k = 0; k < kBlock; ++k) here |= static_cast<int>(is(static_cast<Acc>(values[k])));
      if (here != 0) break;
    }
    return i;
  }

  static std::int64_t in_stride(const T* x, std::int64_t n, std::int64_t stride) {
    std::int64_t at = 0;
    for (std::int64_t i = 1; i < n; ++i)
      if (better(static_cast<Acc>(x[i * stride]), static_cast<Acc>(x[at * stride]))) at = i;
    return at;
  }

  static constexpr std::int64_t kTile = 64;
  static void in_columns(const T* x, std::int64_t n, std::int64_t stride, std::int64_t width,
                         std::int64_t* at) {
    Acc best[kTile];
    for (std::int64_t c = 0; c < width; ++c) best[c] = static_cast<Acc>(x[c]), at[c] = 0;
    reducers::Loaded<T> block[kTile];
    for (std::int64_t i = 1; i < n; ++i) {
      const auto* const values = loaded(x + i * stride, width, block);
      for (std::int64_t c = 0; c < width; ++c) {
        const Acc value = static_cast<Acc>(values[c]);
        const bool take = better(value, best[c]);
        best[c] = take ? value : best[c];
        at[c] = take ? i : at[c];
      }
    }
  }

  static void run(T* values, std::int64_t* indices, const T* x, const ReducePlan& plan) {
    const std::int64_t n = plan.count, stride = plan.reduced.empty() ? 1 : plan.reduced[0].in_stride;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / n);
    const bool columns = stride != 1 && !plan.kept.empty() && plan.kept.back().in_stride == 1;
    if (!columns && stride == 1 && n <= kShortRow && !plan.kept.empty()) {
      const ReduceDim inner = plan.kept.back();
      parallel_for(0, plan.outputs, grain, [&](std::int64_t begin, std::int64_t end) {
        ReduceWalk walk(plan.kept, begin);
        while (begin < end) {
          const std::int64_t rows = std::min({kTile, end - begin, walk.left_inside()});
          const T* const top = x + walk.in();
          T block[kShortRow * kTile];
          std::int64_t at[kTile];
          transpose_rows(top, inner.in_stride, rows, n, block, kTile);
          in_columns(block, n, kTile, rows, at);
          for (std::int64_t r = 0; r < rows; ++r) {
            values[walk.out() + r * inner.out_stride] = top[r * inner.in_stride + at[r]];
            indices[walk.out() + r * inner.out_stride] = at[r];
          }
          walk.advance(rows);
          begin += rows;
        }
      });
      return;
    }
    if (!columns) {
      parallel_for(0, plan.outputs, grain, [&](std::int64_t begin, std::int64_t end) {
        ReduceWalk walk(plan.kept, begin);
        for (std::int64_t o = begin; o < end; ++o, walk.advance(1)) {
          const T* line = x + walk.in();
          const std::int64_t at = stride == 1 ? in_run(line, n) : in_stride(line, n, stride);
          values[walk.out()] = line[at * stride];
          indices[walk.out()] = at;
        }
      });
      return;
    }
    const ReduceDim inner = plan.kept.back();
    SmallVector<ReduceDim, 6> outer = plan.kept;
    outer.pop_back();
    const std::int64_t tiles = (inner.size + kTile - 1) / kTile;
    parallel_for(0, plan.outputs / inner.size * tiles, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t job = begin; job < end; ++job) {
        const ReduceWalk walk(outer, job / tiles);
        const std::int64_t from = job % tiles * kTile, width = std::min(kTile, inner.size - from);
        const T* top = x + walk.in() + from;
        std::int64_t at[kTile];
        in_columns(top, n, stride, width, at);
        for (std::int64_t c = 0; c < width; ++c) {
          const std::int64_t o = walk.out() + (from + c) * inner.out_stride;
          values[o] = top[at[c] * stride + c];
          indices[o] = at[c];
        }
      }
    });
  }
};

}  // namespace

void extreme_index(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest) {
  if (values.numel() == 0) return;
  const ReducePlan plan = plan_reduce(x.sizes(), x.strides(), DimMask{1} << dim);
  visit_numeric(stored(x.dtype()), largest ? "max" : "min", [&]<class T> {
    const auto run = largest ? &Search<T, true>::run : &Search<T, false>::run;
    run(values.address_as<T>(), indices.address_as<std::int64_t>(), x.address_as<T>(), plan);
  });
}

}  // namespace ebb::cpu
