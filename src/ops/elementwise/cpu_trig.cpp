#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_trig = unary_kernels(ops::Join<ops::TrigOps, ops::HyperbolicOps>{});

}  // namespace ebb::cpu
