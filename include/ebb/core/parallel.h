// How many threads CPU kernels use.
#pragma once

#include <ebb/core/api.h>

namespace ebb {

/// Threads one op may use; at the start EBB_NUM_THREADS or OMP_NUM_THREADS if set, else the number of cores.
EBB_API int get_num_threads();
/// Throws for numbers below 1. The results of ops do not depend on it.
EBB_API void set_num_threads(int threads);

}  // namespace ebb
