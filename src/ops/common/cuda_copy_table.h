// Conversions between element types, as map kernels.
#pragma once

#include "kernel/cuda/map.h"
#include "kernel/element_types.h"

namespace ebb::cuda {

template <class To>
struct Convert {
  template <class From>
  EBB_HD To operator()(From x) const {
    return convert<To>(x);
  }
};

/// Return the kernels that convert to an integer dtype or bool, and to a floating dtype.
const MapKernels<2>& convert_to_integral(DType to, DType from);
const MapKernels<2>& convert_to_floating(DType to, DType from);

template <class To>
constexpr std::array<MapKernels<2>, kElementTypes> converters_to() {
  std::array<MapKernels<2>, kElementTypes> table{};
  for_each_element_type(
      [&]<class From> { table[static_cast<int>(dtype_of<From>())] = map_kernels<Convert<To>, To, From>(); });
  return table;
}

template <class To>
inline constexpr std::array<MapKernels<2>, kElementTypes> kConverters = converters_to<To>();

}  // namespace ebb::cuda
