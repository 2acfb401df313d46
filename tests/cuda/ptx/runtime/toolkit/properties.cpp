// Properties of the emulated devices, in the layouts of NVIDIA's headers.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>

#include "cuda/ptx/runtime/bridge.h"

namespace {

using ebb::ptx::DeviceDescription;

constexpr int kPlainShared = 48 << 10, kMostShared = 227 << 10, kSharedOfMultiprocessor = 228 << 10;

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  DeviceDescription d;
  if (const int error = ebb::ptx::describe_device(device, d)) return static_cast<cudaError_t>(error);
  cudaDeviceProp& p = *properties;
  p = {};
  std::strncpy(p.name, d.name.c_str(), sizeof(p.name) - 1);
  p.totalGlobalMem = d.memory_bytes;
  p.major = d.major;
  p.minor = d.minor;
  p.multiProcessorCount = d.multiprocessors;
  p.l2CacheSize = static_cast<int>(d.l2_bytes);
  p.memoryBusWidth = d.bus_bits;
  p.pciBusID = device;
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiProcessor = 2048;
  p.sharedMemPerBlock = kPlainShared;
  p.sharedMemPerBlockOptin = kMostShared;
  p.sharedMemPerMultiprocessor = kSharedOfMultiprocessor;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  return cudaSuccess;
}

// Those that CUB asks for.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  DeviceDescription d;
  if (const int error = ebb::ptx::describe_device(device, d)) return static_cast<cudaError_t>(error);
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = d.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = d.minor;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = d.multiprocessors;
      break;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = 2147483647;
      break;
    case cudaDevAttrWarpSize:
      *value = 32;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = kPlainShared;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = kMostShared;
      break;
    default:
      return static_cast<cudaError_t>(ebb::ptx::set_error(cudaErrorInvalidValue));
  }
  return cudaSuccess;
}

}  // extern "C"
