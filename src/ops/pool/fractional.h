// Fractional max pooling: windows of one size at random positions.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"
#include "ops/pool/math_fractional.h"

#include <tuple>

namespace ebb {

/// The fields for recorded calls. They are here because math_fractional.h does not include <tuple>.
inline auto fields_of(FractionalGeometry& g) {
  return std::tie(g.planes, g.in, g.out, g.kernel, g.sample, g.samples);
}

}  // namespace ebb

namespace ebb::cpu {

/// Computes indices[plane, o], the position in its plane of the greatest element of window o: the first of
/// equal elements, or a NaN. `in` (planes, volume) and `samples` (planes, dims) are contiguous, of a
/// floating-point dtype; `indices` is Long.
void fractional_max_indices(NdArray& indices, const NdArray& in, const NdArray& samples,
                            const FractionalGeometry& geometry);

}  // namespace ebb::cpu

#define EBB_FRACTIONAL_KERNELS(X) X(fractional_max_indices, "fractional_max_pool");
EBB_DECLARE_KERNELS(EBB_FRACTIONAL_KERNELS)
