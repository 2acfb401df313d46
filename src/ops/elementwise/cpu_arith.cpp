#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_arith = binary_kernels(ops::ArithmeticOps{});

}  // namespace ebb::cpu
