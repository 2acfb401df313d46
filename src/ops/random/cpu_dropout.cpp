// The CPU kernels draw_philox and dropout. This dropout kernel gives the same results as the device kernel.
// The op does not use it for CPU tensors: their mask is drawn as in torch.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "ops/common/dropout.h"
#include "ops/random/kernels.h"

#include <mutex>

namespace ebb::cpu {

// Sets `out` to a Philox state whose seed is a number drawn from `generator`.
void draw_philox(Philox& out, Device, Generator& generator) {
  const std::lock_guard lock(generator.mutex());
  out = Philox{generator.random64()};
}

void dropout(NdArray& out, const NdArray& x, const random::Dropout& rule) {
  visit_floating(x.dtype(), "dropout", [&]<class T> {
    const T* const from = x.address_as<T>();
    T* const to = out.address_as<T>();
    const std::int64_t count = x.numel();
    parallel_for(0, (count + 3) / 4, kGrain / 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t group = begin; group < end; ++group) {
        const std::int64_t left = std::min<std::int64_t>(4, count - group * 4);
        ebb::Compute<T> values[4] = {};
        for (std::int64_t i = 0; i < left; ++i) values[i] = static_cast<ebb::Compute<T>>(from[group * 4 + i]);
        rule(static_cast<std::uint64_t>(group), values);
        for (std::int64_t i = 0; i < left; ++i) to[group * 4 + i] = static_cast<T>(values[i]);
      }
    });
  });
}

}  // namespace ebb::cpu
