// The CPU kernels poisson and binomial.
#include <ebb/core/visit.h>

#include "ops/random/counts.h"
#include "ops/random/draw.h"
#include "ops/random/kernels.h"

namespace ebb::cpu {

void poisson(NdArray& out, const NdArray& rates, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  const auto uniform = [&] { return draw_uniform<double>(state.engine); };
  visit_floating(out.dtype(), "poisson", [&]<class T> {
    const T* rate = rates.address_as<T>();
    T* const to = out.address_as<T>();
    for (std::int64_t i = 0, n = out.numel(); i < n; ++i) {
      const double expected = static_cast<double>(rate[i]);
      EBB_CHECK(!(expected < 0), "poisson: expects rates that are not negative, got ", expected, ".");
      to[i] = convert<T>(drawing::poisson(expected, uniform));
    }
  });
}

void binomial(NdArray& out, const NdArray& counts, const NdArray& chances, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  const auto uniform = [&] { return draw_uniform<double>(state.engine); };
  visit_floating(out.dtype(), "binomial", [&]<class T> {
    const T *n = counts.address_as<T>(), *p = chances.address_as<T>();
    T* const to = out.address_as<T>();
    for (std::int64_t i = 0, size = out.numel(); i < size; ++i)
      to[i] = convert<T>(drawing::binomial(static_cast<double>(n[i]), static_cast<double>(p[i]), uniform));
  });
}

}  // namespace ebb::cpu
