#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_exp = unary_kernels(ops::ExpOps{});

}  // namespace ebb::cpu
