// The map kernels that convert between element types on the device.
#include <ebb/core/visit.h>

#include "kernel/cuda/map.h"
#include "kernel/element_types.h"
#include "ops/common/cuda_convert.h"

namespace ebb::cuda {
namespace {

template <class To>
struct Convert {
  template <class From>
  EBB_HD To operator()(From x) const {
    return convert<To>(x);
  }
};

template <class To>
constexpr std::array<MapKernels<2>, kElementTypes> converters_to() {
  std::array<MapKernels<2>, kElementTypes> table{};
  for_each_element_type(
      [&]<class From> { table[static_cast<int>(dtype_of<From>())] = map_kernels<Convert<To>, To, From>(); });
  return table;
}

template <class To>
constexpr std::array<MapKernels<2>, kElementTypes> kConverters = converters_to<To>();

}  // namespace

const MapKernels<2>& convert_to_integral(DType to, DType from) {
  return visit_integral_bool(
      to, "copy", [&]<class T>() -> const MapKernels<2>& { return kConverters<T>[static_cast<int>(from)]; });
}

const MapKernels<2>& convert_to_floating(DType to, DType from) {
  return visit_floating(
      to, "copy", [&]<class T>() -> const MapKernels<2>& { return kConverters<T>[static_cast<int>(from)]; });
}

}  // namespace ebb::cuda
