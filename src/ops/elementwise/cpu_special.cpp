#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_special = unary_kernels(ops::SpecialOps{});

}  // namespace ebb::cpu
