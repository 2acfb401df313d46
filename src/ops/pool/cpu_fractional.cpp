// Fractional max pooling on the CPU.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "ops/pool/fractional.h"

#include <algorithm>

namespace ebb::cpu {

void fractional_max_indices(NdArray& indices, const NdArray& in, const NdArray& samples,
                            const FractionalGeometry& g) {
  const std::int64_t outputs = g.outputs(), volume = g.volume();
  const std::int64_t window = g.kernel[0] * g.kernel[1] * g.kernel[2];
  visit_floating(in.dtype(), "fractional_max_pool", [&]<class T> {
    parallel_for(0, g.planes * outputs, std::max<std::int64_t>(1, kGrain / (window + 8)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const std::int64_t plane = i / outputs;
                     indices.address_as<std::int64_t>()[i] = fractional_max_place<T, Compute<T>>(
                         in.address_as<T>() + plane * volume, samples.address_as<T>() + plane * g.samples, g,
                         i - plane * outputs);
                   }
                 });
  });
}

}  // namespace ebb::cpu
