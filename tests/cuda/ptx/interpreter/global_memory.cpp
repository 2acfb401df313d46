// Global memory of the interpreter, and its shadow memory for race detection.
#include "global_memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

// Shadow memory for race detection: the last writer and the last readers of each byte.

namespace ebb::ptx {
namespace {

// Freed ranges by size: mapping new pages takes longer than most launches.
class Pool {
 public:
  ShadowByte* take(std::size_t& bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = free_.lower_bound(bytes);
    if (found == free_.end() || found->first > 2 * bytes) return nullptr;
    ShadowByte* const range = found->second;
    bytes = found->first;
    held_ -= bytes;
    free_.erase(found);
    return range;
  }
  // Whether the range is cached.
  bool keep(ShadowByte* range, std::size_t bytes) {
    constexpr std::size_t kMostHeld = std::size_t{64} << 20;
    const std::lock_guard lock(mutex_);
    if (held_ + bytes > kMostHeld) return false;
    held_ += bytes;
    free_.emplace(bytes, range);
    return true;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, ShadowByte*> free_;
  std::size_t held_ = 0;  // in bytes of the shadowed memory
};

Pool& pool() {
  static auto* const only = new Pool;  // ranges are freed until the process ends
  return *only;
}

}  // namespace

// calloc does not map the pages of a large block before their first access.
ShadowOfRange::ShadowOfRange(std::size_t bytes) {
  ShadowByte* range = pool().take(bytes);
  if (!range) range = static_cast<ShadowByte*>(std::calloc(bytes, sizeof(ShadowByte)));
  if (!range) throw std::bad_alloc();
  bytes_ = {range, Release{bytes}};
}

void ShadowOfRange::Release::operator()(ShadowByte* range) const {
  if (!pool().keep(range, bytes)) std::free(range);
}

// Global memory of the interpreter.

void GlobalMemory::add(std::uint64_t first, std::size_t bytes, bool device) {
  Allocation made;
  made.first = first;
  made.last = first + bytes;
  if (device && bytes > 0) {
    made.written = {static_cast<unsigned char*>(std::calloc(bytes, 1)), std::free};
    if (!made.written) throw std::bad_alloc();
    made.shadow = ShadowOfRange(bytes);
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
