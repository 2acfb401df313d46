#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_logic = binary_kernels(ops::LogicOps{});

}  // namespace ebb::cpu
