#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cpu/parallel.h"
#include "ops/creation/kernels.h"

#include <algorithm>
#include <cmath>

namespace ebb::cpu {

void arange(NdArray& out, const Scalar& start, const Scalar& step) {
  visit_all(out.dtype(), "arange", [&]<class T> {
    // Unsigned: a step may be taken so often that only the sum fits into 64 bits again.
    constexpr bool whole = std::is_same_v<T, std::int64_t>;
    using Work = std::conditional_t<whole, std::uint64_t, double>;
    using From = std::conditional_t<whole, std::int64_t, double>;
    const Work first = static_cast<Work>(start.to<From>()), by = static_cast<Work>(step.to<From>());
    T* const data = out.data_as<T>();
    parallel_for(0, out.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t i = b; i < e; ++i)
        data[i] = convert<T>(static_cast<From>(first + static_cast<Work>(i) * by));
    });
  });
}

void linspace(NdArray& out, const Scalar& start, const Scalar& end, double base) {
  visit_all(out.dtype(), "linspace", [&]<class T> {
    // float results are computed in float, as torch does; the others in double.
    using Work = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const std::int64_t n = out.numel();
    const bool whole = is_integral(out.dtype());
    const Work first = whole ? static_cast<Work>(start.to_long()) : start.to<Work>();
    const Work last = whole ? static_cast<Work>(end.to_long()) : end.to<Work>();
    const Work step = n > 1 ? (last - first) / static_cast<Work>(n - 1) : Work(0);
    const Work power = static_cast<Work>(base);
    T* const data = out.data_as<T>();
    parallel_for(0, n, kGrain / 8, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t i = b; i < e; ++i) {
        // From whichever end is nearer, so that both are exact.
        const Work x = n == 1 || i < n / 2 ? first + step * static_cast<Work>(i)
                                           : last - step * static_cast<Work>(n - 1 - i);
        data[i] = convert<T>(base != 0 ? std::pow(power, x) : x);
      }
    });
  });
}

void eye(NdArray& out) {
  visit_all(out.dtype(), "eye", [&]<class T> {
    const std::int64_t columns = out.sizes()[1], n = std::min(out.sizes()[0], columns);
    for (std::int64_t i = 0; i < n; ++i) out.data_as<T>()[i * columns + i] = T(1);
  });
}

}  // namespace ebb::cpu
