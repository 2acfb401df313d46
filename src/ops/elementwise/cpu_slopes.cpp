#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_slopes =
    binary_kernels(ops::Join<ops::PiecewiseGradOps, ops::SmoothGradOps>{});

}  // namespace ebb::cpu
