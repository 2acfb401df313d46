// Between files that read NVIDIA's headers and files that read the emulated ones. Both kinds of headers
// define the same names in their own ways, so no source includes both, and what passes between them has
// neither's types. Errors are values of cudaError_t, which are the same in both.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

struct CUstream_st;

namespace ebb::ptx {

/// Gives the stream something to do: at once, when somebody waits for it, or at every launch of the graph
/// that it is captured for.
int enqueue(CUstream_st* stream, std::function<void()> action);
/// Remembers the error for cudaGetLastError and returns it.
int set_error(int error);
/// From now on every call fails with this error, as after a kernel that read where it must not.
void break_device(int error);

struct DeviceDescription {
  std::string name;
  std::size_t memory_bytes = 0, l2_bytes = 0;
  int major = 0, minor = 0, multiprocessors = 0, bus_bits = 0;
};
/// An error for a device that is not there.
int describe_device(int device, DeviceDescription& description);

/// The driver's functions that load and launch kernels that are made at run time; null for other names.
void* find_library_function(const char* name);

}  // namespace ebb::ptx
