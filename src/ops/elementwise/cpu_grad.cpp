#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {

[[gnu::used]] static const auto kept_grad = binary_kernels(ops::GradOps{});

}  // namespace ebb::cpu
