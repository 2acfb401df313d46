// Conversions to floating dtypes on the device.
#include <ebb/core/visit.h>

#include "ops/common/cuda_copy_table.h"

namespace ebb::cuda {

const MapKernels<2>& convert_to_floating(DType to, DType from) {
  return visit_floating(
      to, "copy", [&]<class T>() -> const MapKernels<2>& { return kConverters<T>[static_cast<int>(from)]; });
}

}  // namespace ebb::cuda
