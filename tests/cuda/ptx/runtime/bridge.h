// The interface between files that include NVIDIA's headers and files that include the emulated ones. Both
// kinds define the same names differently, so no source includes both, and the interface uses types of
// neither. Errors are values of cudaError_t, which are the same in both.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

struct CUstream_st;

namespace ebb::ptx {

/// Queues an action on the stream: it runs immediately, when a caller waits for it, or at each launch of the
/// graph in which it is captured.
int enqueue(CUstream_st* stream, std::function<void()> action);
/// Stores the error for cudaGetLastError and returns it.
int set_error(int error);
/// Makes all further calls fail with this error, as after an illegal access of a kernel.
void break_device(int error);

struct DeviceDescription {
  std::string name;
  std::size_t memory_bytes = 0, l2_bytes = 0;
  int major = 0, minor = 0, multiprocessors = 0, bus_bits = 0;
};
/// Returns an error if the device does not exist.
int describe_device(int device, DeviceDescription& description);

/// The driver functions that load and launch run-time compiled kernels; null for other names.
void* find_library_function(const char* name);

}  // namespace ebb::ptx
