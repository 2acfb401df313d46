// Devices, streams, events and graphs: the C functions of libcudart, each of which calls the emulated
// runtime's C++ function of the same name. A C function in a namespace has its plain name all the same.
#include <algorithm>
#include <iterator>
#include <string>

#include "cuda/emu/runtime/state.h"
#include "cuda/ptx/interpreter/interpreter.h"
#include "cuda/ptx/runtime/bridge.h"

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

// Errors that only kernels make.
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
// NVIDIA's structure begins by the result, as the emulated one does, which is all that is written.
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

}  // namespace ebb::ptx
