// Global memory as the interpreter sees it.
#include "global_memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace ebb::ptx {

void GlobalMemory::add(std::uint64_t first, std::size_t bytes, bool device) {
  Allocation made;
  made.first = first;
  made.last = first + bytes;
  if (device && bytes > 0) {
    made.written = {static_cast<unsigned char*>(std::calloc(bytes, 1)), std::free};
    if (!made.written) throw std::bad_alloc();
    made.touched = ShadowOfRange(bytes);
  }
  const std::lock_guard lock(mutex_);
  live_.insert_or_assign(first, std::move(made));
}

void GlobalMemory::add_device(const void* first, std::size_t bytes) {
  add(reinterpret_cast<std::uintptr_t>(first), bytes, true);
}

void GlobalMemory::add_host(const void* first, std::size_t bytes) {
  add(reinterpret_cast<std::uintptr_t>(first), bytes, false);
}

void GlobalMemory::remove(const void* first) {
  const std::lock_guard lock(mutex_);
  live_.erase(reinterpret_cast<std::uintptr_t>(first));
}

Allocation* GlobalMemory::before(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto next = live_.upper_bound(address);
  return next == live_.begin() ? nullptr : &std::prev(next)->second;
}

Allocation* GlobalMemory::around(std::uint64_t address) {
  Allocation* const found = before(address);
  return found != nullptr && address < found->last ? found : nullptr;
}

void GlobalMemory::mark_written(const void* first, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  Allocation* const found = around(address);
  if (found == nullptr || !found->written) return;
  const std::size_t rest = found->last - address;
  std::memset(found->written.get() + (address - found->first), 1, bytes < rest ? bytes : rest);
}

}  // namespace ebb::ptx
