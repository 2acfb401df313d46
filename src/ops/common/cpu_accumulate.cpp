// Addition into arrays of any strides on the CPU.
#include <ebb/core/visit.h>

#include "kernel/cpu/walk.h"
#include "kernel/wrapping.h"
#include "ops/common/kernels.h"

#include <type_traits>

namespace ebb::cpu {
namespace {

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else
    return wrapping_add(a, b);
}

}  // namespace

void accumulate(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  const Walk<2> walk(out.sizes(), {out.strides(), x.strides()});
  visit_all(out.dtype(), "add", [&]<class T> {
    T* const to = out.address_as<T>();
    const T* const from = x.address_as<T>();
    walk([=](std::int64_t n, const std::array<std::int64_t, 2>& at, const std::array<std::int64_t, 2>& step) {
      T* const o = to + at[0];
      const T* const i = from + at[1];
      if (step[0] == 1 && step[1] == 1)
        for (std::int64_t k = 0; k < n; ++k) o[k] = plus(o[k], i[k]);
      else
        for (std::int64_t k = 0; k < n; ++k) o[k * step[0]] = plus(o[k * step[0]], i[k * step[1]]);
    });
  });
}

}  // namespace ebb::cpu
