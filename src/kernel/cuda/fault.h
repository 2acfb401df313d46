// How a kernel reports bad input, such as an index out of range: it notes the first such value and goes on
// without touching memory; the host throws when it next waits for the device.
#pragma once

#include <ebb/core/device.h>

#include <cuda_runtime.h>

#include <cstdint>

namespace ebb::cuda {

/// In host memory that the device can write.
struct Fault {
  unsigned int noted;  // 0; 1 while the rest is being written; then 2
  const char* op;      // static texts of the host's
  const char* what;    // what is wrong, in place of an index out of range; may be null
  long long value, limit, dim;
};

/// What kernels get: where to note, and which op they belong to.
struct FaultSink {
  Fault* fault;
  const char* op;
  const char* what = nullptr;

  /// Notes that `value` is outside [0, limit) (or what the op allows) for dimension `dim`.
  __device__ void note(long long value, long long limit, long long dim = -1) const {
    if (atomicCAS(&fault->noted, 0u, 1u) != 0) return;
    fault->op = op;
    fault->what = what;
    fault->value = value;
    fault->limit = limit;
    fault->dim = dim;
    __threadfence_system();
    atomicExch(&fault->noted, 2u);
  }
};

/// The sink of a device for an op; `op` must outlive the program's use of the device.
FaultSink fault_sink(Device device, const char* op, const char* what = nullptr);

}  // namespace ebb::cuda
