// The C functions of libcudart and of the driver, forwarded to the emulated runtime.
#include "cuda/emu/runtime/state.h"
#include "cuda/ptx/interpreter/interpreter.h"
#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/session.h"

#include <cuda.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

// Devices, streams, events and graphs: the C functions of libcudart, each of which calls the C++ function of
// the same name in the emulated runtime. A C function in a namespace has no mangled name.

namespace ebb::ptx {

int enqueue(CUstream_st* stream, std::function<void()> action) {
  return emu::enqueue_action(stream, std::move(action));
}
int set_error(int error) { return emu::set_error(static_cast<cudaError_t>(error)); }
void break_device(int error) { emu::break_device(static_cast<cudaError_t>(error)); }

int describe_device(int device, DeviceDescription& description) {
  cudaDeviceProp p;
  if (const cudaError_t error = ::cudaGetDeviceProperties(&p, device)) return error;
  description = {"Interpreted device " + std::to_string(device),
                 p.totalGlobalMem,
                 static_cast<std::size_t>(p.l2CacheSize),
                 p.major,
                 p.minor,
                 p.multiProcessorCount,
                 p.memoryBusWidth};
  return cudaSuccess;
}

namespace {

// Errors that only kernels cause.
struct Fault {
  Status status;
  const char *name, *words;
};
constexpr Fault kFaults[] = {
    {Status::illegal_address, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {Status::timeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {Status::misaligned_address, "cudaErrorMisalignedAddress", "misaligned address"},
    {Status::launch_failure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {Status::deadlock, "a deadlock", "threads of a kernel wait for each other for ever"},
};

const Fault* find_fault(cudaError_t error) {
  const auto found = std::find_if(std::begin(kFaults), std::end(kFaults), [&](const Fault& each) {
    return each.status == static_cast<Status>(error);
  });
  return found == std::end(kFaults) ? nullptr : found;
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const Fault* const fault = find_fault(error);
  return fault ? fault->name : ::cudaGetErrorName(error);
}
const char* cudaGetErrorString(cudaError_t error) {
  const Fault* const fault = find_fault(error);
  return fault ? fault->words : ::cudaGetErrorString(error);
}
cudaError_t cudaGetLastError() { return ::cudaGetLastError(); }
cudaError_t cudaPeekAtLastError() { return ::cudaPeekAtLastError(); }

cudaError_t cudaDriverGetVersion(int* version) { return ::cudaDriverGetVersion(version); }
cudaError_t cudaRuntimeGetVersion(int* version) { return ::cudaRuntimeGetVersion(version); }
cudaError_t cudaGetDeviceCount(int* count) { return ::cudaGetDeviceCount(count); }
cudaError_t cudaGetDevice(int* device) { return ::cudaGetDevice(device); }
cudaError_t cudaSetDevice(int device) { return ::cudaSetDevice(device); }
cudaError_t cudaDeviceSynchronize() { return ::cudaDeviceSynchronize(); }
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return ::cudaDeviceCanAccessPeer(can, device, peer);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return ::cudaDeviceEnablePeerAccess(peer, flags);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return ::cudaStreamCreateWithPriority(stream, flags, priority);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return ::cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return ::cudaStreamDestroy(stream); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return ::cudaStreamSynchronize(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return ::cudaStreamQuery(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return ::cudaStreamWaitEvent(stream, event, flags);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return ::cudaStreamIsCapturing(stream, status);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return ::cudaStreamBeginCapture(stream, mode);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return ::cudaStreamEndCapture(stream, graph);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return ::cudaGraphInstantiate(exec, graph, flags);
}
// NVIDIA's structure begins with the result, like the emulated one; only the result is written.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return ::cudaGraphExecUpdate(exec, graph, result);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return ::cudaGraphLaunch(exec, stream);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return ::cudaGraphDestroy(graph); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return ::cudaGraphExecDestroy(exec); }

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return ::cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return ::cudaEventDestroy(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return ::cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return ::cudaEventQuery(event); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return ::cudaEventSynchronize(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return ::cudaEventElapsedTime(milliseconds, from, to);
}

}  // extern "C"

// Memory: the C functions of libcudart, which call the emulated runtime and report allocations and writes to
// the interpreter. Each allocation is followed by an unused page, so that an overrun does not reach another
// allocation.

namespace {

constexpr std::size_t kGuardBytes = 4096;

std::size_t guarded(std::size_t bytes) { return bytes > 0 ? bytes + kGuardBytes : 0; }

cudaError_t told(cudaError_t error, void* const* pointer, std::size_t bytes) {
  if (error == cudaSuccess && *pointer) global_memory().add_device(*pointer, bytes);
  return error;
}

// Reports the accesses of a copy or a fill in stream order. In a capture it does so immediately, so that
// graphs contain only the nodes of the program.
cudaError_t before_write(cudaStream_t stream, const char* who, void* to, const void* from,
                         std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  const auto tell = [=] {
    check_inside(who, to, bytes);
    if (from) check_inside(who, from, bytes);
    global_memory().mark_written(to, bytes);
  };
  cudaStreamCaptureStatus status{};
  ::cudaStreamIsCapturing(stream, &status);
  if (status == cudaStreamCaptureStatusNone) return emu::enqueue_action(stream, tell);
  tell();
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return told(::cudaMalloc(pointer, guarded(bytes)), pointer, bytes);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return told(::cudaMallocAsync(pointer, guarded(bytes), stream), pointer, bytes);
}
cudaError_t cudaFree(void* pointer) {
  emu::run_all();  // cudaFree waits for the device
  global_memory().remove(pointer);
  return ::cudaFree(pointer);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (const cudaError_t error = emu::enqueue_action(stream, [pointer] { global_memory().remove(pointer); }))
    return error;
  return ::cudaFreeAsync(pointer, stream);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return ::cudaDeviceGetDefaultMemPool(pool, device);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return ::cudaMemPoolSetAttribute(pool, attribute, value);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return ::cudaMemPoolGetAttribute(pool, attribute, value);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) {
  return ::cudaMemPoolTrimTo(pool, bytes);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) { return ::cudaMemGetInfo(free, total); }

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  const cudaError_t error = ::cudaHostAlloc(pointer, bytes, flags);
  if (error == cudaSuccess && *pointer) global_memory().add_host(*pointer, bytes);
  return error;
}
cudaError_t cudaFreeHost(void* pointer) {
  emu::run_all();
  global_memory().remove(pointer);
  return ::cudaFreeHost(pointer);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (const cudaError_t error = before_write(stream, "a copy", to, from, bytes)) return error;
  return ::cudaMemcpyAsync(to, from, bytes, kind, stream);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  if (const cudaError_t error = before_write(stream, "a copy between devices", to, from, bytes)) return error;
  return ::cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = before_write(stream, "a fill", to, nullptr, bytes)) return error;
  return ::cudaMemsetAsync(to, value, bytes, stream);
}

}  // extern "C"

// Driver functions that the runtime looks up by name. Those of virtual memory report mappings to the
// interpreter; those that load kernels belong to the interpreter.

namespace {

struct Mappings {
  std::mutex mutex;
  std::map<CUdeviceptr, std::size_t> all;  // bytes, by address
};
Mappings& mappings() {
  static auto* const m = new Mappings;  // outlives tensors in static storage
  return *m;
}

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult map(CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
             unsigned long long flags) {
  if (const CUresult error = ::cuMemMap(address, bytes, offset, handle, flags)) return error;
  const std::lock_guard lock(mappings().mutex);
  mappings().all[address] = bytes;
  global_memory().add_device(pointer(address), bytes);
  return CUDA_SUCCESS;
}

CUresult unmap(CUdeviceptr address, std::size_t bytes) {
  if (const CUresult error = ::cuMemUnmap(address, bytes)) return error;
  const std::lock_guard lock(mappings().mutex);
  auto& all = mappings().all;
  for (auto at = all.lower_bound(address); at != all.end() && at->first < address + bytes; at = all.erase(at))
    global_memory().remove(pointer(at->first));
  return CUDA_SUCCESS;
}

void* find_own(std::string_view name) {
  if (name == "cuMemMap") return reinterpret_cast<void*>(static_cast<decltype(&::cuMemMap)>(&map));
  if (name == "cuMemUnmap") return reinterpret_cast<void*>(static_cast<decltype(&::cuMemUnmap)>(&unmap));
  return nullptr;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  void* own = find_library_function(name);
  if (!own) own = find_own(name);
  if (!own) return ::cudaGetDriverEntryPointByVersion(name, function, version, flags, status);
  *function = own;
  *status = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
// The name before CUDA 12.5.
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  constexpr unsigned kVersion = 12000;
  return ptx::cudaGetDriverEntryPointByVersion(name, function, kVersion, flags, status);
}

}  // extern "C"

}  // namespace ebb::ptx
