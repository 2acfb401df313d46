// Addition into arrays of any strides on the device, and the registration of the shared kernels.
#include "kernel/cuda/map.h"
#include "kernel/element_types.h"
#include "kernel/wrapping.h"
#include "ops/common/kernels.h"

#include <array>

namespace ebb::cuda {
namespace {

struct Plus {
  template <class T>
  EBB_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return wrapping_add(a, b);
  }
};

constexpr auto kPlus = [] {
  std::array<MapKernels<3>, kElementTypes> table{};
  for_each_element_type(
      [&]<class T> { table[static_cast<int>(dtype_of<T>())] = map_kernels<Plus, T, T, T>(); });
  return table;
}();

}  // namespace

void accumulate(NdArray& out, const NdArray& x) {
  const Plus plus;
  launch_map<3>("add", kPlus[static_cast<int>(out.dtype())], out, {out, x}, &plus, sizeof(plus));
}

}  // namespace ebb::cuda
