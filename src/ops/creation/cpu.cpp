// Kernels of ranges and identity matrices on the CPU.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "ops/creation/kernels.h"
#include "ops/creation/range.h"

#include <algorithm>

namespace ebb::cpu {

void arange(NdArray& out, const Scalar& start, const Scalar& step) {
  visit_all(out.dtype(), "arange", [&]<class T> {
    const creating::Arange<T> at(start, step);
    T* const data = out.address_as<T>();
    parallel_for(0, out.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t i = b; i < e; ++i) data[i] = at(i);
    });
  });
}

void linspace(NdArray& out, const Scalar& start, const Scalar& end, double base) {
  visit_all(out.dtype(), "linspace", [&]<class T> {
    const creating::Linspace<T> at(out.numel(), start, end, base);
    T* const data = out.address_as<T>();
    if (base != 0)
      return parallel_for(0, out.numel(), kGrain / 8, [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t i = b; i < e; ++i) data[i] = at(i);
      });
    // The compiler does not vectorise a loop that may call pow.
    parallel_for(0, out.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t i = b; i < e; ++i) data[i] = convert<T>(at.line(i));
    });
  });
}

void eye(NdArray& out) {
  visit_all(out.dtype(), "eye", [&]<class T> {
    const std::int64_t columns = out.sizes()[1], n = std::min(out.sizes()[0], columns);
    for (std::int64_t i = 0; i < n; ++i) out.address_as<T>()[i * columns + i] = T(1);
  });
}

}  // namespace ebb::cpu
