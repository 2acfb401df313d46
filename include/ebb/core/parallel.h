// How many threads CPU kernels use.
#pragma once

#include <ebb/core/api.h>

namespace ebb {

/// Threads an op may use: at the start EBB_NUM_THREADS or OMP_NUM_THREADS, else the CPUs left to the process.
EBB_API int get_num_threads();
/// Throws for numbers below 1. Fewer run where the system refuses threads; results do not depend on it.
EBB_API void set_num_threads(int threads);

}  // namespace ebb
