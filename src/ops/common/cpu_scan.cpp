// Scans on the CPU. A line is the vector of elements along the scanned dimension. If the lines are
// contiguous, kInterleaved lines are scanned together. Otherwise adjacent lines are scanned in blocks.
#include <ebb/core/visit.h>

#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/lines.h"
#include "kernel/reduce_plan.h"
#include "kernel/scan_steps.h"
#include "ops/common/kernels.h"

namespace ebb::cpu {
namespace {

using scan_steps::Carry;
constexpr std::int64_t kTile = 128;
constexpr std::int64_t kInterleaved = 8;  // contiguous lines scanned together, so that additions overlap

// Scans n elements of each of kLines lines. Line i begins at x + i * pitch, and carry[i] is its carry.
template <std::int64_t kLines, class T, class Step, class A>
void scan_part(T* out, const T* x, std::int64_t pitch, std::int64_t n, bool reverse, const Step& step,
               A* carry) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t at = reverse ? n - 1 - i : i;
    for (std::int64_t line = 0; line < kLines; ++line) {
      carry[line] = step(carry[line], static_cast<A>(x[line * pitch + at]));
      out[line * pitch + at] = static_cast<T>(carry[line]);
    }
  }
}

// Scans kLines contiguous lines of n elements each. Tiles of 16-bit elements are converted as rows, because
// conversions one by one take longer than the additions.
template <std::int64_t kLines, class T, class Step>
void scan_contiguous(T* out, const T* x, std::int64_t n, bool reverse, const Step& step) {
  Carry<T> carry[kLines];
  std::fill_n(carry, kLines, Step::start);
  if constexpr (is_half_v<T>) {
    float tile[kLines * kTile];
    for (std::int64_t done = 0; done < n; done += kTile) {
      const std::int64_t count = std::min(kTile, n - done), at = reverse ? n - done - count : done;
      for (std::int64_t line = 0; line < kLines; ++line)
        convert_contiguous(tile + line * kTile, x + line * n + at, count);
      scan_part<kLines>(tile, tile, kTile, count, reverse, step, carry);
      for (std::int64_t line = 0; line < kLines; ++line)
        convert_contiguous(out + line * n + at, tile + line * kTile, count);
    }
  } else {
    scan_part<kLines>(out, x, n, n, reverse, step, carry);
  }
}

template <class T, class Step>
void scan_lines(T* out, const T* x, const Lines& lines, bool reverse, std::int64_t cost) {
  using A = Carry<T>;
  const Step step;
  if (lines.inner == 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, lines.n * cost));
    return parallel_for(0, lines.outer, grain, [&](std::int64_t begin, std::int64_t end) {
      for (; begin + kInterleaved <= end; begin += kInterleaved)
        scan_contiguous<kInterleaved>(out + begin * lines.n, x + begin * lines.n, lines.n, reverse, step);
      for (; begin < end; ++begin)
        scan_contiguous<1>(out + begin * lines.n, x + begin * lines.n, lines.n, reverse, step);
    });
  }
  for_each_block<kTile>(lines, cost, [&](std::int64_t at, std::int64_t width) {
    A carry[kTile];
    std::fill_n(carry, width, Step::start);
    const std::int64_t stride = reverse ? -lines.inner : lines.inner;
    std::int64_t row = reverse ? at + (lines.n - 1) * lines.inner : at;
    for (std::int64_t i = 0; i < lines.n; ++i, row += stride) {
      // The compiler vectorises the conversions of BFloat16, but not those of Half.
      if constexpr (std::is_same_v<T, Half>) {
        float tile[kTile];
        convert_contiguous(tile, x + row, width);
        for (std::int64_t c = 0; c < width; ++c) {
          carry[c] = step(carry[c], static_cast<A>(tile[c]));
          tile[c] = static_cast<float>(carry[c]);
        }
        convert_contiguous(out + row, tile, width);
      } else {
        for (std::int64_t c = 0; c < width; ++c) {
          carry[c] = step(carry[c], static_cast<A>(x[row + c]));
          out[row + c] = static_cast<T>(carry[c]);
        }
      }
    }
  });
}

}  // namespace

void scan(NdArray& out, const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse) {
  if (x.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  if (kind == ScanKind::logsumexp)
    return visit_floating(x.dtype(), "logcumsumexp", [&]<class T> {
      scan_lines<T, scan_steps::LogAddExp<Carry<T>>>(out.address_as<T>(), x.address_as<T>(), lines, reverse,
                                                     16);
    });
  visit_numeric(stored(x.dtype()), kind == ScanKind::sum ? "cumsum" : "cumprod", [&]<class T> {
    const auto run = kind == ScanKind::sum ? &scan_lines<T, scan_steps::Add<Carry<T>>>
                                           : &scan_lines<T, scan_steps::Multiply<Carry<T>>>;
    run(out.address_as<T>(), x.address_as<T>(), lines, reverse, 2);
  });
}

}  // namespace ebb::cpu
