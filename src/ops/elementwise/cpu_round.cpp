#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_round = unary_kernels(ops::Join<ops::RoundOps, ops::RootOps>{});

}  // namespace ebb::cpu
