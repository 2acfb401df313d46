// Properties of the emulated devices with the layouts of NVIDIA's headers, and attributes of kernels.
#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/kernels.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace {

using ebb::ptx::DeviceDescription;

constexpr int kPlainShared = 48 << 10, kMostShared = 227 << 10;
constexpr std::size_t kSharedOfMultiprocessor = 228 << 10;

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

// The attributes that CUB queries.
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

// Attributes of kernels, and the occupancy of a multiprocessor.

namespace {

using namespace ebb::ptx;

// Limits of compute capability 9.0.
constexpr std::size_t kSharedBytes = 227 << 10;  // per block; a multiprocessor has 1 KiB more for each block
constexpr std::size_t kReservedShared = 1 << 10;
constexpr int kThreadsOfMultiprocessor = 2048, kBlocksOfMultiprocessor = 32;

cudaError_t failed(cudaError_t error) { return static_cast<cudaError_t>(set_error(error)); }

}  // namespace

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
  Kernel* const kernel = find_kernel(host);
  if (!kernel) return failed(cudaErrorInvalidDeviceFunction);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  const auto bytes = static_cast<std::size_t>(value);
  if (value < 0 || bytes + static_shared_bytes(kernel->entry()) > kSharedBytes)
    return failed(cudaErrorInvalidValue);
  kernel->set_most_dynamic_shared(bytes);
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
  Kernel* const kernel = find_kernel(host);
  if (!kernel) return failed(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->sharedSizeBytes = static_shared_bytes(kernel->entry());
  attributes->maxThreadsPerBlock = static_cast<int>(most_threads(kernel->entry()));
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(kernel->most_dynamic_shared());
  attributes->numRegs = 32;  // a guess: PTX has an unlimited number of registers
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                   std::size_t dynamic_shared, unsigned) {
  Kernel* const kernel = find_kernel(host);
  if (!kernel) return failed(cudaErrorInvalidDeviceFunction);
  if (threads < 1) return failed(cudaErrorInvalidValue);
  const std::size_t shared = static_shared_bytes(kernel->entry()) + dynamic_shared + kReservedShared;
  *blocks = std::min({kBlocksOfMultiprocessor, kThreadsOfMultiprocessor / threads,
                      static_cast<int>(kSharedOfMultiprocessor / shared)});
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                          std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, dynamic_shared, 0);
}

}  // extern "C"
