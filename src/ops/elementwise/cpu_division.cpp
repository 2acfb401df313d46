#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_division =
    binary_kernels(ops::Join<ops::DivisionOps, ops::ExtremeOps>{});

}  // namespace ebb::cpu
