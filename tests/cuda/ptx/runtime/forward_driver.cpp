// Functions of the driver that the runtime finds by name. Those of virtual memory tell the interpreter what
// is mapped; those that load kernels are the interpreter's own.
#include <cuda.h>

#include <map>
#include <mutex>
#include <string_view>

#include "cuda/emu/runtime/state.h"
#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/session.h"

namespace ebb::ptx {
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
// Its name before CUDA 12.5.
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  constexpr unsigned kVersion = 12000;
  return ptx::cudaGetDriverEntryPointByVersion(name, function, kVersion, flags, status);
}

}  // extern "C"

}  // namespace ebb::ptx
