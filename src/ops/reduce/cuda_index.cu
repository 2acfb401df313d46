// The device kernel extreme_index: the largest or smallest element along a dimension, and its first index.
#include <ebb/core/visit.h>

#include "kernel/cuda/reduce.h"
#include "kernel/reducers.h"
#include "ops/reduce/kernels.h"

namespace ebb::cuda {
namespace {

template <class T>
struct Candidate {
  std::int64_t place;
  T value;
};

template <class T, bool kLargest>
struct ExtremeAt {
  using In = T;
  using Value = typename reducers::Extreme<T, kLargest>::Acc;
  // The type has at least four bytes, because shuffles move whole words.
  using Held = std::conditional_t<sizeof(Value) < 4, std::int32_t, Value>;
  using Acc = Candidate<Held>;
  T* values;
  std::int64_t* indices;

  EBB_HD Acc identity() const { return {-1, Held()}; }
  // Elements arrive in the order of their indices, so the first of equal elements is kept.
  EBB_HD void take(Acc& best, T x, std::int64_t, std::int64_t place) const {
    const Held value = static_cast<Held>(static_cast<Value>(x));
    const bool beats =
        kLargest ? !(value <= best.value) : !(value >= best.value);  // also true if value is NaN
    if (best.place >= 0 && (!beats || reducers::is_nan(best.value))) return;
    best = {place, value};
  }
  EBB_HD Acc merge(Acc a, Acc b) const {
    if (b.place < 0) return a;
    if (a.place < 0) return b;
    const bool a_nan = reducers::is_nan(a.value), b_nan = reducers::is_nan(b.value);
    if (a_nan || b_nan) {
      if (a_nan && b_nan) return a.place < b.place ? a : b;
      return a_nan ? a : b;
    }
    if (a.value == b.value) return a.place < b.place ? a : b;
    return (kLargest ? a.value > b.value : a.value < b.value) ? a : b;
  }
  EBB_HD void store(std::int64_t output, Acc best) const {
    values[output] = static_cast<T>(best.value);
    indices[output] = best.place;
  }
};

}  // namespace

void extreme_index(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest) {
  visit_numeric(stored(x.dtype()), largest ? "max" : "min", [&]<class T> {
    T* const to = values.address_as<T>();
    std::int64_t* const at = indices.address_as<std::int64_t>();
    const DimMask mask = DimMask{1} << dim;
    if (largest)
      reduce(values.device(), ExtremeAt<T, true>{to, at}, x, mask);
    else
      reduce(values.device(), ExtremeAt<T, false>{to, at}, x, mask);
  });
}

}  // namespace ebb::cuda
