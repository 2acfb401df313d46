// Conversions to integer dtypes and bool on the device.
#include <ebb/core/visit.h>

#include "ops/common/cuda_copy_table.h"

namespace ebb::cuda {

const MapKernels<2>& convert_to_integral(DType to, DType from) {
  return visit_integral_bool(
      to, "copy", [&]<class T>() -> const MapKernels<2>& { return kConverters<T>[static_cast<int>(from)]; });
}

}  // namespace ebb::cuda
