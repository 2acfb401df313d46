#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_select = ternary_kernels(ops::TernaryOps{});

}  // namespace ebb::cpu
