// Dropout on the device: one read, one write, no mask.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/map.h"
#include "kernel/cuda/walk.h"
#include "ops/random/cuda.h"

namespace ebb::cuda {
namespace {

bool is_aligned(const NdArray& x) { return reinterpret_cast<std::uintptr_t>(x.data()) % 16 == 0; }

template <class T>
struct DropoutUnit {
  static constexpr int kEach = sizeof(T) == 2 ? 8 : 4;  // elements of a thread
  static constexpr int kVector = static_cast<int>(16 / sizeof(T));
  using C = Compute<T>;
  T* to;
  const T* from;
  std::int64_t count;
  bool aligned;
  drawing::Dropout rule;

  __device__ void operator()(std::int64_t unit) const {
    const std::int64_t first = unit * kEach;
    const bool whole = aligned && first + kEach <= count;
    Vector<T, kVector> loaded[kEach / kVector];
    if (whole)
      for (int v = 0; v < kEach / kVector; ++v)
        loaded[v] = reinterpret_cast<const Vector<T, kVector>*>(from + first)[v];
#pragma unroll
    for (int g = 0; g < kEach / 4; ++g) {
      C values[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = g * 4 + i;
        values[i] = static_cast<C>(whole               ? loaded[k / kVector].at[k % kVector]
                                   : first + k < count ? from[first + k]
                                                       : T(0));
      }
      rule(static_cast<std::uint64_t>(first / 4 + g), values);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = g * 4 + i;
        if (whole)
          loaded[k / kVector].at[k % kVector] = static_cast<T>(values[i]);
        else if (first + k < count)
          to[first + k] = static_cast<T>(values[i]);
      }
    }
    if (whole)
      for (int v = 0; v < kEach / kVector; ++v)
        reinterpret_cast<Vector<T, kVector>*>(to + first)[v] = loaded[v];
  }
};

}  // namespace

void dropout(NdArray& out, const NdArray& x, const drawing::Dropout& rule) {
  visit_floating(x.dtype(), "dropout", [&]<class T> {
    using Unit = DropoutUnit<T>;
    const Unit unit{out.data_as<T>(), x.data_as<T>(), x.numel(), is_aligned(out) && is_aligned(x), rule};
    for_each(x.device(), (unit.count + Unit::kEach - 1) / Unit::kEach, unit);
  });
}

}  // namespace ebb::cuda
