// Virtual memory management of the emulated driver: parts of one file are mapped into reserved addresses,
// which are accessible only inside kernels and copies, and never where nothing is mapped.
// EBB_EMU_VIRTUAL_MEMORY=0: the devices do not support it.
#include "cuda/emu/runtime/state.h"

#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>

namespace ebb::emu {
namespace {

constexpr std::size_t kReserved = std::size_t{1} << 40;  // of address space, not of memory
constexpr std::size_t kGranularity = std::size_t{2} << 20;

struct Physical {
  std::size_t offset, bytes;  // in the file
  int owners = 1;             // the handle and its mappings
};
struct Mapping {
  std::size_t bytes;
  CUmemGenericAllocationHandle handle;
  bool accessible = false;
};

struct VirtualMemory {
  std::mutex mutex;
  std::atomic<char*> base{nullptr};
  std::size_t end = 0, file_end = 0;
  int file = -1;
  bool open = false;
  std::map<char*, std::size_t> ranges;       // reserved ranges
  std::multimap<std::size_t, char*> unused;  // former ranges by size
  std::map<char*, Mapping> mappings;
  std::map<CUmemGenericAllocationHandle, Physical> memory;
  std::map<CUmemGenericAllocationHandle, bool> handles;  // handles that are not released yet
  std::multimap<std::size_t, std::size_t> holes;         // free parts of the file by size
  CUmemGenericAllocationHandle last = 0;

  bool start() {
    if (base.load()) return true;
    file = memfd_create("emulated device memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(kReserved)) != 0) return false;
    void* p = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) base.store(static_cast<char*>(p));
    return base.load() != nullptr;
  }
  // Removes an owner; returns the number of bytes that become free if it was the last one.
  std::size_t leave(CUmemGenericAllocationHandle handle) {
    Physical& piece = memory.at(handle);
    if (--piece.owners > 0) return 0;
    const std::size_t bytes = piece.bytes;
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(piece.offset),
              static_cast<off_t>(bytes));
    holes.emplace(bytes, piece.offset);
    memory.erase(handle);
    return bytes;
  }
  // The mappings that exactly cover these addresses, as an iterator range; empty if they do not.
  auto filling(char* from, std::size_t bytes) {
    const auto first = mappings.find(from);
    auto at = first;
    std::size_t filled = 0;
    while (at != mappings.end() && at->first == from + filled && filled < bytes)
      filled += (at++)->second.bytes;
    return filled == bytes ? std::pair(first, at) : std::pair(mappings.end(), mappings.end());
  }
};

VirtualMemory& virtual_memory() {
  static auto* const m = new VirtualMemory;  // outlives tensors in static storage
  return *m;
}

// Like driver functions, failures are not stored for cudaGetLastError.
CUresult injected() {
  if (!injected_error()) return CUDA_SUCCESS;
  cudaGetLastError();
  return CUDA_ERROR_UNKNOWN;
}

char* pointer(CUdeviceptr address) { return reinterpret_cast<char*>(address); }
bool is_whole(std::size_t bytes) { return bytes > 0 && bytes % kGranularity == 0; }

}  // namespace

void protect_virtual_memory(bool open) {
  VirtualMemory& m = virtual_memory();
  if (!m.base.load()) {
    const std::lock_guard lock(m.mutex);
    m.open = open;
    if (!m.base.load()) return;
  }
  const std::lock_guard lock(m.mutex);
  m.open = open;
  for (auto at = m.mappings.begin(); at != m.mappings.end();) {
    char* const from = at->first;
    std::size_t bytes = 0;
    for (; at != m.mappings.end() && at->first == from + bytes && at->second.accessible; ++at)
      bytes += at->second.bytes;
    if (bytes > 0)
      mprotect(from, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
    else
      ++at;
  }
}

bool is_virtual_memory(const void* address) {
  const char* const base = virtual_memory().base.load(std::memory_order_relaxed);
  return base && address >= base && address < base + kReserved;
}

}  // namespace ebb::emu

using namespace ebb::emu;

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || ordinal < 0 || ordinal >= count)
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) {
  const char* const wanted = std::getenv("EBB_EMU_VIRTUAL_MEMORY");
  *value = !wanted || std::string_view(wanted) != "0";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** words) {
  *words = error == CUDA_ERROR_INVALID_VALUE   ? "invalid argument"
           : error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
                                               : "unknown error";
  return CUDA_SUCCESS;
}
CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* memory,
                                       CUmemAllocationGranularity_flags) {
  if (memory->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  *bytes = kGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr,
                             unsigned long long flags) {
  if (const CUresult error = injected()) return error;
  VirtualMemory& m = virtual_memory();
  const std::lock_guard lock(m.mutex);
  if (!is_whole(bytes) || flags) return CUDA_ERROR_INVALID_VALUE;
  if (!m.start()) return CUDA_ERROR_OUT_OF_MEMORY;
  char* at;
  if (const auto found = m.unused.find(bytes); found != m.unused.end()) {
    at = found->second;
    m.unused.erase(found);
  } else {
    if (bytes > kReserved - m.end) return CUDA_ERROR_OUT_OF_MEMORY;
    at = m.base.load() + m.end;
    m.end += bytes;
  }
  m.ranges.emplace(at, bytes);
  *address = reinterpret_cast<CUdeviceptr>(at);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  VirtualMemory& m = virtual_memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.ranges.find(pointer(address));
  if (found == m.ranges.end() || found->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  const auto mapped = m.mappings.lower_bound(found->first);
  if (mapped != m.mappings.end() && mapped->first < found->first + bytes) return CUDA_ERROR_INVALID_VALUE;
  m.unused.emplace(bytes, found->first);
  m.ranges.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp*,
                     unsigned long long flags) {
  if (const cudaError_t error = injected_memory_error()) {
    cudaGetLastError();
    return error == cudaErrorMemoryAllocation ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_UNKNOWN;
  }
  if (!is_whole(bytes) || flags) return CUDA_ERROR_INVALID_VALUE;
  if (!take_device_memory(bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  VirtualMemory& m = virtual_memory();
  const std::lock_guard lock(m.mutex);
  if (!m.start()) return CUDA_ERROR_OUT_OF_MEMORY;
  std::size_t offset = m.file_end;
  if (const auto hole = m.holes.find(bytes); hole != m.holes.end()) {
    offset = hole->second;
    m.holes.erase(hole);
  } else {
    m.file_end += bytes;
  }
  *handle = ++m.last;
  m.memory.emplace(*handle, Physical{offset, bytes});
  m.handles.emplace(*handle, true);
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  VirtualMemory& m = virtual_memory();
  std::size_t freed;
  {
    const std::lock_guard lock(m.mutex);
    if (m.handles.erase(handle) == 0) return CUDA_ERROR_INVALID_VALUE;
    freed = m.leave(handle);
  }
  give_device_memory(freed);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (const CUresult error = injected()) return error;
  VirtualMemory& m = virtual_memory();
  const std::lock_guard lock(m.mutex);
  char* const at = pointer(address);
  if (!m.handles.contains(handle) || offset != 0 || flags || !is_whole(bytes) ||
      m.memory.at(handle).bytes != bytes)
    return CUDA_ERROR_INVALID_VALUE;
  const auto range = m.ranges.upper_bound(at);  // the range after the one that contains it
  if (range == m.ranges.begin() || at + bytes > std::prev(range)->first + std::prev(range)->second)
    return CUDA_ERROR_INVALID_VALUE;
  const auto next = m.mappings.lower_bound(at);
  if ((next != m.mappings.end() && next->first < at + bytes) ||
      (next != m.mappings.begin() && std::prev(next)->first + std::prev(next)->second.bytes > at))
    return CUDA_ERROR_INVALID_VALUE;
  Physical& piece = m.memory.at(handle);
  if (mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, m.file, static_cast<off_t>(piece.offset)) ==
      MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++piece.owners;
  m.mappings.emplace(at, Mapping{bytes, handle});
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  VirtualMemory& m = virtual_memory();
  std::size_t freed = 0;
  {
    const std::lock_guard lock(m.mutex);
    const auto [first, behind] = m.filling(pointer(address), bytes);
    if (first == m.mappings.end()) return CUDA_ERROR_INVALID_VALUE;
    mmap(pointer(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    for (auto at = first; at != behind; ++at) freed += m.leave(at->second.handle);
    m.mappings.erase(first, behind);
  }
  give_device_memory(freed);
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  if (const CUresult error = injected()) return error;
  VirtualMemory& m = virtual_memory();
  const std::lock_guard lock(m.mutex);
  const auto [first, behind] = m.filling(pointer(address), bytes);
  if (first == m.mappings.end() || count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
    return CUDA_ERROR_INVALID_VALUE;
  for (auto at = first; at != behind; ++at) at->second.accessible = true;
  if (m.open) mprotect(pointer(address), bytes, PROT_READ | PROT_WRITE);
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long, cudaDriverEntryPointQueryResult* status) {
  static const std::map<std::string_view, void*> all = {
      {"cuDeviceGet", reinterpret_cast<void*>(&cuDeviceGet)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(&cuDeviceGetAttribute)},
      {"cuGetErrorString", reinterpret_cast<void*>(&cuGetErrorString)},
      {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(&cuMemGetAllocationGranularity)},
      {"cuMemAddressReserve", reinterpret_cast<void*>(&cuMemAddressReserve)},
      {"cuMemAddressFree", reinterpret_cast<void*>(&cuMemAddressFree)},
      {"cuMemCreate", reinterpret_cast<void*>(&cuMemCreate)},
      {"cuMemRelease", reinterpret_cast<void*>(&cuMemRelease)},
      {"cuMemMap", reinterpret_cast<void*>(&cuMemMap)},
      {"cuMemUnmap", reinterpret_cast<void*>(&cuMemUnmap)},
      {"cuMemSetAccess", reinterpret_cast<void*>(&cuMemSetAccess)}};
  constexpr unsigned kIntroduced = 10020;
  const auto found = all.find(name);
  const bool there = found != all.end() && version >= kIntroduced;
  *function = there ? found->second : nullptr;
  *status = there ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
