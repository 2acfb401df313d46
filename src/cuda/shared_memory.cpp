// Kernels whose blocks have more shared memory than CUDA gives unasked.
#include <mutex>
#include <unordered_map>

#include "cuda/runtime.h"
#include "kernel/cuda/launch.h"

namespace ebb::cuda::detail {

// A launch pays for a lock and a search, some 10 ns, where a call of the driver takes up to a microsecond.
void allow_shared_bytes(Device device, const void* kernel, std::size_t bytes) {
  struct Allowed {
    std::mutex mutex;
    std::unordered_map<const void*, std::size_t> bytes;  // the most so far
  };
  static auto* const all =
      new std::array<Allowed, kMaxDevices>{};  // never destroyed, as kernels are launched until the end
  Allowed& allowed = (*all)[static_cast<std::size_t>(device.index())];
  // Held during the call as well: of two threads, the one that wants less must not have the last word.
  const std::lock_guard lock(allowed.mutex);
  const auto found = allowed.bytes.find(kernel);
  if (found != allowed.bytes.end() && found->second >= bytes) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "shared memory of a kernel");
  allowed.bytes.insert_or_assign(kernel, bytes);
}

}  // namespace ebb::cuda::detail
