#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_binary_math = binary_kernels(ops::BinaryMathOps{});

}  // namespace ebb::cpu
