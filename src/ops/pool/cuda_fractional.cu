// Fractional max pooling on the device: one thread for each window.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/walk.h"
#include "ops/pool/fractional.h"
#include "ops/pool/kernels.h"

namespace ebb::cuda {
namespace {

template <class T>
struct FractionalMaxIndices {
  std::int64_t* indices;
  const T *in, *samples;
  FractionalGeometry g;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t outputs = g.outputs(), plane = i / outputs;
    indices[i] = fractional_max_place<T, Compute<T>>(in + plane * g.volume(), samples + plane * g.samples, g,
                                                     i - plane * outputs);
  }
};

}  // namespace

void fractional_max_indices(NdArray& indices, const NdArray& in, const NdArray& samples,
                            const FractionalGeometry& g) {
  visit_floating(in.dtype(), "fractional_max_pool", [&]<class T> {
    for_each(in.device(), g.planes * g.outputs(),
             FractionalMaxIndices<T>{indices.address_as<std::int64_t>(), in.address_as<T>(),
                                     samples.address_as<T>(), g});
  });
}

}  // namespace ebb::cuda
