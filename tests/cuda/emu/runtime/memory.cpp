// Device memory: one reserved address range that is accessible only while "the device" works.
#include <ebb/core/error.h>

#include "cuda/emu/runtime/api.h"
#include "cuda/emu/runtime/state.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

namespace ebb::emu {
namespace {

constexpr std::size_t kReserved = std::size_t{1} << 38;  // of address space, not of memory
constexpr std::size_t kPage = 4096;

struct Memory {
  std::mutex mutex;
  char* base = nullptr;
  std::size_t end = 0;                        // the highest offset ever allocated
  std::map<std::size_t, std::size_t> blocks;  // live blocks by offset
  std::multimap<std::size_t, std::size_t> unused;
  std::map<const char*, std::size_t> pinned;  // pinned memory of the host
  std::size_t live = 0;
  // The number of live DeviceAccess objects, plus one if the environment gives the host permanent access to
  // device memory.
  int open = std::getenv("EBB_EMU_OPEN_MEMORY") != nullptr ? 1 : 0;

  Memory() {
    void* p = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) base = static_cast<char*>(p);
  }
  void protect() {
    if (end > 0) mprotect(base, end, open > 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
    protect_virtual_memory(open > 0);
  }
};

Memory& memory() {
  static Memory* const m = new Memory;  // outlives tensors in static storage
  return *m;
}

}  // namespace

DeviceAccess::DeviceAccess() {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  if (++m.open == 1) m.protect();
}

DeviceAccess::~DeviceAccess() {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  if (--m.open == 0) m.protect();
}

bool is_device_memory(const void* address) {
  const auto* const at = static_cast<const char*>(address);
  const Memory& m = memory();
  return (at >= m.base && at < m.base + kReserved) || is_virtual_memory(address);
}

bool take_device_memory(std::size_t bytes) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  if (bytes > device_memory_bytes() - m.live) return false;
  m.live += bytes;
  return true;
}
void give_device_memory(std::size_t bytes) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  m.live -= bytes;
}

bool is_pinned_memory(const void* address) {
  const auto* const at = static_cast<const char*>(address);
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto after = m.pinned.upper_bound(at);
  return after != m.pinned.begin() && at < std::prev(after)->first + std::prev(after)->second;
}

}  // namespace ebb::emu

using namespace ebb::emu;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (const cudaError_t error = injected_memory_error()) return error;
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const std::size_t size = (bytes + kPage - 1) / kPage * kPage;
  if (!m.base || size < bytes || m.live + size > device_memory_bytes())
    return set_error(cudaErrorMemoryAllocation);
  std::size_t at;
  if (const auto found = m.unused.find(size); found != m.unused.end()) {
    at = found->second;
    m.unused.erase(found);
  } else {
    if (m.end + size > kReserved) return set_error(cudaErrorMemoryAllocation);
    at = m.end;
    m.end += size;
    m.protect();
  }
  m.blocks.emplace(at, size);
  m.live += size;
  *pointer = m.base + at;
  return cudaSuccess;
}

namespace {

cudaError_t release(void* pointer) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.blocks.find(static_cast<std::size_t>(static_cast<char*>(pointer) - m.base));
  if (found == m.blocks.end()) return set_error(cudaErrorInvalidValue);
  const auto [at, size] = *found;
  madvise(m.base + at, size, MADV_DONTNEED);
  m.unused.emplace(size, at);
  m.live -= size;
  m.blocks.erase(found);
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  run_all();  // cudaFree waits for the device
  return release(pointer);
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return enqueue_action(stream, [pointer] { release(pointer); });
}

// One pool, which caches nothing.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  *static_cast<std::uint64_t*>(value) = 0;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return injected_error(); }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  *total = device_memory_bytes();
  *free = *total - m.live;
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  *pointer = nullptr;
  if (const cudaError_t error = injected_memory_error()) return error;
  const std::size_t size = (bytes + kPage - 1) / kPage * kPage;
  *pointer = std::aligned_alloc(kPage, size);
  if (!*pointer) return bytes == 0 ? cudaSuccess : set_error(cudaErrorMemoryAllocation);
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  m.pinned.emplace(static_cast<const char*>(*pointer), size);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
  run_all();
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  m.pinned.erase(static_cast<const char*>(pointer));
  std::free(pointer);
  return cudaSuccess;
}

// Like the real function: host memory that is not pinned is read, or written, before the call returns.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (!is_device_memory(from) && !is_pinned_memory(from)) {
    const auto* const first = static_cast<const char*>(from);
    return enqueue_action(
        stream,
        [to, values = std::vector<char>(first, first + bytes)] {
          std::memcpy(to, values.data(), values.size());
        },
        NodeType::copy);
  }
  const cudaError_t error = enqueue_action(stream, [=] { std::memcpy(to, from, bytes); }, NodeType::copy);
  if (error || is_device_memory(to) || is_pinned_memory(to)) return error;
  return cudaStreamSynchronize(stream);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t stream) {
  return enqueue_action(stream, [=] { std::memcpy(to, from, bytes); }, NodeType::copy);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (null_launch) return cudaSuccess;
  return enqueue_action(stream, [=] { std::memset(to, value, bytes); }, NodeType::memset);
}
