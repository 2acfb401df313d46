// Selects the reducer functor for an op's arguments, for both devices.
#pragma once

#include "kernel/reduce_plan.h"
#include "kernel/reducers.h"

namespace ebb::reducers {

/// Calls run.operator()<kKind>() with the kind of the p-norm.
template <class F>
void with_norm_kind(double p, const F& run) {
  if (p == 0)
    run.template operator()<NormKind::zero>();
  else if (p == 1)
    run.template operator()<NormKind::one>();
  else if (p == 2)
    run.template operator()<NormKind::two>();
  else if (p == INFINITY)
    run.template operator()<NormKind::max>();
  else if (p == -INFINITY)
    run.template operator()<NormKind::min>();
  else
    run.template operator()<NormKind::general>();
}

/// Calls run.operator()<T>() with a type in which the same bit patterns are zero as in the dtype. Dtypes of
/// the same size can therefore share a kernel.
template <class F>
void with_zero_test_type(DType dtype, const F& run) {
  switch (dtype) {
    case kHalf:
    case kBFloat16:
      return run.template operator()<Half>();
    case kFloat:
      return run.template operator()<float>();
    case kDouble:
      return run.template operator()<double>();
    default:
      break;
  }
  switch (element_size(dtype)) {
    case 1:
      return run.template operator()<std::uint8_t>();
    case 2:
      return run.template operator()<std::int16_t>();
    case 4:
      return run.template operator()<std::int32_t>();
    default:
      return run.template operator()<std::int64_t>();
  }
}

/// Returns the number of elements of x per result.
inline std::int64_t reduced_count(const NdArray& x, DimMask dims) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < x.sizes().size(); ++d)
    if ((dims >> d) & 1) count *= x.sizes()[d];
  return count;
}

}  // namespace ebb::reducers
