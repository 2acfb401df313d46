// Memory: the C functions of libcudart over the emulated runtime's, which tell the interpreter what lives and
// what is written. A page that belongs to nobody lies behind each allocation, so that what runs past the end
// of one meets no other.
#include "cuda/emu/runtime/state.h"
#include "cuda/ptx/runtime/memory_checks.h"
#include "cuda/ptx/runtime/session.h"

namespace ebb::ptx {
namespace {

constexpr std::size_t kGuardBytes = 4096;

std::size_t guarded(std::size_t bytes) { return bytes > 0 ? bytes + kGuardBytes : 0; }

cudaError_t told(cudaError_t error, void* const* pointer, std::size_t bytes) {
  if (error == cudaSuccess && *pointer) global_memory().add_device(*pointer, bytes);
  return error;
}

// Tells what a copy or a fill does to memory, in the order of the stream; in a capture at once, so that
// graphs have the nodes that the program made.
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
  emu::run_all();  // it waits for the device
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

}  // namespace ebb::ptx
