// RECORD_FUNCTION: a named range in a profiler.
#pragma once

#include <ebb/cuda/nvtx.h>

#include <c10/macros/Macros.h>
#include <torch/csrc/namespaces.h>

/// Opens a range until the end of the scope, for NVIDIA's profilers. The inputs are not recorded.
#define RECORD_FUNCTION(name, ...) const ::ebb::cuda::nvtx::Range C10_ANONYMOUS_VARIABLE(range_)(name)
#define RECORD_USER_SCOPE(name) RECORD_FUNCTION(name, )
