// use_deterministic_algorithms: whether ops must give the same bits in every run.
#pragma once

#include <ebb/core/api.h>

namespace ebb {

/// With true, ops that would use atomics on Device::CUDA (index_put with accumulate, scatter_add, the
/// gradient of embedding) add their terms in a fixed order, which is slower. CPU ops always use a fixed
/// order. With true, a CPU with AVX-512 runs the AVX2 kernels, so that results are bitwise equal on both
/// (docs/processors.md). The setting applies to the whole process (torch.use_deterministic_algorithms).
EBB_API void use_deterministic_algorithms(bool deterministic);
EBB_API bool are_deterministic_algorithms_enabled();

}  // namespace ebb
