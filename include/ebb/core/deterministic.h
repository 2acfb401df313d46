// Whether ops must give the same bits at every run.
#pragma once

#include <ebb/core/api.h>

namespace ebb {

/// With true, ops that would use atomics on Device::CUDA (index_put with accumulate, scatter_add, embedding's
/// gradient) take their terms in a fixed order instead, which is slower; the CPU's always do. On the CPU a
/// processor with AVX-512 runs the AVX2 kernels, so that numbers are the same in every bit on both
/// (docs/processors.md). For the whole process (torch.use_deterministic_algorithms).
EBB_API void use_deterministic_algorithms(bool deterministic);
EBB_API bool are_deterministic_algorithms_enabled();

}  // namespace ebb
