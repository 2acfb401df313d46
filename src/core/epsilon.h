// The machine epsilon of a floating dtype: the distance from 1 to the next larger number.
#pragma once

#include <ebb/core/dtype.h>

namespace ebb {

constexpr double epsilon_of(DType dtype) {
  if (dtype == kDouble) return 0x1p-52;
  if (dtype == kFloat) return 0x1p-23;
  return dtype == kHalf ? 0x1p-10 : 0x1p-7;
}

}  // namespace ebb
