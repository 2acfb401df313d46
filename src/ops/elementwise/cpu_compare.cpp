#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_compare = binary_kernels(ops::CompareOps{});

}  // namespace ebb::cpu
