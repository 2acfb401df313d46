#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_sign = unary_kernels(ops::Join<ops::SignOps, ops::PredicateOps>{});

}  // namespace ebb::cpu
