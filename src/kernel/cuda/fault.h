// Reports of invalid values from kernels, such as an index out of range. A kernel records the first such
// value and skips the memory access. The host throws an exception for it when it next waits for the device.
#pragma once

#include <ebb/core/device.h>

#include <cuda_runtime.h>

#include <cstdint>

namespace ebb::cuda {

/// The record of a fault, in host memory that the device can write.
struct Fault {
  unsigned int noted;  // 0: none; 1: being written; 2: complete
  const char* op;      // static strings of the host
  const char* what;    // the error's text; null for an index out of range
  long long value, limit, dim;
};

/// The argument of a kernel that can report faults: the record and the op's name.
struct FaultSink {
  Fault* fault;
  const char* op;
  const char* what = nullptr;

  /// Records that `value` is outside [0, limit), or otherwise invalid, for dimension `dim`.
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

/// Returns the sink of a device for an op. `op` must remain valid as long as the program uses the device.
FaultSink fault_sink(Device device, const char* op, const char* what = nullptr);

}  // namespace ebb::cuda
