// Errors and devices. EBB_EMU_DEVICES sets the number of devices (default 2), EBB_EMU_MEMORY_MB the memory of
// each (4096), EBB_EMU_DRIVER the driver version (13000; 0: no driver), EBB_EMU_ARCHITECTURES the compute
// capabilities of the devices, separated by commas ("90,75"; 90 for the rest).
#include "cuda/emu/runtime/state.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ebb::emu {
namespace {

constexpr int kRuntime = 13000;

thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

// The compute capability of a device times ten.
int compute_capability(int device) {
  const char* text = std::getenv("EBB_EMU_ARCHITECTURES");
  for (; text && device > 0; --device) {
    text = std::strchr(text, ',');
    if (text) ++text;
  }
  return text ? std::atoi(text) : 90;
}

int devices() {
  static const int count = number_from("EBB_EMU_DEVICES", 2);
  return count;
}

}  // namespace

const bool null_launch = number_from("EBB_EMU_NULL_LAUNCH", 0) == 1;

namespace {
std::atomic<int> calls_until_failure{-1};
std::atomic<cudaError_t> broken{cudaSuccess};
}  // namespace

void fail_call(int n) { calls_until_failure = n; }
void break_device(cudaError_t error) {
  broken = error;
  last_error = error;
}

cudaError_t injected_error() {
  if (const cudaError_t error = broken.load(std::memory_order_relaxed)) [[unlikely]]
    return set_error(error);
  if (calls_until_failure.load(std::memory_order_relaxed) < 0) [[likely]]
    return cudaSuccess;
  return calls_until_failure.fetch_sub(1) == 0 ? set_error(cudaErrorUnknown) : cudaSuccess;
}

cudaError_t injected_memory_error() {
  const cudaError_t error = injected_error();
  return error && !broken ? set_error(cudaErrorMemoryAllocation) : error;
}

int current_device_index() { return current_device; }

cudaError_t set_error(cudaError_t error) {
  last_error = error;
  return error;
}

std::size_t device_memory_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(number_from("EBB_EMU_MEMORY_MB", 4096)) << 20;
  return bytes;
}

}  // namespace ebb::emu

using namespace ebb::emu;

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureUnjoined:
      return "cudaErrorStreamCaptureUnjoined";
    case cudaErrorStreamCaptureIsolation:
      return "cudaErrorStreamCaptureIsolation";
    case cudaErrorStreamCaptureImplicit:
      return "cudaErrorStreamCaptureImplicit";
    case cudaErrorCapturedEvent:
      return "cudaErrorCapturedEvent";
    case cudaErrorIllegalState:
      return "cudaErrorIllegalState";
    case cudaErrorGraphExecUpdateFailure:
      return "cudaErrorGraphExecUpdateFailure";
    default:
      return "cudaErrorUnknown";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    default:
      return cudaGetErrorName(error);
  }
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = broken;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = number_from("EBB_EMU_DRIVER", kRuntime);
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kRuntime;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver < kRuntime) return set_error(cudaErrorInsufficientDriver);
  if (devices() < 1) return set_error(cudaErrorNoDevice);
  *count = devices();
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= devices()) return set_error(cudaErrorInvalidDevice);
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= devices()) return set_error(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "Emulated device %d", device);
  properties->totalGlobalMem = device_memory_bytes();
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = 227 << 10;
  properties->major = compute_capability(device) / 10;
  properties->minor = compute_capability(device) % 10;
  properties->multiProcessorCount = 2;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->warpSize = 32;
  properties->l2CacheSize = 1 << 20;
  properties->memoryBusWidth = 64;
  properties->pciBusID = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
