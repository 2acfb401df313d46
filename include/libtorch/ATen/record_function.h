// RECORD_FUNCTION: a named range on a profiler's timeline.
#pragma once

#include <ebb/cuda/nvtx.h>

#include <c10/macros/Macros.h>
#include <torch/csrc/namespaces.h>

/// A range until the end of the scope, as NVIDIA's profilers show it; the inputs are not recorded.
#define RECORD_FUNCTION(name, ...) const ::ebb::cuda::nvtx::Range C10_ANONYMOUS_VARIABLE(range_)(name)
#define RECORD_USER_SCOPE(name) RECORD_FUNCTION(name, )
