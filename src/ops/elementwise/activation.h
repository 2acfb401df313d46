// What the activations share: a slope applied in one pass, or from recorded ops when the gradient itself is
// recorded.
#pragma once

#include "ops/elementwise/math_activation.h"
#include "ops/elementwise/record.h"

namespace ebb::ops {

/// The gradient g f'(x). While nothing records: the kernel Times<Slope>; else `composed()`, which must be
/// made of differentiable ops and give the same values.
template <class Slope, class Composed>
Variable slope_gradient(const Variable& g, const Variable& x, const Slope& slope, Composed composed) {
  if (autograd::records(g, x)) return composed();
  return run_plain(g, x, Times<Slope>{slope});
}

}  // namespace ebb::ops
