// The record of the faults that kernels report. The next wait for the device throws an exception for the
// recorded fault.
#include "cuda/runtime.h"
#include "kernel/cuda/fault.h"

#include <array>
#include <mutex>

namespace ebb::cuda {
namespace {

// Returns the device's fault record. There is one per device, and it exists as long as the process.
Fault* fault_of(Device device) {
  static std::mutex mutex;
  static std::array<Fault*, kMaxDevices> faults{};
  const std::lock_guard lock(mutex);
  Fault*& fault = faults[static_cast<std::size_t>(device.index())];
  if (!fault) {
    const DeviceScope scope(device);
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(Fault), cudaHostAllocDefault), "cudaHostAlloc");
    fault = new (memory) Fault{};
  }
  return fault;
}

}  // namespace

FaultSink fault_sink(Device device, const char* op, const char* what) { return {fault_of(device), op, what}; }

void check_faults(Device device) {
  volatile Fault* const fault = fault_of(device);
  if (fault->noted != 2) [[likely]]  // an incomplete record is checked at the next wait
    return;
  const char *const op = fault->op, *const what = fault->what;
  const std::int64_t value = fault->value, limit = fault->limit, dim = fault->dim;
  fault->noted = 0;
  if (what) ebb::detail::fail(op, ": ", what, " (on ", device, ").");
  std::string where = dim >= 0 ? ebb::detail::text(" of dimension ", dim) : std::string();
  ebb::detail::fail<IndexError>(op, ": index ", value, " is out of range for size ", limit, where, " on ",
                                device, ". The results of later kernels are undefined. Correct the indices.");
}

}  // namespace ebb::cuda
