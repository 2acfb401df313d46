// Kernels of cdist on the CPU.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/cpu/parts.h"
#include "kernel/cpu/scratch.h"
#include "ops/linalg/kernels.h"
#include "ops/linalg/math.h"

#include <algorithm>

namespace ebb::cpu {
namespace {

using distance::with_norm;

struct Sizes {
  std::int64_t batch = 1, n, m, d;
  Sizes(const NdArray& a, const NdArray& b) {
    const std::size_t dims = a.sizes().size();
    for (std::size_t i = 0; i + 2 < dims; ++i) batch *= a.sizes()[i];
    n = a.sizes()[dims - 2];
    m = b.sizes()[dims - 2];
    d = a.sizes()[dims - 1];
  }
  std::int64_t grain() const { return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(m * d, 1)); }
};

// The number of distances that are accumulated together. It is a constant, so that the accumulators are in
// registers.
constexpr std::int64_t kSide = 64;

// Accumulates the differences between `a` and column l of b, and stores the accumulator in to[l], for kSide
// columns. It is not inlined into loops, because the compiler would spill the accumulators in these loops.
template <class T, class Norm>
[[gnu::noinline]] void add_differences(Norm norm, const T* a, std::int64_t d, const T* b, std::int64_t pitch,
                                       T* to) {
  T sums[kSide] = {};
  for (std::int64_t k = 0; k < d; ++k, b += pitch)
    for (std::int64_t l = 0; l < kSide; ++l) sums[l] = norm.add(sums[l], a[k] - b[l]);
  std::copy_n(sums, kSide, to);
}

// Sets out[l] to the distance between `a` and column l of b, for kSide columns.
template <class T, class Norm>
void distances(const Norm& norm, const T* a, std::int64_t d, const T* b, std::int64_t pitch, T* out) {
  const auto run = [&](std::int64_t from, std::int64_t n, T* to) {
    add_differences(norm, a + from, n, b + from * pitch, pitch, to);
  };
  if (Norm::kAdds)
    sum_by_runs(kColumnRun, d, out, kSide, run);
  else
    run(0, d, out);
  bool extreme = false;
  for (std::int64_t l = 0; Norm::kScales && l < kSide; ++l) extreme |= distance::is_extreme(out[l]);
  if (!extreme) {
    for (std::int64_t l = 0; l < kSide; ++l) out[l] = norm.finish(out[l]);
    return;
  }
  for (std::int64_t l = 0; l < kSide; ++l)
    out[l] =
        distance::is_extreme(out[l])
            ? distance::scaled_distance<T>(norm, d, [&](std::int64_t k) { return a[k] - b[k * pitch + l]; })
            : norm.finish(out[l]);
}

}  // namespace

void cdist(NdArray& out, const NdArray& x1, const NdArray& x2, double p) {
  const Sizes s(x1, x2);
  visit_float_double(out.dtype(), "cdist", [&]<class T> {
    // Stores the transposes of the second matrices, with rows padded to `pitch` elements.
    const std::int64_t pitch = (s.m + kSide - 1) / kSide * kSide;
    const Scratch<T> columns(s.batch * s.d * pitch);
    std::fill_n(columns.get(), s.batch * s.d * pitch, T(0));
    for (std::int64_t i = 0; i < s.batch; ++i)
      for (std::int64_t j = 0; j < s.m; ++j)
        for (std::int64_t k = 0; k < s.d; ++k)
          columns[(i * s.d + k) * pitch + j] = x2.address_as<T>()[(i * s.m + j) * s.d + k];
    with_norm<T>(p, [&](const auto& norm) {
      parallel_for(0, s.batch * s.n, s.grain(), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
          const T* const a = x1.address_as<T>() + i * s.d;
          T* const row = out.address_as<T>() + i * s.m;
          for (std::int64_t j = 0; j < s.m; j += kSide) {
            const std::int64_t width = std::min(kSide, s.m - j);
            T all[kSide];
            distances(norm, a, s.d, columns.get() + i / s.n * s.d * pitch + j, pitch, all);
            std::copy(all, all + width, row + j);
          }
        }
      });
    });
  });
}

void cdist_backward(NdArray& out, const NdArray& grad, const NdArray& x1, const NdArray& x2,
                    const NdArray& distance, double p) {
  const Sizes s(x1, x2);
  visit_float_double(out.dtype(), "cdist_backward", [&]<class T> {
    with_norm<T>(p, [&](const auto& norm) {
      parallel_for(0, s.batch * s.n, s.grain(), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
          const T* a = x1.address_as<T>() + i * s.d;
          const T* const b = x2.address_as<T>() + i / s.n * s.m * s.d;
          const T *g = grad.address_as<T>() + i * s.m, *dist = distance.address_as<T>() + i * s.m;
          T* const row = out.address_as<T>() + i * s.d;
          sum_by_runs(kColumnRun, s.m, row, s.d, [&](std::int64_t first, std::int64_t n, T* sums) {
            std::fill_n(sums, s.d, T(0));
            for (std::int64_t j = first; j < first + n; ++j)
              for (std::int64_t k = 0; k < s.d; ++k)
                sums[k] += g[j] * norm.derivative(a[k] - b[j * s.d + k], dist[j]);
          });
        }
      });
    });
  });
}

}  // namespace ebb::cpu
