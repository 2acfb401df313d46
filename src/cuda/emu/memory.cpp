// Device memory: one reserved range of addresses that is closed to everybody except while "the device" works.
#include <ebb/core/error.h>

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "cuda/emu/api.h"
#include "cuda/emu/state.h"

namespace ebb::emu {
namespace {

constexpr std::size_t kReserved = std::size_t{1} << 38;  // addresses, not memory
constexpr std::size_t kPage = 4096;

struct Memory {
  std::mutex mutex;
  char* base = nullptr;
  std::size_t end = 0;                        // bytes ever handed out
  std::map<std::size_t, std::size_t> blocks;  // live, by offset
  std::multimap<std::size_t, std::size_t> unused;
  std::size_t live = 0;
  int open = 0;  // DeviceAccess objects alive

  Memory() {
    void* p = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) base = static_cast<char*>(p);
  }
  void protect() {
    if (end > 0) mprotect(base, end, open > 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
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

}  // namespace ebb::emu

using namespace ebb::emu;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
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

cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
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

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  *total = device_memory_bytes();
  *free = *total - m.live;
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  *pointer = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  return *pointer || bytes == 0 ? cudaSuccess : set_error(cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t stream) {
  return enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return enqueue(stream, [=] { std::memset(to, value, bytes); });
}
