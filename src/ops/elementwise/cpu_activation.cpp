#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_activation =
    unary_kernels(ops::Join<ops::PiecewiseOps, ops::SmoothOps>{});

}  // namespace ebb::cpu
